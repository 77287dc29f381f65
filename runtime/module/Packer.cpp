// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/Packer.h"

#include "runtime/api/Error.h"
#include "runtime/module/Checked.h"

#include <algorithm>
#include <cstring>

namespace tilewright {
namespace {

constexpr uint64_t kMaxBlockItems = 1u << 20;
constexpr uint64_t kMaxPackedBlockBytes = 1u << 30;

[[noreturn]] void invalid(const LayoutDescriptor &layout, const std::string &what) {
  throw Error(TW_INVALID, "layout '" + layout.name + "': " + what);
}

void validateField(const LayoutDescriptor &layout, size_t index) {
  const LayoutField &field = layout.fields[index];
  auto fail = [&](const std::string &what) { invalid(layout, "field " + std::to_string(index) + ": " + what); };

  if (field.bits == 0 || field.bits > 32 || (field.bits & (field.bits - 1)))
    fail("items of " + std::to_string(field.bits) + " bits, wanted 1, 2, 4, 8, 16 or 32");
  if (field.bits < 32 && field.xorMask >> field.bits)
    fail("xor mask " + std::to_string(field.xorMask) + " is wider than " + std::to_string(field.bits) + " bits");

  const uint32_t alignment = std::min(field.bits, 8u), packedBits = field.packedItemBits();
  if (packedBits != field.bits && (packedBits != 8 || field.bits > 8))
    fail("items of " + std::to_string(field.bits) + " bits packed as " + std::to_string(packedBits) +
         ", wanted as many or 8");
  if (field.shift > packedBits - field.bits)
    fail("items of " + std::to_string(field.bits) + " bits from bit " + std::to_string(field.shift) + " of " +
         std::to_string(packedBits) + " on");
  if (field.sourceBit % alignment)
    fail("first item at bit " + std::to_string(field.sourceBit) + ", wanted a multiple of " +
         std::to_string(alignment));
  uint64_t items = 1;
  uint64_t lastBit = field.sourceBit;
  for (const LayoutSplit &split : field.splits) {
    if (split.extent == 0)
      fail("a split has extent 0");
    if (split.strideBits % alignment)
      fail("stride of " + std::to_string(split.strideBits) + " bits, wanted a multiple of " +
           std::to_string(alignment));
    items *= split.extent; // both factors are at most 2^32 here
    if (items > kMaxBlockItems)
      fail("more than " + std::to_string(kMaxBlockItems) + " items in a block");
    lastBit += static_cast<uint64_t>(split.extent - 1) * split.strideBits;
  }
  if (lastBit + field.bits > static_cast<uint64_t>(layout.blockBytes) * 8)
    fail("its last item ends at bit " + std::to_string(lastBit + field.bits) + " of a block of " +
         std::to_string(static_cast<uint64_t>(layout.blockBytes) * 8) + " bits");

  if (field.order.size() != field.splits.size() + 1)
    fail("order has " + std::to_string(field.order.size()) + " entries, wanted each of " +
         std::to_string(field.splits.size()) + " splits and the row once");
  std::vector<int32_t> sorted = field.order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int32_t>(i) + LayoutField::kRow)
      fail("order does not name each split and the row exactly once");
  if (items * layout.rowsPerGroup * packedBits % 8)
    fail("does not fill whole bytes");
  if (field.shift && (index == 0 || layout.fields[index - 1].packedItemBits() != packedBits ||
                      LayoutDescriptor::items(layout.fields[index - 1]) != items))
    fail("has a shift, but the field before it has not as many items of " + std::to_string(packedBits) + " bits");
}

/// graph row -> stored row for stored rows seen as [dims...] and transposed by perm.
std::vector<int64_t> invertPermutation(const RowPermutation &permutation, int64_t rows) {
  const size_t rank = permutation.dims.size();
  auto fail = [](const std::string &what) { throw Error(TW_INVALID, "row permutation: " + what); };
  if (rank == 0 || permutation.perm.size() != rank)
    fail(std::to_string(rank) + " dims and " + std::to_string(permutation.perm.size()) + " entries in perm");
  std::vector<bool> seen(rank, false);
  for (uint32_t axis : permutation.perm) {
    if (axis >= rank || seen[axis])
      fail("perm does not name each of " + std::to_string(rank) + " axes once");
    seen[axis] = true;
  }
  uint64_t product = 1;
  for (int64_t dim : permutation.dims) {
    if (dim < 1)
      fail("dim " + std::to_string(dim));
    product = checkedMul(product, static_cast<uint64_t>(dim), "row permutation");
  }
  if (product != static_cast<uint64_t>(rows))
    fail("dims hold " + std::to_string(product) + " rows, the weight has " + std::to_string(rows));

  std::vector<int64_t> stride(rank, 1); // of the stored view
  for (size_t i = rank - 1; i-- > 0;)
    stride[i] = stride[i + 1] * permutation.dims[i + 1];
  std::vector<int64_t> map(static_cast<size_t>(rows));
  std::vector<int64_t> index(rank, 0); // of the graph's view: axis i is stored axis perm[i]
  for (int64_t row = 0; row < rows; ++row) {
    int64_t stored = 0;
    for (size_t i = 0; i < rank; ++i)
      stored += index[i] * stride[permutation.perm[i]];
    map[static_cast<size_t>(row)] = stored;
    for (size_t i = rank; i-- > 0;) {
      if (++index[i] < permutation.dims[permutation.perm[i]])
        break;
      index[i] = 0;
    }
  }
  return map;
}

template <size_t N> void copyBlocks(const uint8_t *from, uint8_t *to, int64_t blocks, size_t fromStep, size_t toStep) {
  for (int64_t b = 0; b < blocks; ++b, from += fromStep, to += toStep)
    std::memcpy(to, from, N);
}

void copyRun(const uint8_t *from, uint8_t *to, size_t length, int64_t blocks, size_t fromStep, size_t toStep) {
  switch (length) {
  case 1:
    return copyBlocks<1>(from, to, blocks, fromStep, toStep);
  case 2:
    return copyBlocks<2>(from, to, blocks, fromStep, toStep);
  case 4:
    return copyBlocks<4>(from, to, blocks, fromStep, toStep);
  case 8:
    return copyBlocks<8>(from, to, blocks, fromStep, toStep);
  case 16:
    return copyBlocks<16>(from, to, blocks, fromStep, toStep);
  case 32:
    return copyBlocks<32>(from, to, blocks, fromStep, toStep);
  }
  for (int64_t b = 0; b < blocks; ++b, from += fromStep, to += toStep)
    std::memcpy(to, from, length);
}

/// Bytes of the 32-bit pattern that item masks repeat to: a run starts on an item, so byte k takes pattern byte k % 4.
void xorRun(uint8_t *bytes, size_t length, uint32_t pattern, int64_t blocks, size_t step) {
  for (int64_t b = 0; b < blocks; ++b, bytes += step)
    for (size_t k = 0; k < length; ++k)
      bytes[k] ^= static_cast<uint8_t>(pattern >> (8 * (k % 4)));
}

uint32_t repeatMask(uint32_t mask, uint32_t bits) {
  for (; bits < 32; bits *= 2)
    mask |= mask << bits;
  return mask;
}

} // namespace

