// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is done to a text before it is cut into words.
#pragma once

#include "runtime/tokenize/TokenizerData.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// Steps, one after another, each in linear time:
///   nfc, nfd, nfkc, nfkd   normal forms
///   lowercase              each character's lower case
///   strip_marks            without combining marks (M*)
///   bert_clean             without U+0000, U+FFFD and controls (C*, but for tab and line ends); white space is ' '
///   bert_cjk               a space on either side of each CJK ideograph
///   bert_accents           canonical decomposition without nonspacing marks (Mn)
///   nmt                    SentencePiece's cleaning for translation: controls go, odd white space is ' '
///   charsmap               SentencePiece's replacements `bytes` (CharsMap.h)
///   squeeze_spaces         no spaces at the ends, one where several follow one another
///   strip                  no white space at the begin (number & 1) and end (number & 2)
///   prepend                `text` in front, unless the text is empty
///   replace                `with` for each `text`
///   replace_regex          `with` for each match of the expression `text`
class Normalizer {
public:
  /// Throws UNSUPPORTED for a step of another name or an expression that is not understood, CORRUPT for damaged data.
  explicit Normalizer(std::span<const TokenizerStep> steps);

  bool empty() const { return steps.empty(); }
  /// `text` is valid UTF-8, and so is the result. Throws EXHAUSTED for a result beyond 4 GiB.
  std::string apply(std::string_view text) const;
  /// `head`: how many bytes at the begin of `text`, and then of the result, come from the first character of a whole
  /// text. That is what decides, in the package `tokenizers`, whether a word stands at the text's begin.
  std::string apply(std::string_view text, size_t &head) const;

private:
  std::vector<std::function<std::string(std::string_view, size_t &)>> steps;
};

} // namespace tilewright
