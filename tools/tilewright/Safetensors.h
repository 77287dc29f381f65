// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes safetensors files (format text of the safetensors project, version 0.4), strictly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright::cli {

struct NamedTensor {
  std::string dtype; ///< "F32", "I32", "I64", "BOOL", "U8", ...
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t elements() const;
};

using TensorMap = std::map<std::string, NamedTensor>;

/// Throws Failure(BadInput) naming the file and what is wrong: header length, duplicate keys, shapes, extents that
/// overlap, leave gaps or lie outside the file.
TensorMap readSafetensors(const std::string &path);

/// Writes to a temporary name and renames; throws Failure(WorkFailed) and leaves nothing behind when that fails.
void writeSafetensors(const std::string &path, const TensorMap &tensors);

} // namespace tilewright::cli
