// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/functions/StatePages.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace tilewright {

StatePages::StatePages(int64_t count) : free(count) {
  int64_t stride = 7;
  while (std::gcd(stride, count) > 1)
    ++stride;
  for (int64_t i = 0; i < count; ++i)
    free[i] = static_cast<int32_t>((i * stride + 3) % count);
}

std::optional<StepTables> StatePages::step(llvm::ArrayRef<int64_t> added, const ShapeClass &shapeClass) {
  if (sequences.size() < added.size())
    sequences.resize(added.size());
  const std::vector<int32_t> tokens(std::accumulate(added.begin(), added.end(), int64_t{0}));
  std::vector<SequenceRows> rows;
  for (auto [sequence, count] : llvm::zip(sequences, added)) {
    const int64_t start = sequence.length;
    sequence.length += count;
    while (static_cast<int64_t>(sequence.pages.size()) * kPageTokens < sequence.length) {
      if (free.empty())
        return std::nullopt;
      sequence.pages.push_back(free.back());
      free.pop_back();
    }
    rows.push_back({std::span(tokens).first(count), start, sequence.pages, {}});
  }
  return StepTables(rows, {shapeClass.rowMultiple, shapeClass.logitRowMultiple, shapeClass.queryTile});
}

} // namespace tilewright
