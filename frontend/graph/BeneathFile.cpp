// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/BeneathFile.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace tilewright {

std::string relativePathProblem(StringRef path) {
  if (!isPrintableName(path))
    return "is not a file name of 1 to 1024 bytes of UTF-8 without control characters";
  if (path.starts_with("/"))
    return "is absolute";
  SmallVector<StringRef, 8> parts;
  path.split(parts, '/');
  for (StringRef part : parts) {
    if (part.empty())
      return "has an empty part";
    if (part == "." || part == "..")
      return ("has a part " + quoted(part));
  }
  return "";
}

static Error lastError(const Twine &what) { return ioError(what, std::error_code(errno, std::generic_category())); }

Expected<MappedFile> MappedFile::map(int fd, const Twine &shown) {
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return lastError(shown);
  if (!S_ISREG(status.st_mode))
    return badInput(shown + ": is not a regular file");
  MappedFile file;
  file.length = static_cast<uint64_t>(status.st_size);
  if (file.length == 0)
    return file;
  std::error_code code;
  file.region = std::make_unique<sys::fs::mapped_file_region>(fd, sys::fs::mapped_file_region::readonly, file.length,
                                                              /*offset=*/0, code);
  if (code)
    return ioError(shown, code);
  file.data = reinterpret_cast<const uint8_t *>(file.region->const_data());
  return file;
}

Expected<MappedFile> MappedFile::openBeneath(StringRef folder, StringRef relative) {
  std::string problem = relativePathProblem(relative);
  if (!problem.empty())
    return badInput("file name " + quoted(relative) + " " + problem +
                    "; wanted a relative path beneath the graph's folder or --weights-dir");
  std::string base = folder.empty() ? "." : folder.str();
  std::string shown = base + "/" + relative.str();
  int dir = ::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0)
    return lastError(base);
  SmallVector<StringRef, 8> parts;
  relative.split(parts, '/');
  for (auto [index, part] : enumerate(parts)) {
    bool last = index + 1 == parts.size();
    // O_NONBLOCK: opening a FIFO must not wait for its writer.
    int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (last ? 0 : O_DIRECTORY);
    int next = ::openat(dir, part.str().c_str(), flags);
    int code = errno;
    ::close(dir);
    if (next < 0) {
      struct stat status;
      bool link = code == ELOOP || (code == ENOTDIR && ::lstat(shown.c_str(), &status) == 0);
      if (link)
        return badInput(shown + ": a link stands in the way at " + quoted(part) +
                        "; weights are read without following links");
      errno = code;
      return lastError(shown);
    }
    dir = next;
  }
  auto close = scope_exit([&] { ::close(dir); });
  return map(dir, shown);
}

Expected<MappedFile> MappedFile::open(StringRef path) {
  int fd = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return lastError(path);
  auto close = scope_exit([&] { ::close(fd); });
  return map(fd, path);
}

} // namespace tilewright
