// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that change scores before a token is chosen, whoever chooses: with the names and the meaning they have in
// Transformers' generate().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tilewright {

struct LogitRules {
  double repetitionPenalty = 1;  ///< > 0; scores of tokens seen are divided by it if positive, else multiplied
  int64_t noRepeatNgram = 0;     ///< no sequence of so many tokens stands twice in a text; 0: any may
  std::vector<int32_t> bad = {}; ///< never chosen
  int64_t minLength = 0;         ///< none of `ends` is chosen before a text has so many tokens
  std::vector<int32_t> ends = {};
  int32_t forcedBegin = -1; ///< the second token of a text; -1: any
  int32_t forcedEnd = -1;   ///< the last token of a text as long as it may be; -1: any

  bool any() const {
    return repetitionPenalty != 1 || noRepeatNgram > 0 || !bad.empty() || minLength > 0 || forcedBegin >= 0 ||
           forcedEnd >= 0;
  }

  /// `scores` [choices] of what follows `text`, which ends at `maxLength` tokens at the latest. What may not be chosen
  /// becomes -infinity; a forced token alone remains, with score 0.
  void apply(std::span<float> scores, std::span<const int32_t> text, int64_t maxLength) const;
};

} // namespace tilewright
