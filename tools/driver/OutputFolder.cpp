// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/OutputFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

namespace fs = llvm::sys::fs;

namespace tilewright::driver {

static std::string withoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

static std::string temporaryName(const std::string &path, int process) {
  return path + ".tmp" + std::to_string(process);
}

void OutputFolder::removeLeftOf(int process, const std::string &path) {
  fs::remove_directories(temporaryName(withoutSlash(path), process));
}

llvm::Expected<OutputFolder> OutputFolder::create(const std::string &given) {
  std::string path = withoutSlash(given);
  llvm::StringRef parent = llvm::sys::path::parent_path(path);
  if (!parent.empty() && !fs::is_directory(parent))
    return llvm::createStringError("'" + path + "' cannot be written: there is no folder '" + parent + "'");
  std::string temporary = temporaryName(path, static_cast<int>(llvm::sys::Process::getProcessId()));
  if (std::error_code error = fs::create_directory(temporary, /*IgnoreExisting=*/false))
    return llvm::createStringError("'" + path + "' cannot be written: " + error.message());
  return OutputFolder(std::move(path), std::move(temporary));
}

OutputFolder::OutputFolder(OutputFolder &&other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)) {
  other.temporary.clear();
}

OutputFolder::~OutputFolder() {
  if (!temporary.empty())
    fs::remove_directories(temporary);
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
