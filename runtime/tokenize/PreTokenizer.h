// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts text into the words that a tokenizer's model works on: no token crosses a word's border.
#pragma once

#include "runtime/tokenize/TokenizerData.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

struct TextRange {
  size_t begin;
  size_t end;
};

/// A text and the words in it, in order; what lies between them is dropped.
struct Words {
  std::string text;
  std::vector<TextRange> ranges;
  size_t head = 0; ///< bytes at the text's begin that come from the first character of the whole text (Normalizer.h)
};

/// Steps, one after another, each cutting the words of those before it, in linear time and with constant stack.
/// `number` is a SplitBehavior where nothing else is said.
///   rule               the expressions of the split rule `text` (SplitRules.h); all pieces are kept
///   split_regex        at the matches of the expression `text`; with `flag` at what lies between them
///   split_text         at each `text`; with `flag` at what lies between them
///   split_white_space  at white space, which is dropped
///   split_bert         at white space, which is dropped, and at each punctuation character
///   split_punctuation  at punctuation characters
///   split_digits       at digits (N*), with `flag` each by itself
///   prefix_space       a space in front of each word that does not begin with one
///   metaspace          `text` in place of spaces, and in front of each word that does not begin with it, if `number`
///                      is 2, or of words that begin the whole text only, if it is 1; with `flag` words begin at each
class PreTokenizer {
public:
  /// Throws UNSUPPORTED for a step of another name, or an expression that is not understood.
  explicit PreTokenizer(std::span<const TokenizerStep> steps);

  /// Whether words are just parts of the text, so that places in them are places in the text.
  bool keepsText() const { return unchanged; }
  /// `text` is valid UTF-8 and is not empty; `head` is that of Words. Throws as RegexMatcher::matchAt.
  Words split(std::string text, size_t head) const;

private:
  std::vector<std::function<void(Words &)>> steps;
  bool unchanged = true;
};

} // namespace tilewright
