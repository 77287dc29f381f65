// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A policy of a plugin's runtime half: drafts tokens of one text and judges them.
#pragma once

#include "runtime/module/RuntimeHalf.h"
#include "runtime/sample/Sampler.h"

#include <span>
#include <vector>

namespace tilewright {

class DraftPolicy {
public:
  /// `half`, `model` and `session` outlive it. Throws Error(UNSUPPORTED) when the half has no policy, and what its
  /// policy_create says.
  DraftPolicy(const RuntimeHalf &half, tw_model *model, tw_session *session, const std::string &options);
  ~DraftPolicy();
  DraftPolicy(const DraftPolicy &) = delete;
  DraftPolicy &operator=(const DraftPolicy &) = delete;

  /// Numbers of the model's outputs that drafting wants.
  std::span<const size_t> outputs() const { return wantedOutputs; }

  /// At most `capacity` tokens below `choices`, to follow `history`; `rows` are those of outputs() where the logits
  /// gave the history's last token. Throws Error(INTERNAL) for what is none, and what the policy says.
  std::vector<int32_t> draft(std::span<const int32_t> history, std::span<const float *const> rows, size_t capacity,
                             size_t choices, Sampler &sampler);

  struct Verdict {
    size_t accepted; ///< drafted tokens that stand
    int32_t next;    ///< the token behind them
  };
  /// `logits` is [draft + 1][row]. Throws Error(INTERNAL) for a verdict that is none, and what the sampler throws.
  Verdict verify(std::span<const int32_t> history, std::span<const int32_t> draft, std::span<const float> logits,
                 size_t row, size_t choices, Sampler &sampler);

private:
  const RuntimeHalf &half;
  tw_rt_policy *policy = nullptr;
  std::vector<size_t> wantedOutputs;
};

} // namespace tilewright
