// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/OutputFolder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = llvm::sys::fs;

namespace tilewright::driver {

static std::string withoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

/// Nobody else names a folder so.
static constexpr llvm::StringLiteral kTemporary = ".tilewright-tmp-";

static std::string temporaryName(const std::string &path, int process) {
  return path + kTemporary.str() + std::to_string(process);
}

bool OutputFolder::isTemporary(llvm::StringRef name) {
  auto [path, process] = name.rsplit(kTemporary);
  return !process.empty() && llvm::all_of(process, llvm::isDigit);
}

/// Whether the folder that is open as `file` still has its name.
static bool isAt(int file, const std::string &folder) {
  struct stat open{}, found{};
  return fstat(file, &open) == 0 && stat(folder.c_str(), &found) == 0 && open.st_ino == found.st_ino;
}

/// Opens a folder and locks it, which shows that its process lives. (Numbers of processes do not: one in another
/// container is no less alive.) Negative: it is gone, another process has it, or there are no locks in its file system.
static int lockFolder(const std::string &folder, int wait) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0)
    return file;
  int failed = flock(file, LOCK_EX | wait);
  while (failed < 0 && errno == EINTR)
    failed = flock(file, LOCK_EX | wait);
  if (failed == 0 && isAt(file, folder))
    return file;
  close(file);
  return -1;
}

void OutputFolder::removeLeftIn(llvm::StringRef parent, llvm::StringRef path) {
  const llvm::StringRef wanted = llvm::sys::path::filename(path);
  std::error_code error;
  for (fs::directory_iterator it(parent.empty() ? "." : parent, error), end; it != end && !error; it.increment(error)) {
    const llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (!isTemporary(name) || (!wanted.empty() && name.rsplit(kTemporary).first != wanted))
      continue;
    const int lock = lockFolder(it->path(), LOCK_NB);
    if (lock < 0)
      continue;
    fs::remove_directories(it->path());
    close(lock);
  }
}

void OutputFolder::removeLeftOf(int process, const std::string &path) {
  fs::remove_directories(temporaryName(withoutSlash(path), process));
}

llvm::Expected<OutputFolder> OutputFolder::create(const std::string &given) {
  std::string path = withoutSlash(given);
  llvm::StringRef parent = llvm::sys::path::parent_path(path);
  if (!parent.empty() && !fs::is_directory(parent))
    return llvm::createStringError("'" + path + "' cannot be written: there is no folder '" + parent + "'");
  removeLeftIn(parent, path);
  std::string temporary = temporaryName(path, static_cast<int>(llvm::sys::Process::getProcessId()));
  int lock = -1;
  constexpr int mostTries = 100; // between making and locking it another process may take it for left, and remove it
  for (int i = 0; i < mostTries && (lock < 0 && !fs::exists(temporary)); ++i) {
    if (std::error_code error = fs::create_directory(temporary, /*IgnoreExisting=*/false))
      return llvm::createStringError("'" + path + "' cannot be written: " + error.message());
    lock = lockFolder(temporary, /*wait=*/0);
  }
  return OutputFolder(std::move(path), std::move(temporary), lock);
}

OutputFolder::OutputFolder(OutputFolder &&other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)), lock(std::exchange(other.lock, -1)),
      onInterrupt(std::move(other.onInterrupt)) {
  other.temporary.clear();
}

OutputFolder::~OutputFolder() {
  if (!temporary.empty())
    fs::remove_directories(temporary);
  if (lock >= 0)
    close(lock);
}

llvm::Error OutputFolder::commit() {
  std::string old;
  if (fs::exists(path)) {
    // Only what looks like an artifact, or nothing at all, is replaced.
    std::error_code error;
    bool empty = fs::is_directory(path) && fs::directory_iterator(path, error) == fs::directory_iterator();
    if (!empty && !fs::exists(path + "/model.so"))
      return llvm::createStringError("'" + path + "' exists and is not a compiled model; it was left alone");
    old = path + ".old" + std::to_string(llvm::sys::Process::getProcessId());
    if (std::error_code moved = fs::rename(path, old))
      return llvm::createStringError("'" + path + "' cannot be replaced: " + moved.message());
  }
  if (std::error_code error = fs::rename(temporary, path)) {
    if (!old.empty())
      fs::rename(old, path);
    return llvm::createStringError("'" + path + "' cannot be written: " + error.message());
  }
  temporary.clear();
  if (!old.empty())
    fs::remove_directories(old);
  return llvm::Error::success();
}

} // namespace tilewright::driver
