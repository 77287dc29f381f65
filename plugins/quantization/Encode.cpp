// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/Encode.h"

#include "plugins/quantization/Channels.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tilewright::quantization {

namespace {
constexpr uint32_t kBlock = 32;
using Block = std::span<const float, kBlock>;

void store16(uint8_t *bytes, uint16_t value) {
  bytes[0] = static_cast<uint8_t>(value);
  bytes[1] = static_cast<uint8_t>(value >> 8);
}

/// 0 where there is none: of nothing but zeros, or of numbers that are next to it.
float inverse(float scale) {
  const float result = 1 / scale;
  return std::isfinite(result) ? result : 0;
}

/// Quants of 4 or 5 bits: element e is the low nibble of byte e for e < 16, else the high one of byte e - 16; fifth
/// bits stand in 4 bytes before the nibbles.
void storeQuants(const Format &format, const uint32_t *quants, uint8_t *bytes) {
  if (format.highBits)
    for (uint32_t byte = 0; byte < 4; ++byte, ++bytes) {
      *bytes = 0;
      for (uint32_t e = 0; e < 8; ++e)
        *bytes |= static_cast<uint8_t>(quants[8 * byte + e] >> 4 << e);
    }
  for (uint32_t e = 0; e < kBlock / 2; ++e)
    bytes[e] = static_cast<uint8_t>((quants[e] & 15) | (quants[e + 16] & 15) << 4);
}

/// The number of largest magnitude becomes the smallest quant: w = d * (q - zero point). Quants in double, where
/// product and sum round once, at the end.
void encodeSymmetric(const Format &format, Block values, uint8_t *bytes) {
  const uint32_t largestQuant = 2 * static_cast<uint32_t>(format.zeroPoint) - 1;
  float largest = 0;
  for (float value : values)
    if (std::fabs(value) > std::fabs(largest))
      largest = value;
  const float d = largest / static_cast<float>(-format.zeroPoint);
  const double toQuant = inverse(d);
  uint32_t quants[kBlock];
  for (uint32_t e = 0; e < kBlock; ++e) {
    const double quant = static_cast<double>(values[e]) * toQuant + (format.zeroPoint + 0.5);
    quants[e] = std::min(static_cast<uint32_t>(quant), largestQuant);
  }
  store16(bytes, toHalf(d));
  storeQuants(format, quants, bytes + 2);
}

/// From the smallest number to the largest: w = d * q + m.
void encodeFromMinimum(const Format &format, Block values, uint8_t *bytes) {
  const uint32_t largestQuant = format.highBits ? 31 : 15;
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  const float d = (*largest - *smallest) / static_cast<float>(largestQuant), toQuant = inverse(d);
  uint32_t quants[kBlock];
  for (uint32_t e = 0; e < kBlock; ++e) {
    // Each step rounds to f32.
    const float above = values[e] - *smallest;
    const float product = above * toQuant;
    const float quant = product + 0.5f;
    quants[e] = std::min(static_cast<uint32_t>(quant), largestQuant);
  }
  store16(bytes, toHalf(d));
  store16(bytes + 2, toHalf(*smallest));
  storeQuants(format, quants, bytes + 4);
}

/// Signed bytes, halves away from zero.
void encodeBytes(Block values, uint8_t *bytes) {
  float largest = 0;
  for (float value : values)
    largest = std::max(largest, std::fabs(value));
  const float d = largest / 127, toQuant = inverse(d);
  store16(bytes, toHalf(d));
  for (uint32_t e = 0; e < kBlock; ++e)
    bytes[2 + e] = static_cast<uint8_t>(static_cast<int8_t>(std::round(values[e] * toQuant)));
}
} // namespace

uint16_t toHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00); // NaN
  if (magnitude >= 0x477ff000)
    return static_cast<uint16_t>(sign | 0x7c00); // from 65520 on
  if (magnitude < 0x38800000) { // below the smallest normal number: a multiple of 2^-24, which f32 rounds for us
    const float units = std::bit_cast<float>(magnitude) * 16777216.0f;
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(units)));
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

bool canEncode(const Format &format) {
  return format.kind == FormatKind::Int8 || (format.blockElements == kBlock && format.lowBits);
}

float encodeRow(const Format &format, std::span<const float> row, uint8_t *bytes) {
  if (format.kind == FormatKind::Int8)
    return quantizeChannel(row, {reinterpret_cast<int8_t *>(bytes), row.size()});
  for (size_t at = 0; at + kBlock <= row.size(); at += kBlock, bytes += format.blockBytes) {
    const Block block = row.subspan(at).first<kBlock>();
    if (format.lowBits == 8)
      encodeBytes(block, bytes);
    else if (format.hasMinimum)
      encodeFromMinimum(format, block, bytes);
    else
      encodeSymmetric(format, block, bytes);
  }
  return 1;
}

} // namespace tilewright::quantization
