// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime does around a step: pages of growing sequences, tables, padding.
#pragma once

#include "tests/unit/kernels/ProgramRunner.h"

namespace tilewright::test {

/// Pages of a batch of growing sequences, in a scrambled order.
class Batch {
public:
  /// `runner`'s state holds keys of `dim` and values of `dimV` (0: no buffer of them) for each of `heads`; `paired`: as
  /// pairs of bf16.
  Batch(ProgramRunner &runner, int64_t poolPages, int64_t heads, int64_t dim, int64_t dimV, bool paired = false)
      : freePages(poolPages) {
    for (int64_t i = 0; i < poolPages; ++i)
      freePages[i] = (i * 7 + 3) % poolPages;
    // Slots that nothing fills hold NaN.
    for (int64_t width : {paired ? (dim + 1) / 2 * 2 : dim, dimV}) {
      if (width == 0)
        continue;
      size_t elements = poolPages * heads * width * kPageTokens;
      runner.pools.push_back(std::make_shared<Buffer>(elements * (paired ? 2 : 4)));
      if (paired)
        std::fill_n(runner.pools.back()->as<uint16_t>(), elements, uint16_t(0x7fc0));
      else
        std::fill_n(runner.pools.back()->as<float>(), elements, NAN);
    }
  }

  /// One step: `tokens[b]` are the new tokens of sequence b. All rows' logits are wanted.
  Step step(const std::vector<std::vector<int32_t>> &tokens, const ShapeClass &shapeClass) {
    Step s;
    sequences.resize(tokens.size());
    s.rowStart.push_back(0);
    for (size_t b = 0; b < tokens.size(); ++b) {
      Sequence &sequence = sequences[b];
      int64_t added = tokens[b].size(), length = sequence.length + added;
      while (static_cast<int64_t>(sequence.pages.size()) * kPageTokens < length) {
        sequence.pages.push_back(freePages.back());
        freePages.pop_back();
      }
      for (int64_t i = 0; i < added; ++i) {
        int32_t position = sequence.length + i;
        s.tokens.push_back(tokens[b][i]);
        s.positions.push_back(position);
        s.rowSlots.push_back(sequence.pages[position / kPageTokens]);
        s.rowSlots.push_back(position % kPageTokens);
        s.logitIds.push_back(s.tokens.size() - 1);
      }
      for (int64_t i = 0; i < added; i += shapeClass.queryTile)
        for (int64_t field :
             {int64_t(s.rowStart.back() + i), std::min(shapeClass.queryTile, added - i), sequence.length + i, length,
              int64_t(s.pages.size()), int64_t(sequence.pages.size()), int64_t(b), int64_t(0)})
          s.tiles.push_back(field);
      for (int32_t page : sequence.pages)
        s.pages.push_back(page);
      s.rowStart.push_back(s.tokens.size());
      s.kvLen.push_back(length);
      sequence.length = length;
    }
    s.rows = s.logitRows = s.tokens.size();
    s.paddedRows = llvm::alignTo(s.rows, shapeClass.rowMultiple);
    s.paddedLogitRows = llvm::alignTo(s.rows, shapeClass.logitRowMultiple);
    s.tokens.resize(s.paddedRows);
    s.positions.resize(s.paddedRows);
    s.rowSlots.resize(2 * s.paddedRows, -1);
    s.logitIds.resize(s.paddedLogitRows);
    return s;
  }

  /// Pages all in front of what each row of `step` sees, first(place) its first token, are given up: in their place is
  /// one that nobody has filled.
  void giveUp(Step &step, llvm::function_ref<int64_t(int64_t place)> first) const {
    for (size_t tile = 0; tile < step.tiles.size(); tile += 8) {
      const int32_t place = step.tiles[tile + 2], firstPage = step.tiles[tile + 4];
      if (tile > 0 && step.tiles[tile + 6] == step.tiles[tile - 2])
        continue; // not the sequence's first tile
      for (int64_t page = 0; (page + 1) * kPageTokens <= first(place); ++page)
        step.pages[firstPage + page] = freePages.front();
    }
  }

private:
  struct Sequence {
    int64_t length = 0;
    std::vector<int32_t> pages;
  };
  std::vector<int32_t> freePages;
  std::vector<Sequence> sequences;
};

} // namespace tilewright::test
