// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes model.tww: weights one after another at page-aligned offsets, the header last, under its name only when whole.
#pragma once

#include "runtime/module/Packer.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

/// Where a weight stands in the file, as the manifest records it (bytes; XXH3-64 of the packed bytes).
struct PlacedWeight {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t hash = 0;
};

/// The finished file: its length in bytes and the XXH3-64 over its weights' hashes in order.
struct FinishedWeights {
  uint64_t length = 0;
  uint64_t hash = 0;
};

/// XXH3-64 over hashes as little-endian 64-bit numbers, in order.
uint64_t hashOfHashes(const std::vector<uint64_t> &hashes);

/// Streams packed weights into a temporary file beside `path`, which takes its name in finish(). Whatever happens
/// before, nothing is left behind. Throws Error(IO), or Error(EXHAUSTED) when the disk is full.
class WeightsWriter {
public:
  explicit WeightsWriter(std::string path);
  ~WeightsWriter();
  WeightsWriter(const WeightsWriter &) = delete;
  WeightsWriter &operator=(const WeightsWriter &) = delete;

  /// Packs one stored weight (packer.sourceBytes() bytes) and appends it; holds a few megabytes at a time.
  PlacedWeight add(const Packer &packer, std::span<const uint8_t> source);
  FinishedWeights finish();

private:
  void write(const uint8_t *bytes, uint64_t count);

  std::string path;
  std::string temporary;
  int file = -1;
  uint64_t position = 0;
  std::vector<uint64_t> hashes;
};

/// Appends the seal (runtime/api/weights_file.h) to a linked model.so. Throws Error(IO) or Error(EXHAUSTED).
void sealCodeFile(const std::string &path);

} // namespace tilewright
