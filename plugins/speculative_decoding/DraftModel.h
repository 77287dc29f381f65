// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A second, smaller model that drafts for the first.
#pragma once

#include "plugins/speculative_decoding/Draft.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewright::speculative_decoding {

class DraftModel {
public:
  /// Loads the model of `folder`. Throws Fault: what loading says; UNSUPPORTED when a token that both models have is
  /// not the same one in both, naming the first.
  DraftModel(const tw_rt_host &host, tw_model *target, const std::string &folder);

  /// Draws at most `capacity` tokens to follow `history` (not empty). Fewer, or none, when the draft model's context is
  /// full or a token of the history is none of its own. Throws Fault with what its step or the sampler says.
  void draw(std::span<const int32_t> history, size_t capacity, const tw_rt_sampler &sampler, Draft &draft);

private:
  void checkVocabulary(tw_model *target, const std::string &folder) const;
  /// Its logits behind `history` when the session holds just that; what it held already is not computed again.
  void readTo(std::span<const int32_t> history);

  struct Release {
    const tw_rt_host *host;
    void operator()(tw_model *model) const { host->model_release(model); }
    void operator()(tw_session *session) const { host->session_release(session); }
  };

  const tw_rt_host &host;
  std::unique_ptr<tw_model, Release> model;
  std::unique_ptr<tw_session, Release> session;
  int64_t vocabulary = 0;
  std::vector<int32_t> tokens; ///< in the session: of the last history, and of the draft but for its last one
  std::vector<float> logits;   ///< [vocabulary], behind them
};

} // namespace tilewright::speculative_decoding
