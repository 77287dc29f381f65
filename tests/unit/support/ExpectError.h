// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/api/Error.h"

#include <gtest/gtest.h>

#include <string>

namespace tilewright::test {

/// Expects `call` to throw Error with exactly this code and message.
template <typename Call> void expectError(tw_status_code code, const std::string &message, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error; wanted: " << message;
  } catch (const Error &error) {
    EXPECT_STREQ(statusName(error.code()), statusName(code));
    EXPECT_EQ(error.message(), message);
  }
}

} // namespace tilewright::test
