// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/files/StandardOutput.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace tilewright {

std::optional<std::string> flushStandardOutput() {
  // std::cout holds nothing of its own (std::ios::sync_with_stdio).
  int reason = std::fflush(stdout) != 0 ? errno : 0;
  if (reason == 0 && (std::ferror(stdout) != 0 || !std::cout)) {
    // The reason of an earlier failure is gone; the next byte, of an output that is incomplete anyway, tells it again.
    std::clearerr(stdout);
    reason = std::fputc('\n', stdout) == EOF || std::fflush(stdout) != 0 ? errno : EIO;
  }
  if (reason == 0)
    return std::nullopt;
  return std::string("standard output cannot be written: ") + std::strerror(reason);
}

} // namespace tilewright
