// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/SpecialTokens.h"

namespace tilewright {

uint32_t SpecialTokens::step(uint32_t node, uint8_t byte) const {
  for (uint32_t child = nodes[node].child; child; child = nodes[child].sibling)
    if (nodes[child].byte == byte)
      return child;
  return 0;
}

void SpecialTokens::add(std::string_view text, int32_t id) {
  uint32_t node = 0;
  for (char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    uint32_t child = step(node, byte);
    if (!child) {
      child = static_cast<uint32_t>(nodes.size());
      nodes.push_back({byte, nodes[node].child, 0, -1});
      nodes[node].child = child;
    }
    node = child;
  }
  nodes[node].id = id;
}

std::optional<SpecialTokens::Match> SpecialTokens::find(std::string_view text, size_t from) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    std::optional<Match> longest;
    uint32_t node = 0;
    for (size_t at = begin; at < text.size(); ++at) {
      node = step(node, static_cast<uint8_t>(text[at]));
      if (!node)
        break;
      if (nodes[node].id >= 0)
        longest = Match{begin, at + 1, nodes[node].id};
    }
    if (longest)
      return longest;
  }
  return std::nullopt;
}

} // namespace tilewright
