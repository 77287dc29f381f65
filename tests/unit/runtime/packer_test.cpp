// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/Packer.h"

#include "runtime/api/Error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

using namespace tilewright;

namespace {

constexpr int32_t kRow = LayoutField::kRow;

// Block of 32: f16 d, f16 m, 16 bytes; element e < 16 is the low nibble of byte e, else the high nibble of byte e - 16.
LayoutDescriptor q4_1() {
  return {"q4_1_16x32",
          32,
          20,
          16,
          {{4, 32, {{2, 4}, {4, 32}, {4, 8}}, {1, kRow, 2, 0}}, {16, 0, {}, {kRow}}, {16, 16, {}, {kRow}}}};
}

LayoutDescriptor q4_0() {
  return {"q4_0_16x32", 32, 18, 16, {{4, 16, {{2, 4}, {4, 32}, {4, 8}}, {1, kRow, 2, 0}}, {16, 0, {}, {kRow}}}};
}

// Block of 32: f16 d, 32 int8; packed as offset-128 bytes.
LayoutDescriptor q8_0() {
  return {"q8_0_16x32", 32, 34, 16, {{8, 16, {{8, 32}, {4, 8}}, {0, kRow, 1}, 0x80}, {16, 0, {}, {kRow}}}};
}

LayoutDescriptor bf16() { return {"bf16_16x2", 2, 4, 16, {{16, 0, {{2, 16}}, {kRow, 0}}}}; }
LayoutDescriptor f16Rows() { return {"f16_rows", 1, 2, 1, {{16, 0, {}, {kRow}}}}; }
LayoutDescriptor f32Group() { return {"f32_16x1", 1, 4, 16, {{32, 0, {}, {kRow}}}}; }

std::vector<uint8_t> randomBytes(size_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<uint8_t> bytes(n);
  for (uint8_t &b : bytes)
    b = static_cast<uint8_t>(engine());
  return bytes;
}

std::vector<uint8_t> packAll(const Packer &packer, const std::vector<uint8_t> &source) {
  std::vector<uint8_t> out(packer.packedBytes(), 0xcc);
  packer.pack(source, 0, packer.groups(), out);
  return out;
}

std::string failure(const std::function<void()> &body) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), TW_INVALID);
    return error.message();
  }
  return "no error";
}

} // namespace

TEST(Packer, PlacesFourBitBlocksWithMinimum) {
  constexpr int rows = 37, blocks = 3;
  const std::vector<uint8_t> source = randomBytes(rows * blocks * 20, 1);
  Packer packer(q4_1(), rows, blocks * 32);
  ASSERT_EQ(packer.packedBytes(), 3u * blocks * 320);
  const std::vector<uint8_t> packed = packAll(packer, source);

  std::vector<uint8_t> wanted(packed.size(), 0);
  for (int row = 0; row < rows; ++row)
    for (int b = 0; b < blocks; ++b) {
      const uint8_t *block = &source[static_cast<size_t>((row * blocks + b) * 20)];
      uint8_t *out = &wanted[static_cast<size_t>((row / 16 * blocks + b) * 320)];
      auto element = [&](int e) { return e < 16 ? block[4 + e] & 15 : block[4 + e - 16] >> 4; };
      for (int q = 0; q < 4; ++q)
        for (int i = 0; i < 4; ++i)
          out[q * 64 + row % 16 * 4 + i] = static_cast<uint8_t>(element(q * 4 + i) | element(16 + q * 4 + i) << 4);
      std::memcpy(out + 256 + row % 16 * 2, block, 2);
      std::memcpy(out + 288 + row % 16 * 2, block + 2, 2);
    }
  EXPECT_EQ(packed, wanted);
}

TEST(Packer, PlacesFourBitBlocks) {
  constexpr int rows = 16, blocks = 2;
  const std::vector<uint8_t> source = randomBytes(rows * blocks * 18, 2);
  const std::vector<uint8_t> packed = packAll(Packer(q4_0(), rows, blocks * 32), source);
  for (int row = 0; row < rows; ++row)
    for (int b = 0; b < blocks; ++b)
      for (int k = 0; k < 16; ++k) // low nibble element k, high nibble element k + 16: the source byte itself
        EXPECT_EQ(packed[static_cast<size_t>(b * 288 + k / 4 * 64 + row * 4 + k % 4)],
                  source[static_cast<size_t>((row * blocks + b) * 18 + 2 + k)]);
}

TEST(Packer, PlacesBytesWithOffset) {
  constexpr int rows = 17, blocks = 2;
  const std::vector<uint8_t> source = randomBytes(rows * blocks * 34, 3);
  const std::vector<uint8_t> packed = packAll(Packer(q8_0(), rows, blocks * 32), source);
  constexpr size_t block = 32 * 16 + 32;
  for (int row = 0; row < rows; ++row)
    for (int b = 0; b < blocks; ++b) {
      const uint8_t *from = &source[static_cast<size_t>((row * blocks + b) * 34)];
      const uint8_t *out = &packed[static_cast<size_t>(row / 16 * blocks + b) * block];
      for (int k = 0; k < 32; ++k)
        ASSERT_EQ(out[k / 4 * 64 + row % 16 * 4 + k % 4], from[2 + k] ^ 0x80) << row << " " << b << " " << k;
      EXPECT_EQ(0, std::memcmp(out + 512 + row % 16 * 2, from, 2));
    }
  // Rows 17..31 do not exist: zero bytes, not the offset.
  EXPECT_EQ(packed[static_cast<size_t>(blocks) * block + 4], 0);
}