void validateLayout(const LayoutDescriptor &layout) {
  if (layout.blockElements == 0 || layout.blockBytes == 0 || layout.rowsPerGroup == 0)
    invalid(layout, "block of " + std::to_string(layout.blockElements) + " elements and " +
                        std::to_string(layout.blockBytes) + " bytes, " + std::to_string(layout.rowsPerGroup) +
                        " rows in a group: each must be at least 1");
  if (layout.blockBytes > kMaxPackedBlockBytes || layout.rowsPerGroup > kMaxBlockItems)
    invalid(layout, "block of " + std::to_string(layout.blockBytes) + " bytes or group of " +
                        std::to_string(layout.rowsPerGroup) + " rows is beyond the limit");
  if (layout.fields.empty())
    invalid(layout, "it has no fields");
  uint64_t packed = 0;
  for (size_t i = 0; i < layout.fields.size(); ++i) {
    validateField(layout, i);
    packed += layout.fieldBytes(layout.fields[i]);
    if (packed > kMaxPackedBlockBytes)
      invalid(layout, "a packed block is larger than " + std::to_string(kMaxPackedBlockBytes) + " bytes");
  }
}

/// Bytes of a source element where a block is nothing but its elements one after another; else 0.
static uint32_t sourceElementBytes(const LayoutDescriptor &layout) {
  if (layout.fields.size() != 1 || layout.blockBytes % layout.blockElements)
    return 0;
  const LayoutField &field = layout.fields[0];
  const uint32_t bytes = layout.blockBytes / layout.blockElements;
  return field.bits == bytes * 8 && LayoutDescriptor::items(field) == layout.blockElements ? bytes : 0;
}

