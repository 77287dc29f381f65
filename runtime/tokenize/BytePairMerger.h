// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Byte-pair encoding of one word. Source: Sennrich et al., "Neural Machine Translation of Rare Words with Subword
// Units" (2016): while some neighbours have a merge, the best-ranked pair, the leftmost of equals, becomes one symbol.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tilewright {

/// Turns neighbours `left`, `right` into `result`; all are symbols. A lower `rank` is better.
struct Merge {
  int32_t left;
  int32_t right;
  int32_t result;
  uint32_t rank;
};

/// An immutable table of merges. Looks a pair up by binary search among the merges of its left side, so no choice of
/// merges makes it slow.
class MergeTable {
public:
  MergeTable() = default;
  /// Symbols must lie in [0, symbols) and pairs be distinct.
  MergeTable(std::vector<Merge> merges, size_t symbols);

  /// A pair's merge, or nullptr.
  const Merge *find(int32_t left, int32_t right) const;

private:
  std::vector<Merge> merges;       // grouped by left, ascending by right
  std::vector<uint32_t> groupEnds; // by left: where its group ends
};

/// Scratch space of the merging loop, reused from word to word. Belongs to one thread at a time.
class BytePairMerger {
public:
  explicit BytePairMerger(const MergeTable &table) : table(table) {}

  /// Appends to `out` what remains of a word's initial `symbols` (fewer than 2^32 - 1). O(n log n) time in their
  /// number, O(n) space, constant stack.
  void merge(std::span<const int32_t> symbols, std::vector<int32_t> &out);

private:
  struct Symbol {
    int32_t id; // kGone once merged into its left neighbour
    uint32_t previous;
    uint32_t next;
  };
  static constexpr int32_t kGone = -1;
  static constexpr uint32_t kNone = UINT32_MAX;

  void offer(uint32_t left);

  const MergeTable &table;
  std::vector<Symbol> word;
  // rank << 32 | index of the left symbol: the smallest is the best, then the leftmost.
  std::vector<uint64_t> heap;
};

} // namespace tilewright
