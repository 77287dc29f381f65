// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file's bytes in memory: mapped read-only and shared between processes, or read into huge pages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>

namespace tilewright {

class FileBytes {
public:
  /// Both throw Error(NOT_FOUND) for a missing file, Error(IO) for one that cannot be read or is no regular file, and
  /// Error(EXHAUSTED) without memory for it. A mapped file must not shrink while it is in use.
  static FileBytes map(const std::string &path);
  /// Reads the file into anonymous memory that the kernel is asked to back with huge pages, then makes it read-only.
  static FileBytes readHuge(const std::string &path);

  FileBytes() = default;
  FileBytes(FileBytes &&other) noexcept { *this = std::move(other); }
  FileBytes &operator=(FileBytes &&other) noexcept {
    std::swap(region, other.region);
    std::swap(regionBytes, other.regionBytes);
    std::swap(data, other.data);
    std::swap(size, other.size);
    std::swap(identity, other.identity);
    return *this;
  }
  ~FileBytes();

  std::span<const uint8_t> bytes() const { return {data, size}; }
  /// Device and inode of the file at the time of opening.
  std::pair<dev_t, ino_t> fileIdentity() const { return identity; }

private:
  void *region = nullptr;
  uint64_t regionBytes = 0;
  const uint8_t *data = nullptr;
  uint64_t size = 0;
  std::pair<dev_t, ino_t> identity{};
};

} // namespace tilewright
