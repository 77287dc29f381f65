// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens drawn one behind another, with what each was drawn from.
#pragma once

#include "plugins/speculative_decoding/Rules.h"

#include <vector>

namespace tilewright::speculative_decoding {

class Draft {
public:
  /// Forgets what was drawn: the next token follows `history`.
  void begin(std::span<const int32_t> history);

  /// Draws a token as the text's sampler draws. `logits` are for ids from 0 on; ids behind them are never drawn, nor
  /// are those that the sampler may not choose. Throws Fault with what the sampler says.
  void draw(std::span<const float> logits, const tw_rt_sampler &sampler);

  size_t size() const { return distributions.size(); }
  /// The history and what was drawn.
  std::span<const int32_t> text() const { return tokens; }
  std::vector<int32_t> drawn() const { return {tokens.end() - static_cast<std::ptrdiff_t>(size()), tokens.end()}; }
  /// Of the i-th token drawn.
  Distribution distribution(size_t i) const { return distributions[i]; }

private:
  std::vector<int32_t> tokens;
  std::vector<std::vector<tw_rt_choice>> distributions;
  std::vector<float> row; ///< [choices], where the logits are fewer
};

} // namespace tilewright::speculative_decoding
