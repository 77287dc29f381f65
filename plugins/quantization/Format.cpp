// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/Format.h"

#include <bit>
#include <cmath>

namespace tilewright::quantization {

namespace {
using Minimums = Format::Minimums;

// In the order of FormatKind: name, elements, bytes; low bits, high bits, zero point; scale, minimum; elements of a
// scale's factor, its bias, is it signed; factors of the minimum.
constexpr Format formats[] = {
    {FormatKind::Q4_0, "q4_0", 32, 18, 4, 0, 8, true, false},
    {FormatKind::Q4_1, "q4_1", 32, 20, 4, 0, 0, true, true},
    {FormatKind::Q5_0, "q5_0", 32, 22, 4, 1, 16, true, false},
    {FormatKind::Q5_1, "q5_1", 32, 24, 4, 1, 0, true, true},
    {FormatKind::Q8_0, "q8_0", 32, 34, 8, 0, 128, true, false},
    {FormatKind::Q2_K, "q2_k", 256, 84, 2, 0, 0, true, true, 16, 0, false, Minimums::HighHalf},
    {FormatKind::Q3_K, "q3_k", 256, 110, 2, 1, 4, true, false, 16, 32, false},
    {FormatKind::Q4_K, "q4_k", 256, 144, 4, 0, 0, true, true, 32, 0, false, Minimums::Bytes},
    {FormatKind::Q5_K, "q5_k", 256, 176, 4, 1, 0, true, true, 32, 0, false, Minimums::Bytes},
    {FormatKind::Q6_K, "q6_k", 256, 210, 4, 2, 32, true, false, 16, 0, true},
    {FormatKind::F16, "f16", 32, 64},
    {FormatKind::BF16, "bf16", 32, 64},
    {FormatKind::Int8, "int8", 1, 1, 8, 0, 128},
};

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

float halfAt(const uint8_t *bytes) { return fromHalf(load16(bytes)); }

float fromBfloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// Element e of 32 in 16 bytes: low nibbles first, then high ones.
uint32_t nibble(const uint8_t *bytes, uint32_t e) { return e < 16 ? bytes[e] & 0xf : bytes[e - 16] >> 4; }

/// Bit e of 32 in 4 bytes.
uint32_t bit(const uint8_t *bytes, uint32_t e) { return bytes[e / 8] >> e % 8 & 1; }

// Products and sums are separate statements: contracting them would give other bits than the format's definition.
float scaled(float scale, uint32_t quant, float minimum) {
  float product = scale * float(quant);
  return product + minimum;
}

/// 6-bit scale and minimum j of 8 in 12 bytes: those of j < 4 whole in bytes j and j + 4, whose upper two bits hold the
/// upper bits of the others; their lower bits are in bytes 8 .. 11, of scales the low and of minimums the high halves.
void sixBits(const uint8_t *bytes, uint32_t j, uint32_t &scale, uint32_t &minimum) {
  scale = j < 4 ? bytes[j] & 63 : (bytes[j + 4] & 15) | bytes[j - 4] >> 6 << 4;
  minimum = j < 4 ? bytes[j + 4] & 63 : bytes[j + 4] >> 4 | bytes[j] >> 6 << 4;
}

// Blocks of 256 elements, e = 128 half + 32 step + l in those of 16 to a scale and e = 64 pair + 32 upper + l in the
// others.

void decodeQ2K(const uint8_t *scales, float *out) {
  const uint8_t *quants = scales + 16;
  const float d = halfAt(scales + 80), least = halfAt(scales + 82);
  for (uint32_t e = 0; e < 256; ++e) {
    const uint32_t both = scales[e / 16], quant = quants[32 * (e / 128) + e % 32] >> 2 * (e / 32 % 4) & 3;
    const float scale = d * float(both & 15), minimum = least * float(both >> 4);
    out[e] = scaled(scale, quant, -minimum);
  }
}

void decodeQ3K(const uint8_t *high, float *out) {
  const uint8_t *quants = high + 32, *scales = high + 96;
  const float d = halfAt(high + 108);
  for (uint32_t e = 0; e < 256; ++e) {
    // Of 6-bit scale j: the low half of byte j for j < 8, else the high half of byte j - 8; its upper bits in byte
    // 8 + j % 4.
    const uint32_t j = e / 16, low = j < 8 ? scales[j] & 15 : scales[j - 8] >> 4;
    const int32_t factor = int32_t(low | (scales[8 + j % 4] >> 2 * (j / 4) & 3) << 4) - 32;
    const int32_t quant = quants[32 * (e / 128) + e % 32] >> 2 * (e / 32 % 4) & 3;
    const int32_t upper = high[e % 32] >> e / 32 & 1;
    const float scale = d * float(factor);
    out[e] = scale * float(quant + 4 * upper - 4);
  }
}

/// q4_k, and q5_k where `high` is not null.
void decodeQ45K(const uint8_t *bytes, const uint8_t *high, const uint8_t *quants, float *out) {
  const float d = halfAt(bytes), least = halfAt(bytes + 2);
  for (uint32_t e = 0; e < 256; ++e) {
    uint32_t factor, minimumFactor;
    sixBits(bytes + 4, e / 32, factor, minimumFactor);
    const float scale = d * float(factor), minimum = least * float(minimumFactor);
    uint32_t quant = quants[32 * (e / 64) + e % 32] >> 4 * (e / 32 % 2) & 15;
    if (high)
      quant |= (high[e % 32] >> e / 32 & 1) << 4;
    out[e] = scaled(scale, quant, -minimum);
  }
}

void decodeQ6K(const uint8_t *low, float *out) {
  const uint8_t *high = low + 128, *scales = low + 192;
  const float d = halfAt(low + 208);
  for (uint32_t e = 0; e < 256; ++e) {
    const uint32_t half = e / 128, step = e / 32 % 4, l = e % 32;
    const int32_t quant =
        (low[64 * half + 32 * (step % 2) + l] >> 4 * (step / 2) & 15) | (high[32 * half + l] >> 2 * step & 3) << 4;
    const float scale = d * float(int8_t(scales[e / 16]));
    out[e] = scale * float(quant - 32);
  }
}

/// The elements of a step of 32 are e = 16h + 4q + i: two pieces, each of four groups of four neighbours.
enum { H, Q, I, FirstStep };

/// Quants, or some of their bits, `bits` wide, from `sourceBit` on, with strides in bits of h, q, i and of what makes
/// steps. Packed so that for each row four neighbours of k stand in four neighbouring bytes at the same bits: one mask,
/// and for other bits one shift, yields four of all 16 rows.
///   8 bits [step][h][q][row][i]     4 bits [step][q][row][i][h]
///   2 bits [step][h][row][i][q]     1 bit  [step][row][i][h][q]
LayoutField quantField(uint32_t bits, uint32_t sourceBit, uint32_t strideH, uint32_t strideQ, uint32_t strideI,
                       std::vector<LayoutSplit> steps = {}) {
  constexpr int32_t row = LayoutField::kRow;
  LayoutField field;
  field.bits = bits;
  field.sourceBit = sourceBit;
  field.splits = {{2, strideH}, {4, strideQ}, {4, strideI}};
  for (size_t i = 0; i < steps.size(); ++i)
    field.order.push_back(FirstStep + static_cast<int32_t>(i));
  field.splits.insert(field.splits.end(), steps.begin(), steps.end());
  const std::vector<int32_t> inStep = bits == 8   ? std::vector<int32_t>{H, Q, row, I}
                                      : bits == 4 ? std::vector<int32_t>{Q, row, I, H}
                                      : bits == 2 ? std::vector<int32_t>{H, row, I, Q}
                                                  : std::vector<int32_t>{row, I, H, Q};
  field.order.insert(field.order.end(), inStep.begin(), inStep.end());
  return field;
}

/// One number for each of `splits`, and row: 16 rows side by side.
LayoutField rowField(uint32_t bits, uint32_t sourceBit, std::vector<LayoutSplit> splits = {}) {
  LayoutField field;
  field.bits = bits;
  field.sourceBit = sourceBit;
  for (size_t i = 0; i < splits.size(); ++i)
    field.order.push_back(static_cast<int32_t>(i));
  field.order.push_back(LayoutField::kRow);
  field.splits = std::move(splits);
  return field;
}

/// Bytes whose `bits` low bits come first and whose others follow from elsewhere.
void addBytes(std::vector<LayoutField> &fields, LayoutField low, LayoutField high) {
  high.shift = low.bits;
  low.itemBits = high.itemBits = 8;
  fields.push_back(std::move(low));
  fields.push_back(std::move(high));
}
} // namespace

const Format &format(FormatKind kind) { return formats[static_cast<int>(kind)]; }

std::span<const Format> allFormats() { return formats; }

void decodeBlock(const Format &format, const uint8_t *bytes, float *out) {
  switch (format.kind) {
  case FormatKind::Q4_0: {
    const float d = halfAt(bytes);
    for (uint32_t e = 0; e < 32; ++e)
      out[e] = d * float(int(nibble(bytes + 2, e)) - 8);
    return;
  }
  case FormatKind::Q4_1: {
    const float d = halfAt(bytes), m = halfAt(bytes + 2);
    for (uint32_t e = 0; e < 32; ++e)
      out[e] = scaled(d, nibble(bytes + 4, e), m);
    return;
  }
  case FormatKind::Q5_0: {
    const float d = halfAt(bytes);
    for (uint32_t e = 0; e < 32; ++e)
      out[e] = d * float(int(nibble(bytes + 6, e) | bit(bytes + 2, e) << 4) - 16);
    return;
  }
  case FormatKind::Q5_1: {
    const float d = halfAt(bytes), m = halfAt(bytes + 2);
    for (uint32_t e = 0; e < 32; ++e)
      out[e] = scaled(d, nibble(bytes + 8, e) | bit(bytes + 4, e) << 4, m);
    return;
  }
  case FormatKind::Q8_0: {
    const float d = halfAt(bytes);
    for (uint32_t e = 0; e < 32; ++e)
      out[e] = d * float(int8_t(bytes[2 + e]));
    return;
  }
  case FormatKind::Q2_K:
    return decodeQ2K(bytes, out);
  case FormatKind::Q3_K:
    return decodeQ3K(bytes, out);
  case FormatKind::Q4_K:
    return decodeQ45K(bytes, nullptr, bytes + 16, out);
  case FormatKind::Q5_K:
    return decodeQ45K(bytes, bytes + 16, bytes + 48, out);
  case FormatKind::Q6_K:
    return decodeQ6K(bytes, out);
  case FormatKind::F16:
    for (uint32_t e = 0; e < 32; ++e)
      out[e] = halfAt(bytes + 2 * e);
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

LayoutDescriptor packedLayout(const Format &format, PackedFields *places) {
  LayoutDescriptor layout;
  layout.blockElements = format.blockElements;
  layout.blockBytes = format.blockBytes;
  layout.rowsPerGroup = 16;
  PackedFields at;
  std::vector<LayoutField> &fields = layout.fields;
  auto add = [&](int &place, LayoutField field) {
    place = static_cast<int>(fields.size());
    fields.push_back(std::move(field));
  };
  auto addJoined = [&](int &place, LayoutField low, LayoutField high) {
    place = static_cast<int>(fields.size());
    addBytes(fields, std::move(low), std::move(high));
  };
  const uint32_t sixteenth = 128; // strides in bits of bytes that hold one element of each step
  auto nibbles = [&](uint32_t byte, std::vector<LayoutSplit> steps = {}) {
    // Without steps the halves of a byte are 16 elements apart.
    const uint32_t strideH = steps.empty() ? 4 : sixteenth;
    add(at.low, quantField(4, 8 * byte, strideH, 32, 8, std::move(steps)));
  };
  auto scales = [&](uint32_t scale, uint32_t minimum = 0) {
    add(at.scale, rowField(16, 8 * scale));
    if (format.hasMinimum)
      add(at.minimum, rowField(16, 8 * minimum));
  };
  auto sixBitFactors = [&] {
    addJoined(at.scales, rowField(4, 32, {{2, 64}, {4, 8}}), rowField(2, 36, {{2, 2}, {4, 8}}));
    addJoined(at.minimums, rowField(4, 64, {{2, 36}, {4, 8}}), rowField(2, 68, {{2, 2}, {4, 8}}));
  };
  switch (format.kind) {
  case FormatKind::Q4_0:
    nibbles(2);
    scales(0);
    break;
  case FormatKind::Q4_1:
    nibbles(4);
    scales(0, 2);
    break;
  case FormatKind::Q5_0:
    nibbles(6);
    add(at.high, quantField(1, 16, 16, 4, 1));
    scales(0);
    break;
  case FormatKind::Q5_1:
    nibbles(8);
    add(at.high, quantField(1, 32, 16, 4, 1));
    scales(0, 2);
    break;
  case FormatKind::Q8_0:
    add(at.low, quantField(8, 16, sixteenth, 32, 8));
    fields.back().xorMask = 0x80; // offset by 128, so that integer products take them as unsigned
    scales(0);
    break;
  case FormatKind::Q2_K:
    add(at.low, quantField(2, 128, sixteenth, 32, 8, {{2, 256}, {4, 2}}));
    add(at.scales, rowField(8, 0, {{16, 8}}));
    scales(80, 82);
    break;
  case FormatKind::Q3_K:
    add(at.low, quantField(2, 256, sixteenth, 32, 8, {{2, 256}, {4, 2}}));
    add(at.high, quantField(1, 0, sixteenth, 32, 8, {{8, 1}}));
    addJoined(at.scales, rowField(4, 768, {{2, 4}, {8, 8}}), rowField(2, 832, {{2, 4}, {2, 2}, {4, 8}}));
    scales(108);
    break;
  case FormatKind::Q4_K:
    nibbles(16, {{4, 256}, {2, 4}});
    sixBitFactors();
    scales(0, 2);
    break;
  case FormatKind::Q5_K:
    nibbles(48, {{4, 256}, {2, 4}});
    add(at.high, quantField(1, 128, sixteenth, 32, 8, {{8, 1}}));
    sixBitFactors();
    scales(0, 2);
    break;
  case FormatKind::Q6_K:
    nibbles(0, {{2, 512}, {2, 4}, {2, 256}});
    add(at.high, quantField(2, 1024, sixteenth, 32, 8, {{2, 256}, {4, 2}}));
    add(at.scales, rowField(8, 1536, {{16, 8}}));
    scales(208);
    break;
  case FormatKind::Int8:
    layout.blockElements = layout.blockBytes = Format::stepElements;
    add(at.low, quantField(8, 0, sixteenth, 32, 8));
    fields.back().xorMask = 0x80;
    break;
  case FormatKind::F16:
  case FormatKind::BF16: {
    // [p][row][v]: pairs of k side by side, as the dot product of pairs reads them.
    LayoutField values;
    values.bits = 16;
    values.splits = {{16, 32}, {2, 16}};
    values.order = {0, LayoutField::kRow, 1};
    fields = {values};
    break;
  }
  }
  layout.name = std::string(format.name) + "_16x" + std::to_string(layout.blockElements);
  if (places)
    *places = at;
  return layout;
}

} // namespace tilewright::quantization