uint64_t packedWeightBytes(const LayoutDescriptor &layout, int64_t rows, int64_t columns) {
  if (rows < 1 || columns < 1 || (columns % layout.blockElements && !sourceElementBytes(layout)))
    throw Error(TW_INVALID, "layout '" + layout.name + "' on a weight of " + std::to_string(rows) + " x " +
                                std::to_string(columns) +
                                " elements: wanted positive extents and columns in blocks of " +
                                std::to_string(layout.blockElements));
  const uint64_t groups = (static_cast<uint64_t>(rows) + layout.rowsPerGroup - 1) / layout.rowsPerGroup;
  const uint64_t blocks = (static_cast<uint64_t>(columns) + layout.blockElements - 1) / layout.blockElements;
  return checkedMul(checkedMul(groups, blocks, "packed weight"), layout.packedBlockBytes(), "packed weight");
}

Packer::Packer(LayoutDescriptor descriptor, int64_t rows, int64_t columns,
               const std::optional<RowPermutation> &permutation)
    : layout(std::move(descriptor)), rowCount(rows) {
  validateLayout(layout);
  const uint64_t total = packedWeightBytes(layout, rows, columns);
  groupCount = (rows + layout.rowsPerGroup - 1) / layout.rowsPerGroup;
  blocksPerRow = columns / layout.blockElements;
  tailBytes = static_cast<uint64_t>(columns % layout.blockElements) * sourceElementBytes(layout);
  bytesPerBlock = layout.packedBlockBytes();
  bytesPerGroup = total / static_cast<uint64_t>(groupCount);
  bytesPerSourceRow = checkedAdd(checkedMul(static_cast<uint64_t>(blocksPerRow), layout.blockBytes, "source row"),
                                 tailBytes, "source row");
  checkedMul(bytesPerSourceRow, static_cast<uint64_t>(rows), "source weight");
  if (permutation)
    rowMap = invertPermutation(*permutation, rows);
  for (size_t i = 0; i < layout.fields.size(); ++i)
    planField(layout.fields[i], static_cast<uint32_t>(layout.fieldOffset(i)));
  identity = layout.rowsPerGroup == 1 && parts.empty() && runs.size() == 1 && runs[0].source == 0 &&
             runs[0].target == 0 && runs[0].mask == 0 && runs[0].length == layout.blockBytes &&
             bytesPerBlock == layout.blockBytes && tailBytes == 0;
}

