// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exit codes of every command, of both programs (docs/status-and-exit-codes.md).
#pragma once

namespace tilewright {

enum ExitCode {
  Success = 0,
  WorkFailed = 1,
  Usage = 2,
  BadInput = 3,
  Unsupported = 4,
  Incompatible = 5,
  Resources = 6,
  CheckFailed = 7,
  Interrupted = 130
};

} // namespace tilewright
