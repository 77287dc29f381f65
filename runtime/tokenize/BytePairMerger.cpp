// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/BytePairMerger.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace tilewright {

MergeTable::MergeTable(std::vector<Merge> list, size_t symbols) : merges(std::move(list)), groupEnds(symbols, 0) {
  std::sort(merges.begin(), merges.end(),
            [](const Merge &a, const Merge &b) { return std::tie(a.left, a.right) < std::tie(b.left, b.right); });
  for (const Merge &merge : merges)
    ++groupEnds[merge.left];
  uint32_t sum = 0;
  for (uint32_t &end : groupEnds)
    end = sum += end;
}

const Merge *MergeTable::find(int32_t left, int32_t right) const {
  const auto begin = merges.begin() + (left ? groupEnds[left - 1] : 0), end = merges.begin() + groupEnds[left];
  const auto found =
      std::lower_bound(begin, end, right, [](const Merge &merge, int32_t wanted) { return merge.right < wanted; });
  return found == end || found->right != right ? nullptr : &*found;
}

void BytePairMerger::offer(uint32_t left) {
  if (const Merge *merge = table.find(word[left].id, word[word[left].next].id)) {
    heap.push_back(static_cast<uint64_t>(merge->rank) << 32 | left);
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
    if (const Merge *merge = table.find(symbols[i], symbols[i + 1]))
      heap.push_back(static_cast<uint64_t>(merge->rank) << 32 | i);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());

  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const auto left = static_cast<uint32_t>(heap.back());
    const auto rank = static_cast<uint32_t>(heap.back() >> 32);
    heap.pop_back();
    Symbol &symbol = word[left];
    if (symbol.id == kGone || symbol.next == kNone)
      continue;
    // An entry is stale once either of its sides has been merged away, unless the new pair ranks the same.
    const Merge *merge = table.find(symbol.id, word[symbol.next].id);
    if (!merge || merge->rank != rank)
      continue;
    Symbol &gone = word[symbol.next];
    symbol.id = merge->result;
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
