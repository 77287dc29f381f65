// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built with exceptions, to name the one that ends the process.
#include "tools/host/Escaped.h"

#include "tools/ExitCodes.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <exception>
#include <execinfo.h>
#include <string>
#include <typeinfo>

namespace tilewright {

namespace {

/// The library that code at `address` belongs to, without its folder.
std::string libraryOf(void *address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname)
    return "";
  const char *slash = std::strrchr(info.dli_fname, '/');
  return slash ? slash + 1 : info.dli_fname;
}

/// Who threw: nobody caught it, so nothing of the stack is gone. Above this handler stands the C++ runtime, which
/// threw for the one that is wanted.
std::string thrower() {
  constexpr int kFrames = 64;
  void *frames[kFrames];
  const int count = backtrace(frames, kFrames);
  bool isBehindRuntime = false;
  for (int i = 0; i < count; ++i) {
    std::string library = libraryOf(frames[i]);
    const bool isRuntime = library.compare(0, std::strlen("libstdc++"), "libstdc++") == 0;
    if (isBehindRuntime && !isRuntime)
      return library;
    isBehindRuntime |= isRuntime;
  }
  return "";
}

std::string currentType() {
  const std::type_info *type = abi::__cxa_current_exception_type();
  if (!type)
    return "of unknown type";
  int status;
  char *readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string text = std::string("of type ") + (status == 0 ? readable : type->name());
  std::free(readable);
  return text;
}

[[noreturn]] void report() {
  std::string what = currentType(), where = thrower();
  try {
    if (std::exception_ptr exception = std::current_exception())
      std::rethrow_exception(exception);
    what = "none: std::terminate was called";
  } catch (const std::exception &exception) {
    what = exception.what();
  } catch (...) {
  }
  std::fprintf(stderr,
               "error: an exception escaped from %s: %s\n"
               "note: the compiler is built without exceptions; a plugin must catch its own; "
               "TILEWRIGHT_WITHOUT_PLUGINS=NAME leaves one out\n",
               where.empty() ? "a plugin or a library" : where.c_str(), what.c_str());
  std::fflush(nullptr);
  std::_Exit(WorkFailed);
}

} // namespace

void reportEscapedExceptions() { std::set_terminate(report); }

} // namespace tilewright
