// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/AtomicFile.h"

#include "frontend/graph/Errors.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <unistd.h>

using namespace llvm;

namespace tilewright {

Error writeFileAtomically(StringRef path, function_ref<Error(raw_pwrite_stream &)> write) {
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && status.type() != sys::fs::file_type::regular_file)
    return badInput(path + ": cannot be written: it is not a regular file");
  // A link stays one: what it names is replaced.
  SmallString<256> target;
  if (sys::fs::real_path(path, target))
    target = path;
  Expected<sys::fs::TempFile> temp = sys::fs::TempFile::create(target + ".%%%%%%%%.tmp");
  if (!temp)
    return ioError(path + ": cannot be written", errorToErrorCode(temp.takeError()));

  auto fill = [&]() -> Error {
    raw_fd_ostream os(temp->FD, /*shouldClose=*/false);
    Error error = write(os);
    os.flush();
    std::error_code code = os.error();
    // The stream's destructor ends the process over an error that nobody has taken.
    os.clear_error();
    if (error)
      return error;
    if (code)
      return ioError(path + ": writing failed", code);
    if (::fsync(temp->FD) != 0)
      return ioError(path + ": writing failed", std::error_code(errno, std::generic_category()));
    return Error::success();
  };
  if (Error error = fill())
    return joinErrors(std::move(error), temp->discard());
  if (Error error = temp->keep(target))
    return ioError(path + ": cannot be written", errorToErrorCode(std::move(error)));
  return Error::success();
}

Error writeFileAtomically(StringRef path, ArrayRef<uint8_t> bytes) {
  return writeFileAtomically(path, [&](raw_pwrite_stream &os) {
    os.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return Error::success();
  });
}

} // namespace tilewright