TEST(Packer, PlacesPairsOfHalfWords) {
  constexpr int rows = 18, columns = 6;
  const std::vector<uint8_t> source = randomBytes(rows * columns * 2, 4);
  const std::vector<uint8_t> packed = packAll(Packer(bf16(), rows, columns), source);
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < columns; ++k) // [N/16][K/2][16][2]
      EXPECT_EQ(0, std::memcmp(&packed[static_cast<size_t>((((row / 16 * 3 + k / 2) * 16) + row % 16) * 4 + k % 2 * 2)],
                               &source[static_cast<size_t>((row * columns + k) * 2)], 2));
}

TEST(Packer, CopiesPlainRowsAndTransposesGroups) {
  const std::vector<uint8_t> halves = randomBytes(5 * 7 * 2, 5);
  EXPECT_EQ(packAll(Packer(f16Rows(), 5, 7), halves), halves);

  const std::vector<uint8_t> words = randomBytes(16 * 3 * 4, 6);
  const std::vector<uint8_t> packed = packAll(Packer(f32Group(), 16, 3), words);
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < 3; ++k)
      EXPECT_EQ(0, std::memcmp(&packed[static_cast<size_t>(k * 16 + row) * 4],
                               &words[static_cast<size_t>(row * 3 + k) * 4], 4));
}

// Two rows share a byte, and a byte's halves change places: both go through the half-byte path.
TEST(Packer, MergesHalfBytesOfNeighbouringRows) {
  const LayoutDescriptor layout{"pairs", 2, 1, 2, {{4, 0, {{2, 4}}, {0, kRow}, 0xf}}};
  const std::vector<uint8_t> source = {0x21, 0x43, 0x65}; // rows 0, 1, 2: low half first
  EXPECT_EQ(packAll(Packer(layout, 3, 2), source), (std::vector<uint8_t>{0xce, 0xbd, 0x0a, 0x09}));
  const LayoutDescriptor swapped{"swapped", 2, 1, 1, {{4, 4, {}, {kRow}}, {4, 0, {}, {kRow}}}};
  EXPECT_NE(failure([&] { validateLayout(swapped); }).find("does not fill whole bytes"), std::string::npos);
}

// A number of six bits, four of which stand in one byte and two in another, becomes a byte; single bits go side by
// side.
TEST(Packer, JoinsPartsOfNumbers) {
  LayoutField low{4, 0, {{2, 4}}, {0, kRow}}, high{2, 8, {{2, 2}}, {0, kRow}}, bits{1, 12, {{4, 1}}, {kRow, 0}};
  low.itemBits = high.itemBits = 8;
  high.shift = 4;
  const LayoutDescriptor layout{"six", 2, 2, 2, {low, high, bits}};
  EXPECT_EQ(layout.fieldOffset(1), layout.fieldOffset(0));
  EXPECT_EQ(layout.packedBlockBytes(), 5u);
  const std::vector<uint8_t> source = {0x21, 0x5b, 0x43, 0xa4}; // rows 0 and 1
  EXPECT_EQ(packAll(Packer(layout, 2, 2), source), (std::vector<uint8_t>{0x31, 0x03, 0x22, 0x14, 0xa5}));
}

TEST(Packer, UnpackReturnsEveryRow) {
  for (const LayoutDescriptor &layout : {q4_1(), q4_0(), q8_0(), bf16(), f16Rows(), f32Group(),
                                         LayoutDescriptor{"pairs", 2, 1, 2, {{4, 0, {{2, 4}}, {0, kRow}, 0x5}}},
                                         LayoutDescriptor{"bits", 8, 1, 1, {{1, 0, {{2, 1}, {4, 2}}, {0, 1, kRow}}}}}) {
    const int64_t columns = 4 * layout.blockElements;
    Packer packer(layout, 35, columns);
    const std::vector<uint8_t> source = randomBytes(packer.sourceBytes(), 7);
    const std::vector<uint8_t> packed = packAll(packer, source);
    std::vector<uint8_t> row(packer.sourceRowBytes());
    for (int64_t r = 0; r < 35; ++r) {
      packer.unpackRow(packed, r, row);
      ASSERT_EQ(0, std::memcmp(row.data(), &source[static_cast<size_t>(r) * row.size()], row.size()))
          << layout.name << " row " << r;
    }
  }
}

