// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/FileBytes.h"

#include "runtime/api/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {
namespace {

constexpr uint64_t kHugePage = 2u << 20;

struct OpenFile {
  int descriptor;
  uint64_t size = 0;
  std::pair<dev_t, ino_t> identity;

  explicit OpenFile(const std::string &path) : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor < 0)
      throw Error(errno == ENOENT || errno == ENOTDIR ? TW_NOT_FOUND : TW_IO,
                  path + ": cannot open: " + std::strerror(errno));
    struct stat status{};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(descriptor);
      throw Error(TW_IO, path + ": not a regular file");
    }
    size = static_cast<uint64_t>(status.st_size);
    identity = {status.st_dev, status.st_ino};
  }
  OpenFile(const OpenFile &) = delete;
  ~OpenFile() { ::close(descriptor); }
};

} // namespace

FileBytes FileBytes::map(const std::string &path) {
  OpenFile file(path);
  FileBytes result;
  result.identity = file.identity;
  if (file.size == 0)
    return result;
  void *at = ::mmap(nullptr, file.size, PROT_READ, MAP_SHARED, file.descriptor, 0);
  if (at == MAP_FAILED)
    throw Error(errno == ENOMEM ? TW_EXHAUSTED : TW_IO,
                path + ": cannot map " + std::to_string(file.size) + " bytes: " + std::strerror(errno));
  result.region = at;
  result.regionBytes = file.size;
  result.data = static_cast<const uint8_t *>(at);
  result.size = file.size;
  return result;
}

FileBytes FileBytes::readHuge(const std::string &path) {
  OpenFile file(path);
  FileBytes result;
  result.identity = file.identity;
  if (file.size == 0)
    return result;
  // One huge page more than needed, so that the data can start on a boundary.
  const uint64_t reserved = (file.size + kHugePage - 1) / kHugePage * kHugePage + kHugePage;
  void *at = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw Error(TW_EXHAUSTED, path + ": no memory for its " + std::to_string(file.size) + " bytes");
  result.region = at;
  result.regionBytes = reserved;
  uint8_t *data =
      reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(at) + kHugePage - 1) / kHugePage * kHugePage);
  ::madvise(data, reserved - kHugePage, MADV_HUGEPAGE); // advice: without it the result is the same, slower
  for (uint64_t done = 0; done < file.size;) {
    const ssize_t got =
        ::pread(file.descriptor, data + done, std::min<uint64_t>(file.size - done, 1u << 30), static_cast<off_t>(done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      throw Error(TW_IO, path + ": read " + std::to_string(done) + " of " + std::to_string(file.size) + " bytes" +
                             (got < 0 ? std::string(": ") + std::strerror(errno) : ", then it ended"));
    done += static_cast<uint64_t>(got);
  }
  ::mprotect(at, reserved, PROT_READ);
  result.data = data;
  result.size = file.size;
  return result;
}

FileBytes::~FileBytes() {
  if (region)
    ::munmap(region, regionBytes);
}

} // namespace tilewright
