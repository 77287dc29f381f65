// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one packer: rows of a weight in the block format of its file become the packed layout of a LayoutDescriptor.
#pragma once

#include "runtime/api/layout.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tilewright {

/// Throws Error(INVALID) unless every split and kRow stands exactly once in each field's order, item widths are 1, 2,
/// 4, 8, 16 or 32 bits on their own alignment, no item lies outside the source block, no size overflows, each field
/// fills whole bytes, and what shares the items of the field before it has as many and fits into them.
void validateLayout(const LayoutDescriptor &layout);

/// Bytes of a packed weight of `rows` x `columns` elements. Throws Error(INVALID) for a bad shape (zero or negative
/// extents, overflow, columns that are no multiple of the block where a block is more than its elements one after
/// another). The layout must be valid.
uint64_t packedWeightBytes(const LayoutDescriptor &layout, int64_t rows, int64_t columns);

/// Packs one weight of `rows` x `columns` elements, group of rows by group of rows.
class Packer {
public:
  /// Throws Error(INVALID) for an invalid layout, shape or permutation. `permutation` as in the graph file: stored
  /// rows, seen as [dims...] and transposed by `perm`, are the graph's rows. The packed weight holds the graph's row
  /// order.
  Packer(LayoutDescriptor layout, int64_t rows, int64_t columns,
         const std::optional<RowPermutation> &permutation = std::nullopt);

  int64_t groups() const { return groupCount; }
  uint64_t groupBytes() const { return bytesPerGroup; }
  uint64_t packedBytes() const { return bytesPerGroup * static_cast<uint64_t>(groupCount); }
  uint64_t sourceRowBytes() const { return bytesPerSourceRow; }
  uint64_t sourceBytes() const { return bytesPerSourceRow * static_cast<uint64_t>(rowCount); }

  /// Packs row groups [first, first + count) into `out` (count * groupBytes() bytes). `source` is the whole stored
  /// weight (a mapped file: a permutation may reach any row). Throws Error(INVALID) when a size does not fit.
  void pack(std::span<const uint8_t> source, int64_t first, int64_t count, std::span<uint8_t> out) const;

  /// The inverse for one graph row: writes its sourceRowBytes() in block format. Source bits no field covers become 0.
  void unpackRow(std::span<const uint8_t> packed, int64_t row, std::span<uint8_t> out) const;

private:
  /// Bytes that keep their order: `length` of them from the source block to the packed block.
  struct Run {
    uint32_t source;
    uint32_t target; ///< of row 0 of the group
    uint32_t rowStep;
    uint32_t length;
    uint32_t mask; ///< exclusive-or for every 4 bytes, 0 for none
  };
  /// One item narrower than a byte; the target byte may be shared by items of a row, of rows or of fields.
  struct Bits {
    uint32_t source;
    uint32_t sourceShift;
    uint64_t target; ///< in bits, of row 0
    uint32_t rowStep;
    uint32_t ones; ///< as many as the item is wide
    uint32_t mask; ///< exclusive-or
  };

  void planField(const LayoutField &field, uint32_t fieldOffset);
  /// The inverse of packRow, from a whole group to a row of blocks.
  void unpackBlocks(const uint8_t *group, uint32_t row, int64_t blocks, uint8_t *out) const;
  void packRow(const uint8_t *source, uint8_t *group, uint32_t row, int64_t blocks) const;
  int64_t storedRow(int64_t row) const { return rowMap.empty() ? row : rowMap[static_cast<size_t>(row)]; }

  LayoutDescriptor layout;
  int64_t rowCount;
  int64_t groupCount;
  int64_t blocksPerRow;   ///< whole ones
  uint64_t tailBytes;     ///< of a row behind them; packed, the block is filled up with zeros
  uint64_t bytesPerBlock; ///< packed, all rows of a group
  uint64_t bytesPerGroup;
  uint64_t bytesPerSourceRow;
  std::vector<int64_t> rowMap; ///< graph row -> stored row; empty: the same
  std::vector<Run> runs;
  std::vector<Bits> parts;
  bool identity = false; ///< a packed row is the source row byte for byte
};

} // namespace tilewright
