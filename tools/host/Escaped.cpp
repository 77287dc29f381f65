// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built with exceptions, to name the one that ends the process.
#include "tools/host/Escaped.h"

#include "tools/ExitCodes.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace tilewright {

[[noreturn]] static void report() {
  const char *what = "of unknown type";
  try {
    if (std::exception_ptr exception = std::current_exception())
      std::rethrow_exception(exception);
    what = "none: std::terminate was called";
  } catch (const std::exception &exception) {
    what = exception.what();
  } catch (...) {
  }
  std::fprintf(stderr,
               "error: an exception escaped from a plugin or a library: %s\n"
               "note: the compiler is built without exceptions; a plugin must catch its own; "
               "TILEWRIGHT_WITHOUT_PLUGINS=NAME leaves one out\n",
               what);
  std::fflush(nullptr);
  std::_Exit(WorkFailed);
}

void reportEscapedExceptions() { std::set_terminate(report); }

} // namespace tilewright
