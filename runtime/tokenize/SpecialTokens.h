// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds special tokens (control and user-defined) in text: leftmost, then longest.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tilewright {

/// A byte trie of the special tokens' texts. Immutable once filled.
class SpecialTokens {
public:
  /// Longer texts are refused by the tokenizer's check: looking for specials costs their length per byte at worst.
  static constexpr size_t kMaxLength = 1024;

  /// `text` is not empty and not there yet.
  void add(std::string_view text, int32_t id);

  struct Match {
    size_t begin;
    size_t end;
    int32_t id;
  };
  /// The first special token in `text` at or behind `from`; of those that begin there, the longest.
  std::optional<Match> find(std::string_view text, size_t from) const;

private:
  struct Node {
    uint8_t byte;
    uint32_t sibling; // next child of the same parent; 0: none
    uint32_t child;   // first child; 0: none
    int32_t id;       // -1: no token ends here
  };
  uint32_t step(uint32_t node, uint8_t byte) const;

  std::vector<Node> nodes{{0, 0, 0, -1}};
};

} // namespace tilewright
