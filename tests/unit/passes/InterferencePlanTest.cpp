// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/bufferize/InterferencePlan.h"

#include <gtest/gtest.h>

#include <random>

using namespace tilewright;

static void expectNoOverlap(const std::vector<LiveBuffer> &buffers, const InterferencePlan &plan) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_LE(plan.offsets[i] + buffers[i].size, plan.size);
    for (size_t j = i + 1; j < buffers.size(); ++j) {
      bool together = buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      bool apart =
          plan.offsets[i] + buffers[i].size <= plan.offsets[j] || plan.offsets[j] + buffers[j].size <= plan.offsets[i];
      EXPECT_TRUE(!together || apart) << "buffers " << i << " and " << j << " overlap";
    }
  }
}

TEST(InterferencePlan, EmptyProgramNeedsNothing) {
  InterferencePlan plan = planByInterference({});
  EXPECT_EQ(plan.size, 0u);
  EXPECT_EQ(plan.lowerBound, 0u);
}

TEST(InterferencePlan, ChainReusesTwoBuffers) {
  // Each value lives until the next one is made.
  std::vector<LiveBuffer> chain;
  for (uint32_t i = 0; i < 10; ++i)
    chain.push_back({64, i, i + 1});
  InterferencePlan plan = planByInterference(chain);
  expectNoOverlap(chain, plan);
  EXPECT_EQ(plan.size, 128u);
  EXPECT_EQ(plan.lowerBound, 128u);
  EXPECT_EQ(plan.withoutReuse, 640u);
}

TEST(InterferencePlan, TakesTheSmallestGap) {
  // Two gaps open between long-lived buffers: 64 and 32 wide; the 32-wide value goes into the smaller one.
  std::vector<LiveBuffer> buffers = {{64, 0, 1}, {100, 0, 9}, {32, 0, 1}, {99, 0, 9}, {32, 3, 4}};
  InterferencePlan plan = planByInterference(buffers);
  expectNoOverlap(buffers, plan);
  EXPECT_EQ(plan.size, plan.lowerBound);
}

TEST(InterferencePlan, RandomProgramsNeverOverlap) {
  std::mt19937 rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<LiveBuffer> buffers;
    for (int i = 0, n = rng() % 40; i < n; ++i) {
      uint32_t first = rng() % 30;
      buffers.push_back({rng() % 5 * 64, first, first + static_cast<uint32_t>(rng() % 10)});
    }
    InterferencePlan plan = planByInterference(buffers);
    expectNoOverlap(buffers, plan);
    EXPECT_GE(plan.size, plan.lowerBound);
    EXPECT_LE(plan.size, plan.withoutReuse);
  }
}
