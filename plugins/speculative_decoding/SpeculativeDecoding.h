// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Speculative decoding for C++ hosts: a small model drafts tokens, and a large one, whose text it is, computes the
// logits of several in one step. It links libtilewright, which finds the runtime half in the plugin folders.
#pragma once

#include "runtime/api/Generate.h"

namespace tilewright::speculative_decoding {

struct SpeculativeDecoding {
  tw_model *target = nullptr;
  std::string draft;                    ///< folder of the compiled model that drafts, of the target's vocabulary
  const Tokenizer *tokenizer = nullptr; ///< of both; null: the target's own
  int64_t maxDraftTokens = 5;           ///< of one step
  int64_t maxLength = 100;              ///< tokens of the text, its prompt among them; never passed
  SamplerOptions sampling = {};         ///< of both; the text has the target's distribution
};

/// `text` becomes the prompt and what the target puts behind it. INVALID: a number out of its range, a prompt of more
/// than maxLength tokens; UNSUPPORTED: two vocabularies; else what loading the draft, or a step, says.
inline Outcome speculate(const SpeculativeDecoding &decoding, std::string_view prompt, std::string &text,
                         GenerateResult &result) {
  if (decoding.maxLength < 1)
    return {TW_INVALID, "max_length is " + std::to_string(decoding.maxLength) + ", wanted at least 1"};
  if (decoding.draft.find(',') != std::string::npos) // it stands before the policy's settings, which begin with one
    return {TW_INVALID, "draft is '" + decoding.draft + "', wanted a folder without a comma in its name"};
  GenerateOptions options;
  options.maxTokens = options.maxLength = decoding.maxLength;
  options.sampling = decoding.sampling;
  options.policy = "speculative_decoding";
  options.policyOptions = "draft:" + decoding.draft + ",max=" + std::to_string(decoding.maxDraftTokens);
  return continueText(decoding.target, prompt, options, text, result, decoding.tokenizer);
}

} // namespace tilewright::speculative_decoding
