// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/SpecialTokens.h"

#include "runtime/tokenize/TokenizerData.h"
#include "runtime/tokenize/UnicodeText.h"

#include <algorithm>

namespace tilewright {

namespace {

std::vector<TokenTrie::Entry> entriesOf(const std::vector<SpecialTokens::Token> &tokens) {
  std::vector<TokenTrie::Entry> entries;
  for (size_t i = 0; i < tokens.size(); ++i)
    entries.push_back({tokens[i].text, static_cast<int32_t>(i)});
  return entries;
}

/// Where the character that ends at `end` begins; `end` > 0. What is not UTF-8 counts byte by byte.
size_t characterBefore(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && end - begin < 4 && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80)
    --begin;
  const Utf8Unit unit = readUtf8(text, begin);
  return unit.state == Utf8State::Valid && begin + unit.length == end ? begin : end - 1;
}

template <typename Predicate> bool endsWith(std::string_view text, size_t end, Predicate predicate) {
  if (end == 0)
    return false;
  const Utf8Unit unit = readUtf8(text, characterBefore(text, end));
  return unit.state == Utf8State::Valid && predicate(unit.codePoint);
}

template <typename Predicate> bool beginsWith(std::string_view text, size_t begin, Predicate predicate) {
  if (begin == text.size())
    return false;
  const Utf8Unit unit = readUtf8(text, begin);
  return unit.state == Utf8State::Valid && predicate(unit.codePoint);
}

} // namespace

SpecialTokens::SpecialTokens(std::vector<Token> list) : tokens(std::move(list)), trie(entriesOf(tokens)) {}

int32_t SpecialTokens::findWhole(std::string_view text) const {
  const int32_t index = trie.find(text);
  return index < 0 ? -1 : tokens[index].id;
}

std::optional<SpecialTokens::Match>
SpecialTokens::longestAt(std::string_view text, size_t from, size_t begin,
                         const std::function<bool(size_t, size_t)> &mayBeControl) const {
  std::optional<Match> longest;
  uint8_t matching = 0;
  uint32_t node = TokenTrie::kRoot;
  for (size_t at = begin; at < text.size(); ++at) {
    node = trie.step(node, static_cast<uint8_t>(text[at]));
    if (node == TokenTrie::kNowhere)
      break;
    const int32_t index = trie.id(node);
    if (index < 0 || (tokens[index].control && !mayBeControl(begin, at + 1)))
      continue;
    longest = Match{begin, at + 1, tokens[index].id};
    matching = tokens[index].matching;
  }
  if (longest && (matching & kWholeWordsOnly) &&
      (endsWith(text, longest->begin, isWordCharacter) || beginsWith(text, longest->end, isWordCharacter)))
    return std::nullopt;
  if (longest && (matching & kTakesSpaceBehind))
    while (beginsWith(text, longest->end, isWhiteSpace))
      longest->end += readUtf8(text, longest->end).length;
  if (longest && (matching & kTakesSpaceBefore))
    while (longest->begin > from && endsWith(text, longest->begin, isWhiteSpace))
      longest->begin = std::max(from, characterBefore(text, longest->begin));
  return longest;
}

std::optional<SpecialTokens::Match> SpecialTokens::find(std::string_view text, size_t from,
                                                        const std::function<bool(size_t, size_t)> &mayBeControl) const {
  if (empty())
    return std::nullopt;
  for (size_t begin = from; begin < text.size(); ++begin)
    if (auto match = longestAt(text, from, begin, mayBeControl))
      return match;
  return std::nullopt;
}

} // namespace tilewright
