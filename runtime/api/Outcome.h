// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What C++ functions of the runtime return to callers that are built without exceptions.
#pragma once

#include "runtime/api/tilewright_status.h"

#include <string>

namespace tilewright {

/// Success, or a status code with its message.
struct Outcome {
  tw_status code = TW_OK;
  std::string message;
  bool ok() const { return code == TW_OK; }
};

} // namespace tilewright
