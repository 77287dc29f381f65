// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/StepPlan.h"

#include "runtime/api/Error.h"

#include <algorithm>

namespace tilewright {

int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::vector<std::vector<RequestPart>> cutRequests(std::span<const int64_t> rowsOfRequest, int64_t maxRows) {
  std::vector<std::vector<RequestPart>> steps;
  int64_t room = 0;
  for (size_t request = 0; request < rowsOfRequest.size(); ++request)
    for (int64_t first = 0; first < rowsOfRequest[request];) {
      if (room == 0) {
        steps.emplace_back();
        room = maxRows;
      }
      const int64_t count = std::min(room, rowsOfRequest[request] - first);
      steps.back().push_back({request, first, count});
      first += count;
      room -= count;
    }
  return steps;
}

std::vector<std::vector<RequestPart>> packRequests(std::span<const int64_t> rowsOfRequest, int64_t maxRows) {
  std::vector<std::vector<RequestPart>> steps;
  int64_t room = 0;
  for (size_t request = 0; request < rowsOfRequest.size(); ++request) {
    const int64_t count = rowsOfRequest[request];
    if (count > room) {
      steps.emplace_back();
      room = std::max(maxRows, count);
    }
    steps.back().push_back({request, 0, count});
    room -= count;
  }
  return steps;
}

int32_t lengthOf(int64_t start, int64_t count, std::span<const int32_t> positions) {
  const int64_t end = positions.empty() ? start + count : int64_t{std::ranges::max(positions)} + 1;
  return static_cast<int32_t>(std::min<int64_t>(end, INT32_MAX));
}

size_t chooseVariant(std::span<const artifact::StepVariant *const> variants, int64_t rows) {
  for (size_t i = 0; i < variants.size(); ++i)
    if (rows >= variants[i]->min_rows() && (variants[i]->max_rows() == 0 || rows <= variants[i]->max_rows()))
      return i;
  throw Error(TW_INTERNAL, "no compiled step for " + std::to_string(rows) + " rows");
}

uint64_t linearSize(const artifact::LinearSize &size, int64_t paddedRows, int64_t paddedLogitRows) {
  uint64_t rows, logitRows, total;
  if (__builtin_mul_overflow(size.per_row(), static_cast<uint64_t>(paddedRows), &rows) ||
      __builtin_mul_overflow(size.per_logit_row(), static_cast<uint64_t>(paddedLogitRows), &logitRows) ||
      __builtin_add_overflow(rows, logitRows, &total) || __builtin_add_overflow(total, size.constant(), &total) ||
      total > INT64_MAX)
    throw Error(TW_EXHAUSTED, "the arena for " + std::to_string(paddedRows) + " rows and " +
                                  std::to_string(paddedLogitRows) + " rows of logits is larger than 2^63 bytes");
  return total;
}

StepForm formOf(const artifact::StepVariant &variant) {
  return {variant.row_multiple(), variant.logit_row_multiple(), variant.query_tile()};
}

void StepTables::Places::addPages(std::span<const int32_t> table, int64_t tokens) {
  pages.insert(pages.end(), table.begin(), table.begin() + roundUp(tokens, TW_PAGE_TOKENS) / TW_PAGE_TOKENS);
}

void StepTables::Places::addRow(std::span<const int32_t> table, int64_t place) {
  rowSlots.push_back(place < 0 ? -1 : table[static_cast<size_t>(place / TW_PAGE_TOKENS)]);
  rowSlots.push_back(place < 0 ? -1 : static_cast<int32_t>(place % TW_PAGE_TOKENS));
}

StepTables::StepTables(std::span<const SequenceRows> sequences, const StepForm &form, size_t inputCount,
                       size_t windowCount)
    : windows(windowCount), inputs(inputCount) {
  rowStart.push_back(0);
  for (size_t i = 0; i < sequences.size(); ++i)
    addSequence(sequences[i], static_cast<int32_t>(i), form.queryTile);
  rowCount = static_cast<int64_t>(tokens.size());
  logitRowCount = static_cast<int64_t>(logitIds.size());
  const size_t padded = static_cast<size_t>(roundUp(rowCount, form.rowMultiple));
  tokens.resize(padded, 0);
  positions.resize(padded, 0);
  lengths.resize(padded, 0);
  own.rowSlots.resize(2 * padded, -1);
  source.rowSlots.resize(2 * padded, -1);
  for (Places &window : windows) {
    window.rowSlots.resize(2 * padded, -1);
    windowPages.push_back(window.pages.data());
    windowRowSlots.push_back(window.rowSlots.data());
  }
  for (std::vector<int32_t> &input : inputs) {
    input.resize(padded, 0);
    inputPointers.push_back(input.data());
  }
  logitIds.resize(static_cast<size_t>(roundUp(logitRowCount, form.logitRowMultiple)), 0);
}

void StepTables::addSequence(const SequenceRows &sequence, int32_t number, int64_t queryTile) {
  const int64_t firstRow = static_cast<int64_t>(tokens.size());
  const int64_t count = static_cast<int64_t>(sequence.tokens.size());
  const int64_t end = sequence.start + count;
  const int64_t pageCount = roundUp(end, TW_PAGE_TOKENS) / TW_PAGE_TOKENS;
  const int64_t sourcePageCount = roundUp(sequence.sourceLength, TW_PAGE_TOKENS) / TW_PAGE_TOKENS;
  const auto addTile = [&](std::vector<int32_t> &to, int64_t row, int64_t keys, size_t firstPage, int64_t pageCount) {
    for (int64_t value : {firstRow + row, std::min(queryTile, count - row), sequence.start + row, keys,
                          static_cast<int64_t>(firstPage), pageCount, int64_t{number}, int64_t{0}})
      to.push_back(static_cast<int32_t>(value));
  };
  for (int64_t row = 0; row < count; row += queryTile) {
    addTile(tiles, row, end, own.pages.size(), pageCount);
    addTile(sourceTiles, row, sequence.sourceLength, source.pages.size(), sourcePageCount);
  }
  lengths.insert(lengths.end(), static_cast<size_t>(count), sequence.length);
  for (int64_t row = 0; row < count; ++row) {
    const int64_t place = sequence.start + row; // in the cache
    tokens.push_back(sequence.tokens[static_cast<size_t>(row)]);
    positions.push_back(sequence.positions.empty() ? static_cast<int32_t>(place)
                                                   : sequence.positions[static_cast<size_t>(row)]);
    own.addRow(sequence.pages, place);
    source.addRow(sequence.sourcePages, sequence.fillsSource ? place : -1);
    for (size_t i = 0; i < windows.size(); ++i)
      windows[i].addRow(sequence.windowPages[i], place);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int32_t *given = i < sequence.inputs.size() ? sequence.inputs[i] : nullptr;
    inputs[i].insert(inputs[i].end(), static_cast<size_t>(count), 0);
    if (given)
      std::copy_n(given, count, inputs[i].end() - count);
  }
  own.addPages(sequence.pages, end);
  source.addPages(sequence.sourcePages, sequence.sourceLength);
  for (size_t i = 0; i < windows.size(); ++i)
    windows[i].addPages(sequence.windowPages[i], end);
  sourceLen.push_back(static_cast<int32_t>(sequence.sourceLength));
  rowStart.push_back(static_cast<int32_t>(firstRow + count));
  kvLen.push_back(static_cast<int32_t>(end));
  for (int64_t row : sequence.wanted)
    logitIds.push_back(static_cast<int32_t>(firstRow + row));
}

void StepTables::describe(tw_abi_step &step) const {
  step.size = sizeof step;
  step.rows = rowCount;
  step.padded_rows = paddedRows();
  step.sequences = static_cast<int64_t>(kvLen.size());
  step.logit_rows = logitRowCount;
  step.padded_logit_rows = paddedLogitRows();
  step.tokens = tokens.data();
  step.positions = positions.data();
  step.row_start = rowStart.data();
  step.kv_len = kvLen.data();
  step.logit_ids = logitIds.data();
  step.tiles = tiles.data();
  step.tile_count = static_cast<int64_t>(tiles.size() / 8);
  step.pages = own.pages.data();
  step.page_entries = static_cast<int64_t>(own.pages.size());
  step.row_slots = own.rowSlots.data();
  step.source_len = sourceLen.data();
  step.source_tiles = sourceTiles.data();
  step.source_pages = source.pages.data();
  step.source_page_entries = static_cast<int64_t>(source.pages.size());
  step.source_row_slots = source.rowSlots.data();
  step.inputs = inputPointers.data();
  step.lengths = lengths.data();
  step.window_pages = windowPages.data();
  step.window_row_slots = windowRowSlots.data();
}

} // namespace tilewright
