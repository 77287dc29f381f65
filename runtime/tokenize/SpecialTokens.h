// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds special tokens (control and user-defined) in text: leftmost, then longest.
#pragma once

#include "runtime/tokenize/TokenTrie.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// Immutable.
class SpecialTokens {
public:
  /// Longer texts are refused by the tokenizer's check: looking for specials costs their length per byte at worst.
  static constexpr size_t kMaxLength = 1024;

  struct Token {
    std::string text; ///< not empty
    int32_t id;
    uint8_t matching; ///< TokenMatching
    bool control;
  };
  SpecialTokens() = default;
  explicit SpecialTokens(std::vector<Token> tokens);

  bool empty() const { return tokens.empty(); }

  /// How far the search has come. The white space behind a token that takes it is searched all the same.
  struct Progress {
    size_t next = 0;  ///< where the next token may begin
    size_t taken = 0; ///< the end of the last match, with white space
  };
  struct Match {
    size_t before; ///< where the text between the last match and this one begins; `begin` may lie in front of it
    size_t begin;  ///< with the white space that the token takes
    size_t end;
    int32_t id;
  };
  /// The next special token in `text`; of those that begin there, the longest, and if that one had to be a whole word
  /// and is none, the search goes on behind it. Control tokens count only where `mayBeControl(begin, end)`.
  std::optional<Match> find(std::string_view text, Progress &progress,
                            const std::function<bool(size_t, size_t)> &mayBeControl) const;
  /// The id of a special token by its text, or -1.
  int32_t findWhole(std::string_view text) const;

private:
  struct Spelling {
    const Token &token;
    size_t end;
  };
  std::optional<Spelling> longestAt(std::string_view text, size_t begin,
                                    const std::function<bool(size_t, size_t)> &mayBeControl) const;

  std::vector<Token> tokens;
  TokenTrie trie; // gives indices of `tokens`
};

} // namespace tilewright
