// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors of cosines, sines and scores, as released models have them.
#include "plugins/rotary_embedding/Scaling.h"

#include "gtest/gtest.h"

using namespace tilewright::rotary_embedding;

namespace {

TEST(Scaling, YarnScalesCosinesAndSinesOnce) {
  EXPECT_NEAR(yarnAttentionFactor(8), 1.2079441541679836, 1e-12);
  EXPECT_NEAR(yarnAttentionFactor(4, 1.0, 0.8), 1.0249579607969668, 1e-12);
  EXPECT_EQ(yarnAttentionFactor(1), 1.0);
  // One of the two alone does not count.
  EXPECT_EQ(yarnAttentionFactor(8, 0.0, 0.8), yarnAttentionFactor(8));
}

TEST(Scaling, YarnScalesScoresApartFromThat) {
  // Equal numbers leave cosines and sines alone, and the scores have the square of the second.
  EXPECT_EQ(yarnAttentionFactor(40, 0.707, 0.707), 1.0);
  EXPECT_NEAR(yarnScoreFactor(40, 0.707), 1.5896, 1e-4);
  EXPECT_EQ(yarnAttentionFactor(40, 1.0, 1.0), 1.0);
  EXPECT_NEAR(yarnScoreFactor(40, 1.0), 1.8739, 1e-4);
  EXPECT_EQ(yarnScoreFactor(40, 0.0), 1.0);
}

TEST(Scaling, Longrope) {
  EXPECT_NEAR(longropeAttentionFactor(16, 64), 1.2909944487358056, 1e-12);
  EXPECT_EQ(longropeAttentionFactor(1, 64), 1.0);
}

} // namespace
