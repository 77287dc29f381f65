// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts requests into compiled steps and fills the tables a step reads.
#pragma once

#include "runtime/api/abi.h"
#include "runtime/api/artifact_generated.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tilewright {

/// What one sequence brings to a step: rows that continue what its pages hold.
struct SequenceRows {
  std::span<const int32_t> tokens;
  int64_t start = 0;               ///< tokens in the cache before these rows
  std::span<const int32_t> pages;  ///< at least as many as start + tokens.size() tokens need
  std::span<const int64_t> wanted; ///< rows whose logits are wanted, ascending, counted from the first of `tokens`
  std::span<const int32_t> positions = {}; ///< one per token; empty: counted from `start`
  int64_t sourceLength = 0;                ///< tokens of the sequence's source
  std::span<const int32_t> sourcePages = {};
  bool fillsSource = false;                    ///< the rows are the source's
  std::span<const int32_t *const> inputs = {}; ///< further inputs, one number per token each; null or empty: zeros
  int32_t length = 0;                          ///< the sequence's at the end of the request that the rows are of
  /// In place of `pages` for each of the model's windows; -1: given up.
  std::span<const std::span<const int32_t>> windowPages = {};
};

/// The length of a sequence to which a request adds `count` tokens behind `start` others: its largest position + 1.
/// `positions` may be empty: they are counted from `start` then.
int32_t lengthOf(int64_t start, int64_t count, std::span<const int32_t> positions = {});

/// Part of a request: rows [first, first + count) of request number `request`.
struct RequestPart {
  size_t request;
  int64_t first;
  int64_t count;
};

/// Fills compiled steps of at most `maxRows` rows, request after request, none of them empty. Results are the same
/// however requests are cut, but for the order of additions inside attention.
std::vector<std::vector<RequestPart>> cutRequests(std::span<const int64_t> rowsOfRequest, int64_t maxRows);

/// The same, but no request is cut: one of more than `maxRows` rows has a step of its own.
std::vector<std::vector<RequestPart>> packRequests(std::span<const int64_t> rowsOfRequest, int64_t maxRows);

/// The first variant that takes this many rows (the manifest promises one).
size_t chooseVariant(std::span<const artifact::StepVariant *const> variants, int64_t rows);

/// size.constant + size.per_row * paddedRows + size.per_logit_row * paddedLogitRows. Throws Error(EXHAUSTED) when it is
/// beyond 63 bits.
uint64_t linearSize(const artifact::LinearSize &size, int64_t paddedRows, int64_t paddedLogitRows);

/// What a compiled step asks of its tables.
struct StepForm {
  int64_t rowMultiple;      ///< rows are padded to a multiple of this
  int64_t logitRowMultiple; ///< the same for the rows whose logits are wanted
  int64_t queryTile;        ///< query rows of one attention tile
};
StepForm formOf(const artifact::StepVariant &variant);

/// The tables of one compiled step.
class StepTables {
public:
  /// `inputs`: how many further inputs the model has; `windows`: how many pages each sequence has in windowPages.
  StepTables(std::span<const SequenceRows> sequences, const StepForm &form, size_t inputs = 0, size_t windows = 0);

  /// Sets sizes and tables; phase, context, weights, states, arena and logits stay the caller's.
  void describe(tw_abi_step &step) const;

  int64_t rows() const { return rowCount; }
  int64_t paddedRows() const { return static_cast<int64_t>(tokens.size()); }
  int64_t logitRows() const { return logitRowCount; }
  int64_t paddedLogitRows() const { return static_cast<int64_t>(logitIds.size()); }

private:
  /// What the states of one kind read and write: page tables of all sequences, page and slot of each row.
  struct Places {
    std::vector<int32_t> pages, rowSlots;

    void addPages(std::span<const int32_t> table, int64_t tokens);
    /// The row of the sequence's token `place`; -1: it goes nowhere.
    void addRow(std::span<const int32_t> table, int64_t place);
  };

  void addSequence(const SequenceRows &sequence, int32_t number, int64_t queryTile);

  int64_t rowCount = 0;
  int64_t logitRowCount = 0;
  std::vector<int32_t> tokens, positions, lengths, rowStart, kvLen, logitIds, tiles, sourceLen, sourceTiles;
  Places own, source;
  std::vector<Places> windows;
  std::vector<std::vector<int32_t>> inputs;
  std::vector<const int32_t *> inputPointers, windowPages, windowRowSlots;
};

int64_t roundUp(int64_t value, int64_t multiple);

} // namespace tilewright
