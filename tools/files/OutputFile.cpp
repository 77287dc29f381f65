// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/files/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <unistd.h>

namespace fs = std::filesystem;

namespace tilewright {

void OutputFile::fail(const std::string &reason) const {
  throw std::runtime_error(path + ": cannot be written: " + reason);
}

OutputFile::OutputFile(const std::string &path) : path(path), target(path) {
  std::error_code missing;
  if (fs::exists(path, missing)) {
    if (!fs::is_regular_file(path, missing))
      fail("it is not a regular file");
    target = fs::canonical(path, missing).string();
  }
  int descriptor = -1;
  constexpr int mostTries = 1000; // names that something has are what killed processes left
  for (int serial = 0; descriptor < 0 && serial < mostTries; ++serial) {
    temporary = target + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(serial);
    descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST)
      break;
  }
  if (descriptor < 0)
    fail(std::strerror(errno));
  file = fdopen(descriptor, "wb");
  if (!file) {
    const int reason = errno;
    close(descriptor);
    unlink(temporary.c_str());
    fail(std::strerror(reason));
  }
}

OutputFile::~OutputFile() {
  if (!file)
    return;
  std::fclose(file);
  unlink(temporary.c_str());
}

void OutputFile::write(const void *bytes, size_t count) {
  if (std::fwrite(bytes, 1, count, file) != count)
    fail(std::strerror(errno));
}

void OutputFile::commit() {
  if (std::fflush(file) != 0 || fsync(fileno(file)) != 0 || std::rename(temporary.c_str(), target.c_str()) != 0)
    fail(std::strerror(errno));
  std::fclose(file); // all of it is on the disk
  file = nullptr;
}

} // namespace tilewright