void Packer::planField(const LayoutField &field, uint32_t fieldOffset) {
  // Distance between neighbours of each digit in the packed field, in items.
  std::vector<uint64_t> step(field.splits.size());
  uint64_t rowStep = 0;
  uint64_t inner = 1;
  for (size_t i = field.order.size(); i-- > 0;) {
    const int32_t digit = field.order[i];
    if (digit == LayoutField::kRow) {
      rowStep = inner;
      inner *= layout.rowsPerGroup;
    } else {
      step[static_cast<size_t>(digit)] = inner;
      inner *= field.splits[static_cast<size_t>(digit)].extent;
    }
  }
  struct Item {
    uint64_t target; ///< in items
    uint64_t sourceBit;
  };
  std::vector<Item> items;
  std::vector<uint32_t> index(field.splits.size(), 0);
  const uint64_t count = LayoutDescriptor::items(field);
  for (uint64_t n = 0; n < count; ++n) {
    Item item{0, field.sourceBit};
    for (size_t i = 0; i < index.size(); ++i) {
      item.target += index[i] * step[i];
      item.sourceBit += static_cast<uint64_t>(index[i]) * field.splits[i].strideBits;
    }
    items.push_back(item);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < field.splits[i].extent)
        break;
      index[i] = 0;
    }
  }
  std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) { return a.target < b.target; });

  const size_t firstRun = runs.size();
  auto addBytes = [&](uint64_t source, uint64_t target, uint32_t length, uint32_t rowStepBytes) {
    if (runs.size() > firstRun) {
      Run &last = runs.back();
      if (last.source + last.length == source && last.target + last.length == target) {
        last.length += length;
        return;
      }
    }
    runs.push_back({static_cast<uint32_t>(source), static_cast<uint32_t>(target), rowStepBytes, length,
                    repeatMask(field.xorMask, field.bits)});
  };

  if (field.bits >= 8) {
    const uint32_t bytes = field.bits / 8;
    for (const Item &item : items)
      addBytes(item.sourceBit / 8, fieldOffset + item.target * bytes, bytes, static_cast<uint32_t>(rowStep * bytes));
    return;
  }
  const uint64_t packedBits = field.packedItemBits(), inByte = 8 / packedBits;
  for (size_t i = 0; i < items.size(); ++i) {
    // Neighbours that fill a target byte as they fill a source byte move together.
    bool together = inByte > 1 && rowStep % inByte == 0 && items[i].target % inByte == 0 &&
                    items[i].sourceBit % 8 == 0 && i + inByte <= items.size();
    for (size_t k = 1; together && k < inByte; ++k)
      together =
          items[i + k].target == items[i].target + k && items[i + k].sourceBit == items[i].sourceBit + k * field.bits;
    if (together) {
      addBytes(items[i].sourceBit / 8, fieldOffset + items[i].target / inByte, 1,
               static_cast<uint32_t>(rowStep / inByte));
      i += inByte - 1;
      continue;
    }
    parts.push_back({static_cast<uint32_t>(items[i].sourceBit / 8), static_cast<uint32_t>(items[i].sourceBit % 8),
                     8 * static_cast<uint64_t>(fieldOffset) + items[i].target * packedBits + field.shift,
                     static_cast<uint32_t>(rowStep * packedBits), (1u << field.bits) - 1, field.xorMask});
  }
}

void Packer::packRow(const uint8_t *source, uint8_t *group, uint32_t row, int64_t blocks) const {
  for (const Run &run : runs) {
    uint8_t *to = group + run.target + static_cast<size_t>(run.rowStep) * row;
    copyRun(source + run.source, to, run.length, blocks, layout.blockBytes, bytesPerBlock);
    if (run.mask)
      xorRun(to, run.length, run.mask, blocks, bytesPerBlock);
  }
  for (const Bits &part : parts) {
    const uint64_t bit = part.target + static_cast<uint64_t>(part.rowStep) * row;
    const uint8_t *from = source + part.source;
    uint8_t *to = group + bit / 8;
    for (int64_t b = 0; b < blocks; ++b, from += layout.blockBytes, to += bytesPerBlock)
      *to |= static_cast<uint8_t>((((*from >> part.sourceShift) & part.ones) ^ part.mask) << bit % 8);
  }
}

