// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files named by untrusted input: beneath a given folder, regular, reached without following a link.
#ifndef TILEWRIGHT_FRONTEND_GRAPH_BENEATHFILE_H
#define TILEWRIGHT_FRONTEND_GRAPH_BENEATHFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

#include <memory>
#include <string>

namespace tilewright {

/// Why `path` cannot name a file beneath a folder, or nothing: it must be relative, with no empty, "." or ".." part and
/// no control character.
std::string relativePathProblem(llvm::StringRef path);

/// A file mapped read-only; its pages are shared with every process that maps it.
class MappedFile {
public:
  /// Maps `relative` beneath `folder`. The folder itself is trusted, nothing beneath it: each step is opened without
  /// following links, and the file must be regular. No file there gives `std::errc::no_such_file_or_directory`.
  static llvm::Expected<MappedFile> openBeneath(llvm::StringRef folder, llvm::StringRef relative);

  /// Maps the regular file at `path`, following links: for paths that the user gave.
  static llvm::Expected<MappedFile> open(llvm::StringRef path);

  llvm::ArrayRef<uint8_t> bytes() const { return {data, static_cast<size_t>(length)}; }

private:
  static llvm::Expected<MappedFile> map(int fd, const llvm::Twine &shown);

  std::unique_ptr<llvm::sys::fs::mapped_file_region> region; ///< null for an empty file
  const uint8_t *data = nullptr;
  uint64_t length = 0;
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_BENEATHFILE_H
