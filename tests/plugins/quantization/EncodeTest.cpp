// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encoding floats: what golden blocks (numerics.test) do not hold. Errors are bounded by half a step of the quants, and
// encoding what has been decoded changes nothing.
#include "plugins/quantization/Encode.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <vector>

using namespace tilewright::quantization;

namespace {

std::vector<float> decodeRow(const Format &format, const std::vector<uint8_t> &bytes) {
  std::vector<float> values(bytes.size() / format.blockBytes * format.blockElements);
  for (size_t block = 0; block < bytes.size() / format.blockBytes; ++block)
    decodeBlock(format, bytes.data() + block * format.blockBytes, values.data() + block * format.blockElements);
  return values;
}

std::vector<uint8_t> encode(const Format &format, const std::vector<float> &row) {
  std::vector<uint8_t> bytes(row.size() / format.blockElements * format.blockBytes);
  EXPECT_EQ(encodeRow(format, row, bytes.data()), 1.0f) << format.name;
  return bytes;
}

/// Steps of the quants over the range of a block: the whole range, or twice the largest magnitude.
double steps(const Format &format) {
  return format.lowBits == 8 ? 254 : format.hasMinimum ? (16 << format.highBits) - 1 : 16 << format.highBits;
}

} // namespace

TEST(Encode, WhichFormats) {
  std::string names;
  for (const Format &format : allFormats())
    if (canEncode(format))
      names += std::string(format.name) + " ";
  EXPECT_EQ(names, "q4_0 q4_1 q5_0 q5_1 q8_0 int8 ");
}

TEST(Encode, ErrorsAreWithinAStep) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> row(64 * 32);
  for (float &value : row)
    value = normal(random);
  for (const Format &format : allFormats()) {
    if (!canEncode(format) || format.kind == FormatKind::Int8)
      continue;
    const std::vector<float> back = decodeRow(format, encode(format, row));
    for (size_t block = 0; block < row.size(); block += 32) {
      double low = row[block], high = row[block], largest = 0;
      for (size_t e = block; e < block + 32; ++e) {
        low = std::min<double>(low, row[e]);
        high = std::max<double>(high, row[e]);
        largest = std::max<double>(largest, std::fabs(row[e]));
      }
      const double step = (format.hasMinimum ? high - low : 2 * largest) / steps(format);
      // Half a step; a whole one at the end that a symmetric format of an even number of quants lacks; f16 scales.
      const double bound = (format.hasMinimum || format.lowBits == 8 ? 0.5 : 1.0) * step + 1e-3 * largest;
      for (size_t e = block; e < block + 32; ++e)
        ASSERT_LE(std::fabs(back[e] - row[e]), bound) << format.name << " " << e;
    }
  }
}

TEST(Encode, OfNothingIsNothing) {
  const std::vector<float> zeros(32), tiny(32, 1e-44f);
  for (const Format &format : allFormats())
    if (canEncode(format) && format.kind != FormatKind::Int8)
      for (const std::vector<float> &row : {zeros, tiny})
        EXPECT_EQ(decodeRow(format, encode(format, row)), zeros) << format.name;
}

TEST(Encode, ScaleOfARow) {
  const Format &int8 = format(FormatKind::Int8);
  const std::vector<float> row = {127, -63.5f, 0.5f};
  uint8_t bytes[3];
  EXPECT_EQ(encodeRow(int8, row, bytes), 1.0f);
  EXPECT_EQ(static_cast<int8_t>(bytes[0]), 127);
  EXPECT_EQ(static_cast<int8_t>(bytes[1]), -64); // to even
  EXPECT_EQ(static_cast<int8_t>(bytes[2]), 0);
  const std::vector<float> twice = {254, -127, 1};
  EXPECT_EQ(encodeRow(int8, twice, bytes), 2.0f);
}

// Every binary16 number comes back, and numbers between two go to the nearer one, halves to even.
TEST(Encode, HalfPrecision) {
  auto fromHalf = [](uint16_t half) {
    uint8_t block[64] = {static_cast<uint8_t>(half), static_cast<uint8_t>(half >> 8)};
    float out[32];
    decodeBlock(format(FormatKind::F16), block, out);
    return out[0];
  };
  for (uint32_t half = 0; half < 0x7c00; ++half) {
    EXPECT_EQ(toHalf(fromHalf(half)), half);
    EXPECT_EQ(toHalf(-fromHalf(half)), half | 0x8000);
    if (half + 1 == 0x7c00)
      break;
    const float low = fromHalf(half), high = fromHalf(half + 1), middle = (low + high) / 2;
    EXPECT_EQ(toHalf(middle), half + half % 2);
    EXPECT_EQ(toHalf(std::nextafter(middle, low)), half);
    EXPECT_EQ(toHalf(std::nextafter(middle, high)), half + 1);
  }
  EXPECT_EQ(toHalf(65519.996f), 0x7bff);
  EXPECT_EQ(toHalf(65520), 0x7c00);
  EXPECT_EQ(toHalf(-INFINITY), 0xfc00);
  EXPECT_EQ(toHalf(1e-30f), 0);
  EXPECT_EQ(toHalf(NAN) & 0x7fff, 0x7e00);
}
