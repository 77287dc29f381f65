// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Byte-pair encoding as SentencePiece does it: neighbours merge where their join is a token, the best score first.
#pragma once

#include "runtime/tokenize/BytePairMerger.h"
#include "runtime/tokenize/TokenizerData.h"

#include <vector>

namespace tilewright {

struct ScoreMerges {
  std::vector<Merge> merges; ///< tokens of equal score have equal rank, so that the leftmost goes first
  /// Characters of tokens that are no tokens themselves: symbols behind the vocabulary's, in this order.
  std::vector<char32_t> withoutToken;
};

/// All ways to make a token of checked data of two symbols. Time is linear in the vocabulary's bytes, but for sorting.
ScoreMerges mergesByScore(const TokenizerData &data);

} // namespace tilewright
