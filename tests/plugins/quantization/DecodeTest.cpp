// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thousand blocks of random bytes of each type, bit for bit as the reference's Python reader decodes them
// (Inputs/block_sums.py, which makes the same bytes and prints this table).
#include "plugins/quantization/Format.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <vector>

using namespace tilewright::quantization;

namespace {

struct Sum {
  FormatKind kind;
  uint64_t seed, sum;
};

constexpr Sum kSums[] = {
    {FormatKind::Q4_0, 2, 0x34cc88da61ecf725},  {FormatKind::Q4_1, 3, 0x8216e788b8170fbd},
    {FormatKind::Q5_0, 6, 0x805509f9e0ff6125},  {FormatKind::Q5_1, 7, 0x54f4b7b7ca2c9e12},
    {FormatKind::Q8_0, 8, 0xc1e75941e8b1a6a5},  {FormatKind::Q2_K, 10, 0x1499a1452e5409e1},
    {FormatKind::Q3_K, 11, 0x965acba501d89fa5}, {FormatKind::Q4_K, 12, 0x2181e2406112b20e},
    {FormatKind::Q5_K, 13, 0xc1e8690401fd5709}, {FormatKind::Q6_K, 14, 0x8bb1e842e8825343},
};

/// SplitMix64 (Steele, Lea and Flood, 2014), the low byte of each number.
class RandomBytes {
public:
  explicit RandomBytes(uint64_t seed) : state(seed) {}
  uint8_t operator()() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<uint8_t>(z ^ (z >> 31));
  }

private:
  uint64_t state;
};

} // namespace

TEST(Decode, RandomBlocksAsTheReferenceReaderDoes) {
  for (const Sum &wanted : kSums) {
    const Format &format = tilewright::quantization::format(wanted.kind);
    RandomBytes random(wanted.seed);
    std::vector<uint8_t> block(format.blockBytes);
    std::vector<float> values(format.blockElements);
    uint64_t sum = 0xCBF29CE484222325;
    for (int i = 0; i < 1000; ++i) {
      for (uint8_t &byte : block)
        byte = random();
      decodeBlock(format, block.data(), values.data());
      for (float value : values) // one NaN is as good as another
        sum = (sum ^ (std::isnan(value) ? 0x7FC00000 : std::bit_cast<uint32_t>(value))) * 0x100000001B3;
    }
    EXPECT_EQ(sum, wanted.sum) << format.name;
  }
}

TEST(Decode, EveryBlockTypeHasASum) {
  for (const Format &format : allFormats()) {
    bool found = !format.lowBits || format.kind == FormatKind::Int8; // floats, and a type that no file has
    for (const Sum &sum : kSums)
      found |= sum.kind == format.kind;
    EXPECT_TRUE(found) << format.name;
  }
}