TEST(Packer, PiecesEqualTheWhole) {
  Packer packer(q4_1(), 70, 64);
  const std::vector<uint8_t> source = randomBytes(packer.sourceBytes(), 8);
  const std::vector<uint8_t> whole = packAll(packer, source);
  std::vector<uint8_t> pieces;
  for (int64_t g = 0; g < packer.groups(); g += 2) {
    std::vector<uint8_t> piece(packer.groupBytes() * static_cast<uint64_t>(std::min<int64_t>(2, packer.groups() - g)));
    packer.pack(source, g, std::min<int64_t>(2, packer.groups() - g), piece);
    pieces.insert(pieces.end(), piece.begin(), piece.end());
  }
  EXPECT_EQ(pieces, whole);
}

// Interleaved rotary of 3 heads with 8 dims: graph row (head, half, pair) is stored row (head, pair, half).
TEST(Packer, AppliesRowPermutation) {
  Packer packer(f16Rows(), 24, 1, RowPermutation{{3, 4, 2}, {0, 2, 1}});
  std::vector<uint8_t> source(48, 0);
  for (size_t r = 0; r < 24; ++r)
    source[2 * r] = static_cast<uint8_t>(r);
  const std::vector<uint8_t> packed = packAll(packer, source);
  for (size_t h = 0; h < 3; ++h)
    for (size_t half = 0; half < 2; ++half)
      for (size_t pair = 0; pair < 4; ++pair)
        EXPECT_EQ(packed[2 * (h * 8 + half * 4 + pair)], h * 8 + pair * 2 + half);

  EXPECT_NE(
      failure([] { Packer(f16Rows(), 24, 1, RowPermutation{{3, 4}, {0, 1}}); }).find("hold 12 rows, the weight has 24"),
      std::string::npos);
  EXPECT_NE(failure([] { Packer(f16Rows(), 24, 1, RowPermutation{{6, 4}, {1, 1}}); }).find("each of 2 axes once"),
            std::string::npos);
  EXPECT_NE(failure([] { Packer(f16Rows(), 24, 1, RowPermutation{{6, -4}, {0, 1}}); }).find("dim -4"),
            std::string::npos);
}

TEST(Packer, RefusesBadDescriptors) {
  auto with = [](const std::function<void(LayoutDescriptor &)> &change) {
    LayoutDescriptor layout = q4_1();
    change(layout);
    return failure([&] { validateLayout(layout); });
  };
  auto contains = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nwanted: " << part;
  };
  validateLayout(q4_1());
  contains(with([](auto &l) { l.fields[0].bits = 5; }), "items of 5 bits, wanted 1, 2, 4, 8, 16 or 32");
  contains(with([](auto &l) { l.fields[0].order = {1, kRow, 2, 2}; }), "exactly once");
  contains(with([](auto &l) { l.fields[0].order = {1, 0, 2, 3}; }), "exactly once");
  contains(with([](auto &l) { l.fields[0].order = {1, kRow, 2}; }), "order has 3 entries");
  contains(with([](auto &l) { l.fields[0].splits[1].extent = 0; }), "extent 0");
  contains(with([](auto &l) { l.fields[0].splits[1].extent = 5; }), "ends at bit 192 of a block of 160 bits");
  contains(with([](auto &l) { l.fields[0].splits[1] = {1u << 30, 4u << 28}; }), "items in a block");
  contains(with([](auto &l) { l.fields[0].splits[1] = {1u << 16, 4u << 28}; }), "of a block of 160 bits");
  contains(with([](auto &l) { l.fields[0].splits[0].strideBits = 2; }), "wanted a multiple of 4");
  contains(with([](auto &l) { l.fields[1].sourceBit = 4; }), "wanted a multiple of 8");
  contains(with([](auto &l) { l.fields[0].xorMask = 16; }), "wider than 4 bits");
  contains(with([](auto &l) { l.fields[0].itemBits = 16; }), "items of 4 bits packed as 16, wanted as many or 8");
  contains(with([](auto &l) { l.fields[0].shift = 1; }), "items of 4 bits from bit 1 of 4 on");
  contains(with([](auto &l) {
             l.fields[0].itemBits = 8;
             l.fields[0].shift = 4;
           }),
           "has a shift, but the field before it has not as many items of 8 bits");
  contains(with([](auto &l) {
             l.fields[2].bits = 4;
             l.fields[2].itemBits = 8;
             l.fields[2].shift = 4;
           }),
           "has a shift, but the field before it has not as many items of 8 bits");
  contains(with([](auto &l) { l.rowsPerGroup = 0; }), "each must be at least 1");
  contains(with([](auto &l) { l.rowsPerGroup = 1u << 31; }), "beyond the limit");
  contains(with([](auto &l) { l.fields.clear(); }), "no fields");
  contains(failure([] { Packer(q4_1(), 16, 33); }), "columns in blocks of 32");
  contains(failure([] { Packer(q4_1(), 0, 32); }), "positive extents");
  contains(failure([] { Packer(q4_1(), INT64_MAX / 2, INT64_MAX / 32 * 32); }), "too large");
  contains(failure([] {
             Packer packer(q4_1(), 16, 32);
             std::vector<uint8_t> out(320);
             packer.pack(std::vector<uint8_t>(319), 0, 1, out);
           }),
           "source weight has 319 bytes, wanted 320");
}
