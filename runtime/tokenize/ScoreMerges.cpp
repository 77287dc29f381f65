// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/ScoreMerges.h"

#include "runtime/tokenize/TokenModel.h"
#include "runtime/tokenize/TokenTrie.h"
#include "runtime/tokenize/Utf8.h"

#include <algorithm>
#include <set>

namespace tilewright {

namespace {

/// By rank: the ranks of the tokens' scores, 0 for the best, equal for equal scores.
std::vector<uint32_t> ranks(const TokenizerData &data) {
  std::vector<double> sorted = data.scores;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<uint32_t> result;
  for (double score : data.scores)
    result.push_back(static_cast<uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), score, std::greater<>()) -
                                           sorted.begin()));
  return result;
}

} // namespace

ScoreMerges mergesByScore(const TokenizerData &data) {
  ScoreMerges result;
  std::vector<int32_t> tokens;
  std::set<char32_t> single, parts; // characters that are tokens, and those that occur in tokens
  for (int32_t id = 0; id < static_cast<int32_t>(data.tokens.size()); ++id) {
    const std::string &token = data.tokens[id];
    if (!isOrdinary(data, id) || validUtf8Prefix(token) != token.size())
      continue;
    tokens.push_back(id);
    for (size_t at = 0; at < token.size();) {
      const Utf8Unit unit = readUtf8(token, at);
      (unit.length == token.size() ? single : parts).insert(unit.codePoint);
      at += unit.length;
    }
  }
  std::set_difference(parts.begin(), parts.end(), single.begin(), single.end(),
                      std::back_inserter(result.withoutToken));

  std::vector<std::string> characters;
  for (char32_t c : result.withoutToken)
    appendUtf8(characters.emplace_back(), c);
  std::vector<std::string> reversed;
  std::vector<TokenTrie::Entry> forward;
  auto add = [&](const std::string &text, size_t symbol) {
    forward.push_back({text, static_cast<int32_t>(symbol)});
    reversed.emplace_back(text.rbegin(), text.rend());
  };
  for (int32_t id : tokens)
    add(data.tokens[id], static_cast<size_t>(id));
  for (size_t i = 0; i < characters.size(); ++i)
    add(characters[i], data.tokens.size() + i);
  std::vector<TokenTrie::Entry> backward;
  for (size_t i = 0; i < forward.size(); ++i)
    backward.push_back({reversed[i], forward[i].id});
  const TokenTrie prefixes(std::move(forward)), suffixes(std::move(backward));

  const std::vector<uint32_t> rank = ranks(data);
  std::vector<int32_t> suffixAt; // by offset into the token: the symbol that fills it from there to its end
  for (int32_t id : tokens) {
    const std::string &token = data.tokens[id];
    suffixAt.assign(token.size(), -1);
    uint32_t node = TokenTrie::kRoot;
    for (size_t at = token.size(); at-- > 0;) {
      node = suffixes.step(node, static_cast<uint8_t>(token[at]));
      if (node == TokenTrie::kNowhere)
        break;
      suffixAt[at] = suffixes.id(node);
    }
    node = TokenTrie::kRoot;
    for (size_t at = 0; at + 1 < token.size(); ++at) {
      node = prefixes.step(node, static_cast<uint8_t>(token[at]));
      if (node == TokenTrie::kNowhere)
        break;
      if (prefixes.id(node) >= 0 && suffixAt[at + 1] >= 0)
        result.merges.push_back({prefixes.id(node), suffixAt[at + 1], id, rank[id]});
    }
  }
  return result;
}

} // namespace tilewright
