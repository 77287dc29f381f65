// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tool ends with when the C interface gave it a status (docs/status-and-exit-codes.md).
#pragma once

#include "runtime/api/tilewright_status.h"
#include "tools/ExitCodes.h"

namespace tilewright {

inline ExitCode exitCodeOf(tw_status status) {
  switch (status) {
  case TW_OK:
    return Success;
  case TW_INVALID:
  case TW_NOT_FOUND:
  case TW_CORRUPT:
  case TW_CONTEXT_FULL:
    return BadInput;
  case TW_UNSUPPORTED:
    return Unsupported;
  case TW_INCOMPATIBLE:
    return Incompatible;
  case TW_EXHAUSTED:
    return Resources;
  case TW_CANCELLED:
    return Interrupted;
  case TW_IO:
  case TW_DEVICE:
  case TW_INTERNAL:
    return WorkFailed;
  }
  return WorkFailed;
}

} // namespace tilewright
