// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which drafted tokens stand, and what comes behind them: pure functions, without MLIR and runtime.
// Source: Leviathan, Kalman and Matias, "Fast Inference from Transformers via Speculative Decoding" (ICML 2023).
#pragma once

#include "runtime/api/runtime_half.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace tilewright::speculative_decoding {

/// The tokens that have a probability, by ascending id. Vocabularies are long and filters leave few.
using Distribution = std::span<const tw_rt_choice>;

/// The first token at which the running sum of `weights` (not negative, not all 0), taken as a distribution, exceeds
/// `u` of [0, 1).
int32_t inverseCdf(Distribution weights, double u);

/// What the distribution gives the token.
double probabilityOf(Distribution distribution, int32_t token);

/// Whether a token drawn from a distribution that gives it `q` stands when the model gives it `p`: u < min(1, p / q).
bool accepts(double p, double q, double u);

/// The token in place of a refused one: from norm(max(p - q, 0)), by inverseCdf. Where rounding leaves nothing of that,
/// from p.
int32_t resample(Distribution p, Distribution q, double u);

struct Verdict {
  size_t accepted; ///< drafted tokens that stand
  int32_t next;    ///< the token behind them: in place of the first refused one, or one more when all stand
};

/// Where the numbers of `judge` come from.
struct Judgement {
  /// What the model chooses the token at place i from, 0 <= i <= drafted; valid until the next call.
  std::function<Distribution(size_t i)> target;
  /// What the token at place i was drawn from; empty: the draft was certain of it.
  std::function<Distribution(size_t i)> draft;
  std::function<double()> uniform; ///< one number for each token judged, and one for `next`
  /// Above 0: a token stands when the model gives it at least this much. The text is then no longer distributed as the
  /// model's. 0: the rule above, which keeps the distribution.
  double lossyThreshold = 0;
};

/// Judges drafted tokens from the first on. The tokens that stand and `next` are distributed as the model's own. A
/// greedy model gives all of its probability to one token: a token stands while it is that one, whatever `uniform`
/// says.
Verdict judge(std::span<const int32_t> drafted, const Judgement &from);

} // namespace tilewright::speculative_decoding
