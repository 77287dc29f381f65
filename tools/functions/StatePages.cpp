// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/functions/StatePages.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace tilewright {

StatePages::StatePages(int64_t count) : free(count) {
  int64_t stride = 7;
  while (std::gcd(stride, count) > 1)
    ++stride;
  for (int64_t i = 0; i < count; ++i)
    free[i] = static_cast<int32_t>((i * stride + 3) % count);
}

const ShapeClass &StatePages::shapeClassOf(int64_t rows) {
  return *findShapeClass(rows == 1 ? "decode" : rows <= 8 ? "small" : "prefill");
}

std::optional<StepTables> StatePages::step(llvm::ArrayRef<int64_t> added, const ShapeClass &shapeClass) {
  StepTables step;
  if (sequences.size() < added.size())
    sequences.resize(added.size());
  auto push = [](std::vector<int32_t> &table, std::initializer_list<int64_t> numbers) {
    for (int64_t number : numbers)
      table.push_back(static_cast<int32_t>(number));
  };
  for (auto [b, rows] : llvm::enumerate(added)) {
    Sequence &sequence = sequences[b];
    const int64_t length = sequence.length + rows, firstPage = static_cast<int64_t>(step.pages.size());
    while (static_cast<int64_t>(sequence.pages.size()) * kPageTokens < length) {
      if (free.empty())
        return std::nullopt;
      sequence.pages.push_back(free.back());
      free.pop_back();
    }
    for (int64_t place = sequence.length; place < length; ++place)
      push(step.rowSlots, {sequence.pages[place / kPageTokens], place % kPageTokens});
    const int64_t pages = static_cast<int64_t>(sequence.pages.size());
    for (int64_t i = 0; i < rows; i += shapeClass.queryTile)
      push(step.tiles, {step.rows + i, std::min(shapeClass.queryTile, rows - i), sequence.length + i, length, firstPage,
                        pages, static_cast<int64_t>(b), 0});
    step.pages.insert(step.pages.end(), sequence.pages.begin(), sequence.pages.end());
    step.rows += rows;
    sequence.length = length;
  }
  step.paddedRows = static_cast<int64_t>(llvm::alignTo(step.rows, shapeClass.rowMultiple));
  step.rowSlots.resize(2 * step.paddedRows, -1);
  return step;
}

} // namespace tilewright