void Packer::pack(std::span<const uint8_t> source, int64_t first, int64_t count, std::span<uint8_t> out) const {
  if (first < 0 || count < 0 || first > groupCount || count > groupCount - first)
    throw Error(TW_INVALID, "row groups [" + std::to_string(first) + ", +" + std::to_string(count) + ") of " +
                                std::to_string(groupCount));
  if (source.size() != sourceBytes())
    throw Error(TW_INVALID, "source weight has " + std::to_string(source.size()) + " bytes, wanted " +
                                std::to_string(sourceBytes()));
  if (out.size() != static_cast<uint64_t>(count) * bytesPerGroup)
    throw Error(TW_INVALID, "packed buffer has " + std::to_string(out.size()) + " bytes, wanted " +
                                std::to_string(static_cast<uint64_t>(count) * bytesPerGroup));
  // A stretch of blocks small enough that the group's part of it stays in the first-level cache.
  const int64_t stretch = std::max<int64_t>(1, static_cast<int64_t>(16384 / bytesPerBlock));
  for (int64_t g = 0; g < count; ++g) {
    uint8_t *group = out.data() + static_cast<uint64_t>(g) * bytesPerGroup;
    const int64_t firstRow = (first + g) * layout.rowsPerGroup;
    const uint32_t rows = static_cast<uint32_t>(std::min<int64_t>(layout.rowsPerGroup, rowCount - firstRow));
    if (identity) {
      std::memcpy(group, source.data() + static_cast<uint64_t>(storedRow(firstRow)) * bytesPerSourceRow,
                  bytesPerSourceRow);
      continue;
    }
    if (rows < layout.rowsPerGroup || !parts.empty()) // parts of bytes are merged in
      std::memset(group, 0, bytesPerGroup);
    for (int64_t block = 0; block < blocksPerRow; block += stretch)
      for (uint32_t row = 0; row < rows; ++row)
        packRow(source.data() + static_cast<uint64_t>(storedRow(firstRow + row)) * bytesPerSourceRow +
                    static_cast<uint64_t>(block) * layout.blockBytes,
                group + static_cast<uint64_t>(block) * bytesPerBlock, row, std::min(stretch, blocksPerRow - block));
    if (tailBytes == 0)
      continue;
    std::vector<uint8_t> tail(layout.blockBytes, 0);
    for (uint32_t row = 0; row < rows; ++row) {
      std::memcpy(tail.data(),
                  source.data() + static_cast<uint64_t>(storedRow(firstRow + row) + 1) * bytesPerSourceRow - tailBytes,
                  tailBytes);
      packRow(tail.data(), group + static_cast<uint64_t>(blocksPerRow) * bytesPerBlock, row, 1);
    }
  }
}

void Packer::unpackRow(std::span<const uint8_t> packed, int64_t row, std::span<uint8_t> out) const {
  if (row < 0 || row >= rowCount)
    throw Error(TW_INVALID, "row " + std::to_string(row) + " of " + std::to_string(rowCount));
  if (packed.size() != packedBytes() || out.size() != bytesPerSourceRow)
    throw Error(TW_INVALID, "packed weight of " + std::to_string(packed.size()) + " bytes and row of " +
                                std::to_string(out.size()) + " bytes, wanted " + std::to_string(packedBytes()) +
                                " and " + std::to_string(bytesPerSourceRow));
  std::fill(out.begin(), out.end(), uint8_t{0});
  const uint8_t *group = packed.data() + static_cast<uint64_t>(row / layout.rowsPerGroup) * bytesPerGroup;
  const uint32_t inGroup = static_cast<uint32_t>(row % layout.rowsPerGroup);
  unpackBlocks(group, inGroup, blocksPerRow, out.data());
  if (tailBytes == 0)
    return;
  std::vector<uint8_t> tail(layout.blockBytes, 0);
  unpackBlocks(group + static_cast<uint64_t>(blocksPerRow) * bytesPerBlock, inGroup, 1, tail.data());
  std::memcpy(out.data() + bytesPerSourceRow - tailBytes, tail.data(), tailBytes);
}

void Packer::unpackBlocks(const uint8_t *group, uint32_t row, int64_t blocks, uint8_t *out) const {
  for (const Run &run : runs) {
    uint8_t *to = out + run.source;
    copyRun(group + run.target + static_cast<size_t>(run.rowStep) * row, to, run.length, blocks, bytesPerBlock,
            layout.blockBytes);
    if (run.mask)
      xorRun(to, run.length, run.mask, blocks, layout.blockBytes);
  }
  for (const Bits &part : parts) {
    const uint64_t bit = part.target + static_cast<uint64_t>(part.rowStep) * row;
    for (int64_t b = 0; b < blocks; ++b) {
      const uint32_t value = (group[static_cast<uint64_t>(b) * bytesPerBlock + bit / 8] >> bit % 8) & part.ones;
      uint8_t &to = out[static_cast<uint64_t>(b) * layout.blockBytes + part.source];
      const uint32_t item = value ^ part.mask;
      to = static_cast<uint8_t>((to & ~(part.ones << part.sourceShift)) | item << part.sourceShift);
    }
  }
}

} // namespace tilewright
