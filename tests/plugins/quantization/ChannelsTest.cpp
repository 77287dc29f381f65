// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/Channels.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <vector>

using tilewright::quantization::quantizeChannel;

namespace {

struct Channel {
  explicit Channel(const std::vector<float> &weights) : quants(weights.size()) {
    scale = quantizeChannel(weights, quants);
  }
  std::vector<int8_t> quants;
  float scale;
};

using Quants = std::vector<int8_t>;

} // namespace

TEST(Channels, SymmetricHalvesToEven) {
  const Channel channel({127, -127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 63.4f});
  EXPECT_EQ(channel.scale, 1.0f);
  EXPECT_EQ(channel.quants, (Quants{127, -127, 0, 2, 2, 0, -2, 63}));
  EXPECT_EQ(Channel({-2}).quants, (Quants{-127})) << "never -128";
}

TEST(Channels, ZerosAndNothing) {
  const Channel zeros({0, -0.0f, 0});
  EXPECT_EQ(zeros.scale, 0.0f);
  EXPECT_EQ(zeros.quants, (Quants{0, 0, 0}));
  EXPECT_EQ(Channel({}).scale, 0.0f);
  // So small that the scale is 0 although the weights are not.
  const Channel tiny({std::numeric_limits<float>::denorm_min()});
  EXPECT_EQ(tiny.scale, 0.0f);
  EXPECT_EQ(tiny.quants, (Quants{0}));
}

TEST(Channels, WhatIsNotFiniteStaysSeen) {
  const float infinite = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Channel({1, nan, 2}).scale));
  EXPECT_TRUE(std::isinf(Channel({1, -infinite, 2}).scale));
  EXPECT_EQ(Channel({1, nan, 2}).quants, (Quants{0, 0, 0}));
}
