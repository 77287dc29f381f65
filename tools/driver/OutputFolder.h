// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact folder that appears under its name only when it is whole.
#pragma once

#include "tools/driver/Interrupt.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tilewright::driver {

class OutputFolder {
public:
  /// Makes a temporary folder beside `path`. What stands at `path` now is untouched until commit(). What processes that
  /// were killed have left of folders for `path` goes.
  static llvm::Expected<OutputFolder> create(const std::string &path);
  OutputFolder(OutputFolder &&other) noexcept;
  OutputFolder &operator=(OutputFolder &&) = delete;
  ~OutputFolder(); ///< removes what was not committed

  /// Removes what a process that did not end by itself has left of the folder it made for `path`.
  static void removeLeftOf(int process, const std::string &path);
  /// Removes what processes that were killed have left in `parent` of all folders, or of those for `path`.
  static void removeLeftIn(llvm::StringRef parent, llvm::StringRef path = "");
  /// Whether a folder of this name is one that a process is filling.
  static bool isTemporary(llvm::StringRef name);

  std::string file(const std::string &name) const { return temporary + "/" + name; }
  /// Gives the folder its name; an artifact that stood there is replaced, anything else refused.
  llvm::Error commit();

private:
  OutputFolder(std::string path, std::string temporary, int lock)
      : path(std::move(path)), temporary(std::move(temporary)), lock(lock), onInterrupt(this->temporary) {}
  std::string path, temporary;
  int lock; ///< the temporary folder, open and locked: its process lives
  RemovedOnInterrupt onInterrupt;
};

} // namespace tilewright::driver
