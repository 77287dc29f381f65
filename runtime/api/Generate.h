// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Continues a prompt token by token, for tools. No exception leaves these functions.
#pragma once

#include "runtime/api/BeamSearch.h"
#include "runtime/api/Outcome.h"
#include "runtime/api/tilewright.h"
#include "runtime/sample/Sampler.h"

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

class Tokenizer;

struct GenerateOptions {
  int64_t maxTokens = 256; ///< new tokens at most
  int64_t maxLength = 0;   ///< tokens of the session, prompt and text together at most; 0: as many as the context holds
  SamplerOptions sampling = {};
  bool stopAtEnd = true;             ///< stop at the ids with which the model ends a text
  std::vector<int32_t> stopIds = {}; ///< further ids to stop at
  bool showSpecial = false;          ///< hand out control tokens' spelling as text
  std::string policy = {};           ///< plugin whose runtime half drafts tokens; empty: one token a step
  std::string policyOptions = {};    ///< for the policy
  int64_t mostDrafted = 16;          ///< drafted tokens of one step at most
  std::vector<int32_t> source = {};  ///< what an encoder-decoder reads before; empty: the session has a source
  BeamSettings beams = {};           ///< more than one: beam search, without sampling and drafts
  int64_t noRepeatNgram = 0;         ///< LogitRules::noRepeatNgram
  int64_t minLength = 0;             ///< tokens of prompt and text before the text may end
  int64_t minNewTokens = 0;          ///< new tokens before the text may end
};

enum class StopReason { MaxTokens, EndToken, ContextFull, Cancelled, Caller };

/// "max-tokens", "end-token", "context-full", "cancelled", "caller".
const char *stopReasonName(StopReason reason);

struct GenerateResult {
  std::vector<int32_t> tokens; ///< new ones, without the one that ended the text
  StopReason reason = StopReason::MaxTokens;
  int32_t endToken = -1; ///< the id that ended the text
  double score = 0;      ///< of a beam search: the text's log-probability, scaled by its length
  int64_t promptTokens = 0;
  double promptSeconds = 0;            ///< the prompt's step
  int64_t decodeSteps = 0;             ///< steps behind the prompt's
  int64_t decodedTokens = 0;           ///< tokens whose logits they gave: one a step, and what was drafted and accepted
  std::vector<int64_t> draftedAt = {}; ///< tokens that the policy drafted, by place in the draft
  std::vector<int64_t> acceptedAt = {}; ///< of those; as long
  double decodeSeconds = 0;             ///< those steps and the sampling of all tokens
  tw_memory memory = {};                ///< at the end

  int64_t draftedTokens() const { return std::accumulate(draftedAt.begin(), draftedAt.end(), int64_t{0}); }
  int64_t acceptedTokens() const { return std::accumulate(acceptedAt.begin(), acceptedAt.end(), int64_t{0}); }
  double promptTokensPerSecond() const {
    return promptSeconds > 0 ? static_cast<double>(promptTokens) / promptSeconds : 0;
  }
  double decodeTokensPerSecond() const {
    return decodeSeconds > 0 ? static_cast<double>(decodedTokens) / decodeSeconds : 0;
  }
};

/// Gets each new token with the text that is complete with it (none inside a character, or when the model has no
/// tokenizer), and a last time id -1 with what text is left. False stops.
using TokenCallback = std::function<bool(int32_t id, std::string_view text)>;

/// Appends `prompt` (at least one id; none of an encoder-decoder: its start token) to the session, then chooses by the
/// model's own rules (forced and forbidden tokens) and `options`. With one beam the session holds the prompt and all
/// new tokens but the last afterwards. A cancelled or full session ends the text (see `reason`); a failing prompt, a
/// prompt that does not fit and a cancelled prompt are failures. `result` is valid as far as it got in either case.
Outcome generate(tw_model *model, tw_session *session, std::span<const int32_t> prompt, const GenerateOptions &options,
                 const TokenCallback &callback, GenerateResult &result);

/// The same from text to text, in a session of its own: `text` becomes the prompt, in which special tokens are read,
/// and what follows it, as far as it got. `tokenizer` reads and writes; null: the model's own.
Outcome continueText(tw_model *model, std::string_view prompt, const GenerateOptions &options, std::string &text,
                     GenerateResult &result, const Tokenizer *tokenizer = nullptr);

/// While it lives, the first SIGINT cancels the session's running or next step; a second one does what SIGINT did
/// before. One object at a time in a process.
class CancelOnInterrupt {
public:
  explicit CancelOnInterrupt(tw_session *session);
  ~CancelOnInterrupt();
  CancelOnInterrupt(const CancelOnInterrupt &) = delete;
  CancelOnInterrupt &operator=(const CancelOnInterrupt &) = delete;

  bool interrupted() const;
};

} // namespace tilewright
