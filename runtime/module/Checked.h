// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Size arithmetic that fails with a message instead of wrapping around.
#pragma once

#include "runtime/api/Error.h"

#include <cstdint>
#include <string>

namespace tilewright {

/// a * b; throws Error(INVALID) naming `what` when it does not fit 63 bits.
inline uint64_t checkedMul(uint64_t a, uint64_t b, const char *what) {
  uint64_t result;
  if (__builtin_mul_overflow(a, b, &result) || result > INT64_MAX)
    throw Error(TW_INVALID, std::string(what) + ": " + std::to_string(a) + " * " + std::to_string(b) + " is too large");
  return result;
}

/// a + b; throws Error(INVALID) naming `what` when it does not fit 63 bits.
inline uint64_t checkedAdd(uint64_t a, uint64_t b, const char *what) {
  uint64_t result;
  if (__builtin_add_overflow(a, b, &result) || result > INT64_MAX)
    throw Error(TW_INVALID, std::string(what) + ": " + std::to_string(a) + " + " + std::to_string(b) + " is too large");
  return result;
}

} // namespace tilewright
