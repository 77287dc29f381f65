// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where exceptions of the runtime end.
#pragma once

#include "runtime/api/Error.h"
#include "runtime/api/Outcome.h"

#include <new>

namespace tilewright {

/// Runs `body` and turns what it throws into an outcome.
template <typename Body> Outcome outcomeOf(Body &&body) {
  try {
    body();
    return {};
  } catch (const Error &error) {
    return {error.code(), error.message()};
  } catch (const std::bad_alloc &) {
    return {TW_EXHAUSTED, "out of memory"};
  } catch (const std::exception &error) {
    return {TW_INTERNAL, error.what()};
  }
}

} // namespace tilewright
