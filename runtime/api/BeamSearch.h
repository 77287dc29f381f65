// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Beam search over the C interface: several texts grow side by side, the best that ended is the result. Candidates,
// scores and the end are those of Transformers' generate().
#pragma once

#include "runtime/api/tilewright.h"
#include "runtime/sample/LogitRules.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tilewright {

/// When the search stops, once as many texts have ended as there are beams.
enum class EarlyStopping {
  Off,  ///< when the best running text, scored at its present length, is worse than the worst that ended
  On,   ///< at once
  Never ///< when no running text could become better than the worst that ended, however long it grows
};

struct BeamSettings {
  int64_t beams = 1;
  double lengthPenalty = 1; ///< a text's score is its log-probability / (its new tokens ^ lengthPenalty)
  EarlyStopping earlyStopping = EarlyStopping::Off;
};

struct BeamSearchOptions {
  BeamSettings settings = {};
  LogitRules rules = {};
  int64_t maxLength = 0;                  ///< of prompt and text together; above the prompt's
  size_t choices = 0;                     ///< the first of the vocabulary's tokens, which may be chosen
  std::function<bool(int32_t)> ends = {}; ///< whether a token ends a text
};

struct BeamSearchResult {
  std::vector<int32_t> tokens; ///< new ones, the one that ended the text included
  bool ended = false;          ///< by a token, not by its length
  double score = 0;
  int64_t steps = 0; ///< behind the prompt's
  double promptSeconds = 0;
};

/// Continues `prompt` (at least one id) from what `session` holds; it is one of the beams' sessions, and cancelling it
/// cancels the search. Throws Error with what a step says, INVALID for settings out of range.
BeamSearchResult beamSearch(tw_model *model, tw_session *session, std::span<const int32_t> prompt,
                            const BeamSearchOptions &options);

/// Throws Error(INVALID) naming the setting, its value and its range.
void checkBeamSettings(const BeamSettings &settings);

} // namespace tilewright
