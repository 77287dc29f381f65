// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes safetensors files (format text of the safetensors project, version 0.4), strictly.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilewright {

struct NamedTensor {
  std::string dtype; ///< "F32", "I32", "I64", "BOOL", "U8", ...
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t elements() const;
};

using TensorMap = std::map<std::string, NamedTensor>;

struct SafetensorsFile {
  TensorMap tensors;
  std::map<std::string, std::string> metadata;
};

/// Names the file and what is wrong with its contents.
struct SafetensorsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws SafetensorsError: header length, duplicate keys, shapes, extents that overlap, leave gaps or lie outside the
/// file.
SafetensorsFile readSafetensors(const std::string &path);

/// The same for callers without exceptions: nothing, or the error.
std::optional<std::string> readSafetensors(const std::string &path, SafetensorsFile &file) noexcept;

/// Writes to a temporary name and renames; throws std::runtime_error and leaves nothing behind when that fails.
void writeSafetensors(const std::string &path, const TensorMap &tensors);

/// A tensor whose bytes are made while they are written.
struct TensorSource {
  using Sink = std::function<void(const void *bytes, size_t count)>;

  std::string name, dtype;
  std::vector<int64_t> shape;
  /// Hands the bytes to the sink, from the first to the last; nothing, or why it cannot.
  std::function<std::optional<std::string>(const Sink &)> write;
};

/// The same for tensors one at a time, for callers without exceptions: nothing, or the error. Names differ.
std::optional<std::string> writeSafetensors(const std::string &path, std::vector<TensorSource> tensors,
                                            const std::map<std::string, std::string> &metadata) noexcept;

} // namespace tilewright
