// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packed weight layouts as data. One generic packer (runtime/module/Packer) turns the rows of a weight, in the block
// format of its file, into the canonical packed layout that every x86 level reads; a storage type supplies a
// descriptor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// One factor of an element's index inside its block. A block's element index is read as a mixed-radix number whose
/// digits are the splits of its field.
struct LayoutSplit {
  uint32_t extent;     ///< number of values of this digit
  uint32_t strideBits; ///< distance in the source block between neighbours, in bits
};

/// A run of equally wide items of a block (quants, scales, minimums).
struct LayoutField {
  uint32_t bits = 0;               ///< item width: 1, 2, 4, 8, 16 or 32
  uint32_t sourceBit = 0;          ///< where item 0 stands in the source block, in bits
  std::vector<LayoutSplit> splits; ///< product of extents = items per block
  /// Destination order, outermost first: an index into `splits`, or `kRow` for the row within its group. Every split
  /// and kRow stand exactly once. Items narrower than a byte fill it from its low bits.
  std::vector<int32_t> order;
  uint32_t xorMask = 0; ///< applied to each item (0x80 turns int8 into offset-128 bytes)
  /// Width of the packed items: 0 for `bits`, or 8 for narrower ones, which then take `bits` bits of it from bit
  /// `shift` on. A field with a shift lies in the items of the field before it: so the parts of a number come together
  /// that stand apart in the source block.
  uint32_t itemBits = 0;
  uint32_t shift = 0;

  static constexpr int32_t kRow = -1;
  uint32_t packedItemBits() const { return itemBits ? itemBits : bits; }
};

/// The canonical packed layout of a storage type: for each group of `rowsPerGroup` rows, for each block along K, the
/// fields one after another. Missing rows of the last group are zero bytes, and so are the missing elements of the last
/// block where a block is nothing but its elements. The packed weight is
/// [ceil(rows / rowsPerGroup)][ceil(K / blockElements)][packedBlockBytes()] bytes.
struct LayoutDescriptor {
  std::string name;           ///< for example "q4_1_16x32"
  uint32_t blockElements = 0; ///< elements of a block along K (32 for Q4_1)
  uint32_t blockBytes = 0;    ///< bytes of a source block (20 for Q4_1)
  uint32_t rowsPerGroup = 16;
  std::vector<LayoutField> fields;

  /// Items of one field in one source block.
  static uint64_t items(const LayoutField &field) {
    uint64_t n = 1;
    for (const LayoutSplit &s : field.splits)
      n *= s.extent;
    return n;
  }
  /// Bytes of one field for a whole row group.
  uint64_t fieldBytes(const LayoutField &field) const {
    return items(field) * rowsPerGroup * field.packedItemBits() / 8;
  }
  /// Offset of field `index` inside a packed block.
  uint64_t fieldOffset(size_t index) const {
    uint64_t begin = 0, end = 0;
    for (size_t i = 0; i <= index && i < fields.size(); ++i)
      if (fields[i].shift == 0) {
        begin = end;
        end += fieldBytes(fields[i]);
      }
    return index < fields.size() ? begin : end;
  }
  /// Bytes of one packed block (all fields, rowsPerGroup rows).
  uint64_t packedBlockBytes() const { return fieldOffset(fields.size()); }
};

/// Rows of a weight stand in its file in another order than the graph means: stored rows, seen as [dims...] and
/// transposed by `perm` (graph axis i is stored axis perm[i]), are the graph's rows. Interleaved rotary: dims [H, D/2,
/// 2], perm [0, 2, 1].
struct RowPermutation {
  std::vector<int64_t> dims;
  std::vector<uint32_t> perm;
};

} // namespace tilewright
