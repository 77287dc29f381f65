// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/CharsMap.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/Utf8.h"

#include <algorithm>
#include <optional>

namespace tilewright {

namespace {

[[noreturn]] void corrupt(const std::string &message) {
  throw Error(TW_CORRUPT, "tokenizer: table of replacements (charsmap): " + message);
}

uint32_t readUnit(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i)
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return value;
}

// A unit: bits 0 to 7 a label, 8 whether a key ends here, 9 and 10 to 31 where its children are; of a leaf, bits 0 to
// 30 a value and bit 31 set.
bool hasLeaf(uint32_t unit) { return unit >> 8 & 1; }
uint32_t label(uint32_t unit) { return unit & (1u << 31 | 0xFF); }
size_t offset(uint32_t unit) { return static_cast<size_t>(unit >> 10) << ((unit & 1u << 9) >> 6); }

/// How many bytes an entry may have: looking one up costs its length at each place.
constexpr size_t kLongestEntry = 256;

} // namespace

CharsMap::CharsMap(std::string_view table) {
  if (table.size() < 4)
    corrupt(std::to_string(table.size()) + " bytes, wanted at least 4");
  const size_t trieBytes = readUnit(table, 0);
  if (trieBytes == 0 || trieBytes % 4 != 0 || trieBytes > table.size() - 4)
    corrupt("a trie of " + std::to_string(trieBytes) + " bytes in a table of " + std::to_string(table.size()));
  for (size_t at = 0; at < trieBytes; at += 4)
    trie.push_back(readUnit(table, 4 + at));
  replacements = table.substr(4 + trieBytes);
  if (!replacements.empty() && replacements.back() != '\0')
    corrupt("the last replacement has no end");
  if (validUtf8Prefix(replacements) != replacements.size())
    corrupt("byte " + std::to_string(validUtf8Prefix(replacements)) + " of the replacements is not UTF-8");
}

std::string CharsMap::apply(std::string_view text) const {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    std::optional<size_t> value;
    size_t matched = 0;
    size_t node = offset(trie[0]);
    for (size_t i = at; i < std::min(text.size(), at + kLongestEntry); ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      if (byte == 0)
        break;
      node ^= byte;
      if (node >= trie.size() || label(trie[node]) != byte)
        break;
      const uint32_t unit = trie[node];
      node ^= offset(unit);
      if (node >= trie.size())
        break;
      // An entry that ends inside a character would leave half of it.
      const size_t end = i + 1;
      if (hasLeaf(unit) && (end == text.size() || (static_cast<uint8_t>(text[end]) & 0xC0) != 0x80)) {
        value = trie[node] & 0x7FFFFFFF;
        matched = end - at;
      }
    }
    if (value && *value < replacements.size() && (static_cast<uint8_t>(replacements[*value]) & 0xC0) != 0x80) {
      result += replacements.c_str() + *value;
      if (result.size() >= UINT32_MAX)
        throw Error(TW_EXHAUSTED, "text: normalized, it has more than 4294967294 bytes");
    } else {
      matched = readUtf8(text, at).length;
      result.append(text, at, matched);
    }
    at += matched;
  }
  return result;
}

} // namespace tilewright
