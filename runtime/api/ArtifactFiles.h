// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compiler needs to write an artifact's files. No exception leaves these functions, so that code built without
// exceptions can call them.
#pragma once

#include "runtime/api/Outcome.h"
#include "runtime/api/layout.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tilewright {

/// Whether the packer can run this descriptor (INVALID with the reason, if not).
Outcome checkLayout(const LayoutDescriptor &layout);

/// model.tww while it is written. The file appears under its name in finish(); destroyed earlier, nothing is left.
class WeightsFile {
public:
  /// Where a weight stands: bytes from the file's start, bytes, XXH3-64 of the packed bytes; the manifest's fields.
  struct Placed {
    uint64_t offset = 0;
    uint64_t length = 0;
    uint64_t hash = 0;
  };
  /// The manifest's weights_file_length and weights_hash.
  struct Finished {
    uint64_t length = 0;
    uint64_t hash = 0;
  };

  WeightsFile();
  ~WeightsFile();
  WeightsFile(WeightsFile &&) noexcept;
  WeightsFile &operator=(WeightsFile &&) noexcept;

  Outcome open(const std::string &path);
  /// Packs and appends a stored weight of `rows` x `columns` elements; `source` holds rows * columns / blockElements
  /// source blocks, `permutation` may be null. Weights stand in the manifest's table in the order of these calls.
  Outcome add(const LayoutDescriptor &layout, int64_t rows, int64_t columns, const RowPermutation *permutation,
              const uint8_t *source, uint64_t sourceBytes, Placed &placed);
  Outcome finish(Finished &finished);

private:
  struct Writer;
  std::unique_ptr<Writer> writer;
};

/// Appends the seal of runtime/api/weights_file.h to a linked model.so; the last thing done to that file.
Outcome sealCode(const std::string &path);

} // namespace tilewright
