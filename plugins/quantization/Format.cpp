// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/Format.h"

#include <bit>
#include <cmath>

namespace tilewright::quantization {

namespace {
constexpr Format formats[] = {{FormatKind::Q4_0, "q4_0", 32, 18}, {FormatKind::Q4_1, "q4_1", 32, 20},
                              {FormatKind::Q8_0, "q8_0", 32, 34}, {FormatKind::F16, "f16", 32, 64},
                              {FormatKind::BF16, "bf16", 32, 64}, {FormatKind::Int8, "int8", 1, 1}};

uint16_t load16(const uint8_t *bytes) { return uint16_t(bytes[0] | bytes[1] << 8); }

/// IEEE binary16 to binary32, exact; NaN payloads keep their bits.
float fromHalf(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) {
    float magnitude = std::ldexp(float(fraction), -24);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

float fromBfloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// Element e of 32 in 16 bytes: low nibbles first, then high ones.
uint32_t nibble(const uint8_t *bytes, uint32_t e) { return e < 16 ? bytes[e] & 0xf : bytes[e - 16] >> 4; }

/// 4-bit quants of a block of 32 whose bytes start at `sourceBit`. An element is e = 16h + 4q + i: its nibble half, its
/// group of four bytes, its byte there. Packed [q][row][i][h]: four neighbouring bytes hold elements 4q .. 4q+3 in
/// their low and 16+4q .. 16+4q+3 in their high nibbles, so one mask or one shift yields four neighbours of k.
LayoutField nibbleField(uint32_t sourceBit) {
  enum { H, Q, I };
  LayoutField field;
  field.bits = 4;
  field.sourceBit = sourceBit;
  field.splits = {{2, 4}, {4, 32}, {4, 8}};
  field.order = {Q, LayoutField::kRow, I, H};
  return field;
}

/// 8-bit quants of a block of 32. Packed [q][row][i]: four neighbours of k side by side, offset by 128 so that integer
/// products take them as unsigned.
LayoutField byteField(uint32_t sourceBit) {
  LayoutField field;
  field.bits = 8;
  field.sourceBit = sourceBit;
  field.splits = {{8, 32}, {4, 8}};
  field.order = {0, LayoutField::kRow, 1};
  field.xorMask = 0x80;
  return field;
}

/// One number per block and row: 16 rows side by side.
LayoutField scaleField(uint32_t sourceBit) {
  LayoutField field;
  field.bits = 16;
  field.sourceBit = sourceBit;
  field.order = {LayoutField::kRow};
  return field;
}
} // namespace

const Format &format(FormatKind kind) { return formats[static_cast<int>(kind)]; }

void decodeBlock(const Format &format, const uint8_t *bytes, float *out) {
  // Products and sums are separate statements: contracting them would give other bits than the format's definition.
  switch (format.kind) {
  case FormatKind::Q4_0: {
    float d = fromHalf(load16(bytes));
    for (uint32_t e = 0; e < 32; ++e)
      out[e] = d * float(int(nibble(bytes + 2, e)) - 8);
    return;
  }
  case FormatKind::Q4_1: {
    float d = fromHalf(load16(bytes)), m = fromHalf(load16(bytes + 2));
    for (uint32_t e = 0; e < 32; ++e) {
      float product = d * float(nibble(bytes + 4, e));
      out[e] = product + m;
    }
    return;
  }
  case FormatKind::Q8_0: {
    float d = fromHalf(load16(bytes));
    for (uint32_t e = 0; e < 32; ++e)
      out[e] = d * float(int8_t(bytes[2 + e]));
    return;
  }
  case FormatKind::F16:
    for (uint32_t e = 0; e < 32; ++e)
      out[e] = fromHalf(load16(bytes + 2 * e));
    return;
  case FormatKind::BF16:
    for (uint32_t e = 0; e < 32; ++e)
      out[e] = fromBfloat(load16(bytes + 2 * e));
    return;
  case FormatKind::Int8:
    *out = float(int8_t(*bytes));
    return;
  }
}

LayoutDescriptor packedLayout(const Format &format) {
  LayoutDescriptor layout;
  layout.name = std::string(format.name) + "_16x32";
  layout.blockElements = format.blockElements;
  layout.blockBytes = format.blockBytes;
  layout.rowsPerGroup = 16;
  switch (format.kind) {
  case FormatKind::Q4_0:
    layout.fields = {nibbleField(16), scaleField(0)};
    break;
  case FormatKind::Q4_1:
    layout.fields = {nibbleField(32), scaleField(0), scaleField(16)};
    break;
  case FormatKind::Q8_0:
    layout.fields = {byteField(16), scaleField(0)};
    break;
  case FormatKind::Int8:
    layout.blockElements = layout.blockBytes = 32;
    layout.fields = {byteField(0)};
    break;
  case FormatKind::F16:
  case FormatKind::BF16: {
    // [p][row][v]: pairs of k side by side, as the dot product of pairs reads them.
    LayoutField values;
    values.bits = 16;
    values.splits = {{16, 32}, {2, 16}};
    values.order = {0, LayoutField::kRow, 1};
    layout.fields = {values};
    break;
  }
  }
  return layout;
}

} // namespace tilewright::quantization
