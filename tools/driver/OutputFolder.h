// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact folder that appears under its name only when it is whole.
#pragma once

#include "llvm/Support/Error.h"

#include <string>

namespace tilewright::driver {

class OutputFolder {
public:
  /// Makes a temporary folder beside `path`. What stands at `path` now is untouched until commit().
  static llvm::Expected<OutputFolder> create(const std::string &path);
  OutputFolder(OutputFolder &&other) noexcept;
  OutputFolder &operator=(OutputFolder &&) = delete;
  ~OutputFolder(); ///< removes what was not committed

  /// Removes what a process that did not end by itself has left of the folder it made for `path`.
  static void removeLeftOf(int process, const std::string &path);

  std::string file(const std::string &name) const { return temporary + "/" + name; }
  /// Gives the folder its name; an artifact that stood there is replaced, anything else refused.
  llvm::Error commit();

private:
  OutputFolder(std::string path, std::string temporary) : path(std::move(path)), temporary(std::move(temporary)) {}
  std::string path, temporary;
};

} // namespace tilewright::driver
