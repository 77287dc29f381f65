// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules by which byte-level tokenizers cut text into words, by the names that GGUF gives them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace tilewright {

/// The rule a name stands for: each expression (PCRE2) cuts the pieces that those before it have left; a stretch that
/// it does not match is a piece, too. All take linear time on every text.
struct SplitRule {
  std::string_view name;
  std::span<const std::string_view> patterns;
  bool wholeWordFirst; ///< a word that is itself a token is taken as it is, without merging
};

/// Finds a rule by its GGUF name (key `tokenizer.ggml.pre`); the empty name is "default".
/// Throws UNSUPPORTED naming the rule and the known ones.
const SplitRule &findSplitRule(std::string_view name);

/// Every name that `findSplitRule` knows.
std::vector<std::string_view> splitRuleNames();

} // namespace tilewright
