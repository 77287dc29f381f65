// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A set of texts with a number each, read byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// Immutable. Its size is linear in that of the texts.
class TokenTrie {
public:
  struct Entry {
    std::string_view text; ///< not empty
    int32_t id;            ///< at least 0
  };
  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kNowhere = UINT32_MAX;

  TokenTrie() : TokenTrie(std::vector<Entry>()) {}
  /// Of equal texts the one of the highest number counts.
  explicit TokenTrie(std::vector<Entry> entries);

  /// The node behind `node` and `byte`, or kNowhere.
  uint32_t step(uint32_t node, uint8_t byte) const;
  /// The number of the text that ends here, or -1.
  int32_t id(uint32_t node) const { return nodes[node].id; }
  /// The number of a whole text, or -1.
  int32_t find(std::string_view text) const;

private:
  struct Node {
    uint32_t firstChild; // its children are neighbours
    uint16_t children;
    int32_t id;
  };
  std::vector<Node> nodes;
  std::string labels; // by node: the byte that leads to it
};

} // namespace tilewright
