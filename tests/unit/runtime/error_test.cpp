// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/api/Error.h"

#include <gtest/gtest.h>

using namespace tilewright;

TEST(Error, CarriesCodeAndMessage) {
  try {
    throw Error(TW_CONTEXT_FULL, "context holds 16 tokens, 17 wanted");
  } catch (const std::exception &caught) {
    const auto *error = dynamic_cast<const Error *>(&caught);
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->code(), TW_CONTEXT_FULL);
    EXPECT_EQ(error->message(), "context holds 16 tokens, 17 wanted");
    EXPECT_STREQ(statusName(error->code()), "CONTEXT_FULL");
  }
}

// The numbers are binary interface: changing one breaks every program built against an earlier header.
TEST(Error, StatusNumbersStayPut) {
  const char *names[] = {"OK",        "INVALID",      "NOT_FOUND", "UNSUPPORTED", "INCOMPATIBLE", "CORRUPT",
                         "EXHAUSTED", "CONTEXT_FULL", "CANCELLED", "IO",          "DEVICE",       "INTERNAL"};
  for (int i = 0; i < 12; ++i)
    EXPECT_STREQ(statusName(static_cast<tw_status_code>(i)), names[i]) << i;
  EXPECT_STREQ(statusName(static_cast<tw_status_code>(12)), "UNKNOWN");
}
