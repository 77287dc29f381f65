// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/SpecialTokens.h"

#include "runtime/tokenize/TokenizerData.h"
#include "runtime/tokenize/UnicodeText.h"

#include <algorithm>
#include <utility>

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

std::optional<SpecialTokens::Spelling>
SpecialTokens::longestAt(std::string_view text, size_t begin,
                         const std::function<bool(size_t, size_t)> &mayBeControl) const {
  std::optional<Spelling> longest;
  uint32_t node = TokenTrie::kRoot;
  for (size_t at = begin; at < text.size(); ++at) {
    node = trie.step(node, static_cast<uint8_t>(text[at]));
    if (node == TokenTrie::kNowhere)
      break;
    if (const int32_t index = trie.id(node); index >= 0 && (!tokens[index].control || mayBeControl(begin, at + 1)))
      longest.emplace(Spelling{tokens[index], at + 1});
  }
  return longest;
}

std::optional<SpecialTokens::Match> SpecialTokens::find(std::string_view text, Progress &progress,
                                                        const std::function<bool(size_t, size_t)> &mayBeControl) const {
  if (empty())
    return std::nullopt;
  for (size_t at = progress.next; at < text.size();) {
    const auto found = longestAt(text, at, mayBeControl);
    const size_t begin = std::exchange(at, found ? found->end : at + 1);
    if (!found)
      continue;
    const uint8_t matching = found->token.matching;
    if ((matching & kWholeWordsOnly) &&
        (endsWith(text, begin, isWordCharacter) || beginsWith(text, found->end, isWordCharacter)))
      continue;
    Match match{progress.taken, begin, found->end, found->token.id};
    if (matching & kTakesSpaceBehind)
      while (beginsWith(text, match.end, isWhiteSpace))
        match.end += readUtf8(text, match.end).length;
    if (matching & kTakesSpaceBefore)
      while (match.begin > match.before && endsWith(text, match.begin, isWhiteSpace))
        match.begin = std::max(match.before, characterBefore(text, match.begin));
    progress = {found->end, match.end};
    return match;
  }
  return std::nullopt;
}

} // namespace tilewright
