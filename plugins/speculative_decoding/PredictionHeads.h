// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model's own prediction heads draft: outputs prediction_head_1, prediction_head_2, ... of its steps are logits of
// the tokens 1, 2, ... places behind the one that the logits are of.
// Sources: Cai et al., "Medusa" (2024); Gloeckle et al., "Better & Faster Large Language Models via Multi-token
// Prediction" (2024).
#pragma once

#include "plugins/speculative_decoding/Draft.h"

#include <string>
#include <vector>

namespace tilewright::speculative_decoding {

class PredictionHeads {
public:
  /// Of `model`. Throws Fault(UNSUPPORTED) when it has none, or one that is not a row of logits.
  PredictionHeads(const tw_rt_host &host, const tw_model *model);

  /// The outputs' names, the nearest place first.
  std::span<const char *const> outputs() const { return pointers; }

  /// Draws at most `capacity` tokens to follow `history`, one from each head; `rows[i]` is head i's.
  void draw(std::span<const int32_t> history, size_t capacity, const float *const *rows, const tw_rt_sampler &sampler,
            Draft &draft) const;

private:
  size_t vocabulary;
  std::vector<std::string> names;
  std::vector<const char *> pointers;
};

} // namespace tilewright::speculative_decoding
