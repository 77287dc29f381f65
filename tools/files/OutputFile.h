// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file that takes its name when it is whole.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace tilewright {

class OutputFile {
public:
  /// Begins a new file beside `path`, under a name that nothing has. A link at `path` is followed; anything there but a
  /// regular file is refused. This and what follows throw std::runtime_error, "PATH: cannot be written: REASON", and
  /// leave an older file at `path` as it was.
  explicit OutputFile(const std::string &path);
  ~OutputFile(); ///< removes what was not committed
  OutputFile(const OutputFile &) = delete;

  void write(const void *bytes, size_t count);
  /// Gives it the name, once all of it is on the disk.
  void commit();

  /// Throws when `path` cannot be written now: before the work whose result goes there.
  static void check(const std::string &path) { OutputFile begun(path); }

private:
  [[noreturn]] void fail(const std::string &reason) const;

  const std::string path;
  std::string target; ///< behind links
  std::string temporary;
  std::FILE *file = nullptr;
};

} // namespace tilewright
