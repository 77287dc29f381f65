// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/sample/LogitRules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tilewright;

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::vector<float> applied(const LogitRules &rules, std::vector<int32_t> text, int64_t maxLength = 100) {
  std::vector<float> scores = {-1, 2, -3, 4, -5};
  rules.apply(scores, text, maxLength);
  return scores;
}

} // namespace

TEST(LogitRules, NoneChangesNothing) {
  EXPECT_FALSE(LogitRules().any());
  EXPECT_EQ(applied({}, {0, 1, 2}), (std::vector<float>{-1, 2, -3, 4, -5}));
}

TEST(LogitRules, PenaltyOnceForEachTokenSeen) {
  LogitRules rules;
  rules.repetitionPenalty = 2;
  EXPECT_EQ(applied(rules, {1, 1, 2, 99}), (std::vector<float>{-1, 1, -6, 4, -5}));
}

TEST(LogitRules, NoSequenceOfTokensTwice) {
  LogitRules rules;
  rules.noRepeatNgram = 2; // 1 was followed by 2 and by 4
  EXPECT_EQ(applied(rules, {1, 2, 1, 4, 1}), (std::vector<float>{-1, 2, kNever, 4, kNever}));
  rules.noRepeatNgram = 3;
  EXPECT_EQ(applied(rules, {1, 2, 0, 1, 2}), (std::vector<float>{kNever, 2, -3, 4, -5}));
  EXPECT_EQ(applied(rules, {1}), (std::vector<float>{-1, 2, -3, 4, -5})); // too short for any
  EXPECT_EQ(applied(rules, {}), (std::vector<float>{-1, 2, -3, 4, -5}));
  rules.noRepeatNgram = 1;
  EXPECT_EQ(applied(rules, {3, 99}), (std::vector<float>{-1, 2, -3, kNever, -5}));
}

TEST(LogitRules, EndsArePutOff) {
  LogitRules rules;
  rules.ends = {3, 1, 99};
  EXPECT_FALSE(rules.any());
  rules.minLength = 3;
  EXPECT_TRUE(rules.any());
  EXPECT_EQ(applied(rules, {0, 0}), (std::vector<float>{-1, kNever, -3, kNever, -5}));
  EXPECT_EQ(applied(rules, {0, 0, 0}), (std::vector<float>{-1, 2, -3, 4, -5}));
  rules.forcedEnd = 3; // of a text that can be no longer
  EXPECT_EQ(applied(rules, {0, 0}, 3), (std::vector<float>{kNever, kNever, kNever, 0, kNever}));
}

TEST(LogitRules, ForbiddenAndForcedTokens) {
  LogitRules rules;
  rules.bad = {1, 77};
  EXPECT_EQ(applied(rules, {0}), (std::vector<float>{-1, kNever, -3, 4, -5}));
  rules.forcedBegin = 2;
  rules.forcedEnd = 4;
  EXPECT_EQ(applied(rules, {0}), (std::vector<float>{kNever, kNever, 0, kNever, kNever}));
  EXPECT_EQ(applied(rules, {0, 0}, 4), (std::vector<float>{-1, kNever, -3, 4, -5}));
  EXPECT_EQ(applied(rules, {0, 0, 0}, 4), (std::vector<float>{kNever, kNever, kNever, kNever, 0}));
}
