// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exception thrown inside the runtime. The C interface catches it and returns its code and message; it never
// crosses that boundary.
#pragma once

#include "runtime/api/tilewright_status.h"

#include <stdexcept>
#include <string>

namespace tilewright {

/// The upper-case name of a status code ("CONTEXT_FULL"), "UNKNOWN" for a value outside the enumeration.
constexpr const char *statusName(tw_status_code code) noexcept {
  switch (code) {
  case TW_OK:
    return "OK";
  case TW_INVALID:
    return "INVALID";
  case TW_NOT_FOUND:
    return "NOT_FOUND";
  case TW_UNSUPPORTED:
    return "UNSUPPORTED";
  case TW_INCOMPATIBLE:
    return "INCOMPATIBLE";
  case TW_CORRUPT:
    return "CORRUPT";
  case TW_EXHAUSTED:
    return "EXHAUSTED";
  case TW_CONTEXT_FULL:
    return "CONTEXT_FULL";
  case TW_CANCELLED:
    return "CANCELLED";
  case TW_IO:
    return "IO";
  case TW_DEVICE:
    return "DEVICE";
  case TW_INTERNAL:
    return "INTERNAL";
  }
  return "UNKNOWN";
}

/// A failure with its status code. `what()` (= `message()`) says what was found, what was wanted and where.
class Error : public std::runtime_error {
public:
  Error(tw_status_code code, const std::string &message) : std::runtime_error(message), statusCode(code) {}

  tw_status_code code() const noexcept { return statusCode; }
  std::string message() const { return what(); }

private:
  tw_status_code statusCode;
};

} // namespace tilewright
