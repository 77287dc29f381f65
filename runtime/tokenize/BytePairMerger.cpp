// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/BytePairMerger.h"

#include <algorithm>
#include <functional>

namespace tilewright {

MergeTable::MergeTable(std::vector<Merge> list, size_t tokens) : merges(std::move(list)), groupEnds(tokens, 0) {
  for (const Merge &merge : merges)
    ++groupEnds[merge.left];
  uint32_t sum = 0;
  for (uint32_t &end : groupEnds) {
    sum += end;
    end = sum - end; // the group's begin, which filling moves to its end
  }
  entries.resize(merges.size());
  for (uint32_t rank = 0; rank < merges.size(); ++rank)
    entries[groupEnds[merges[rank].left]++] = {merges[rank].right, rank};
  for (size_t left = 0; left < tokens; ++left)
    std::sort(entries.begin() + (left ? groupEnds[left - 1] : 0), entries.begin() + groupEnds[left],
              [](const Entry &a, const Entry &b) { return a.right < b.right; });
}

std::optional<uint32_t> MergeTable::find(int32_t left, int32_t right) const {
  const auto begin = entries.begin() + (left ? groupEnds[left - 1] : 0), end = entries.begin() + groupEnds[left];
  const auto found =
      std::lower_bound(begin, end, right, [](const Entry &entry, int32_t wanted) { return entry.right < wanted; });
  if (found == end || found->right != right)
    return std::nullopt;
  return found->rank;
}

void BytePairMerger::offer(uint32_t left) {
  if (const auto rank = table.find(word[left].id, word[word[left].next].id)) {
    heap.push_back(static_cast<uint64_t>(*rank) << 32 | left);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  }
}

void BytePairMerger::merge(std::span<const int32_t> symbols, std::vector<int32_t> &out) {
  const auto count = static_cast<uint32_t>(symbols.size());
  word.clear();
  heap.clear();
  for (uint32_t i = 0; i < count; ++i)
    word.push_back({symbols[i], i ? i - 1 : kNone, i + 1 < count ? i + 1 : kNone});
  for (uint32_t i = 0; i + 1 < count; ++i)
    if (const auto rank = table.find(symbols[i], symbols[i + 1]))
      heap.push_back(static_cast<uint64_t>(*rank) << 32 | i);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());

  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const auto left = static_cast<uint32_t>(heap.back());
    const Merge &merge = table[static_cast<uint32_t>(heap.back() >> 32)];
    heap.pop_back();
    // An entry is stale once either of its sides has been merged away.
    Symbol &symbol = word[left];
    if (symbol.id != merge.left || symbol.next == kNone || word[symbol.next].id != merge.right)
      continue;
    Symbol &gone = word[symbol.next];
    symbol.id = merge.result;
    gone.id = kGone;
    symbol.next = gone.next;
    if (symbol.next != kNone) {
      word[symbol.next].previous = left;
      offer(left);
    }
    if (symbol.previous != kNone)
      offer(symbol.previous);
  }
  for (const Symbol &symbol : word)
    if (symbol.id != kGone)
      out.push_back(symbol.id);
}

} // namespace tilewright
