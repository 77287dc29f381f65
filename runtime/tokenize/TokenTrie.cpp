// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/TokenTrie.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <tuple>

namespace tilewright {

TokenTrie::TokenTrie(std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return std::tie(a.text, a.id) < std::tie(b.text, b.id); });
  struct Open { // a node whose children are still to be made: the entries [begin, end) start with its text
    uint32_t node;
    size_t begin, end, length;
  };
  nodes.push_back({0, 0, -1});
  labels.push_back('\0');
  std::vector<Open> queue{{kRoot, 0, entries.size(), 0}};
  for (size_t done = 0; done < queue.size(); ++done) {
    Open open = queue[done];
    for (; open.begin < open.end && entries[open.begin].text.size() == open.length; ++open.begin)
      nodes[open.node].id = entries[open.begin].id;
    nodes[open.node].firstChild = static_cast<uint32_t>(nodes.size());
    while (open.begin < open.end) {
      const char byte = entries[open.begin].text[open.length];
      const auto next = std::find_if(entries.begin() + static_cast<std::ptrdiff_t>(open.begin),
                                     entries.begin() + static_cast<std::ptrdiff_t>(open.end),
                                     [&](const Entry &entry) { return entry.text[open.length] != byte; });
      const auto end = static_cast<size_t>(next - entries.begin());
      queue.push_back({static_cast<uint32_t>(nodes.size()), open.begin, end, open.length + 1});
      nodes.push_back({0, 0, -1});
      labels.push_back(byte);
      ++nodes[open.node].children;
      open.begin = end;
    }
  }
}

uint32_t TokenTrie::step(uint32_t node, uint8_t byte) const {
  const Node &from = nodes[node];
  if (from.children == 0)
    return kNowhere;
  const char *begin = labels.data() + from.firstChild;
  const void *found = std::memchr(begin, byte, from.children);
  return found ? from.firstChild + static_cast<uint32_t>(static_cast<const char *>(found) - begin) : kNowhere;
}

int32_t TokenTrie::find(std::string_view text) const {
  uint32_t node = kRoot;
  for (char c : text) {
    node = step(node, static_cast<uint8_t>(c));
    if (node == kNowhere)
      return -1;
  }
  return id(node);
}

} // namespace tilewright
