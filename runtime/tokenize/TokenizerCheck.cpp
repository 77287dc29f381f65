// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/TokenizerCheck.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/SpecialTokens.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_set>

namespace tilewright {

namespace {

[[noreturn]] void corrupt(const std::string &message) { throw Error(TW_CORRUPT, "tokenizer: " + message); }

void checkSpecialId(const TokenizerData &data, const char *field, int32_t id, int32_t lowest) {
  if (id < lowest || id >= static_cast<int64_t>(data.tokens.size()))
    corrupt(std::string(field) + " is " + std::to_string(id) + ", wanted " + std::to_string(lowest) + " to " +
            std::to_string(data.tokens.size() - 1));
}

} // namespace

TokenIndex checkTokenizerData(const TokenizerData &data) {
  constexpr std::string_view kinds[] = {"gpt2", "bpe", "bpe_scores", "wordpiece", "wordlevel", "unigram"};
  if (std::find(std::begin(kinds), std::end(kinds), data.kind) == std::end(kinds))
    throw Error(TW_UNSUPPORTED, "tokenizer: kind '" + data.kind +
                                    "' is not supported; wanted 'gpt2', 'bpe', 'bpe_scores', 'wordpiece', 'wordlevel' "
                                    "or 'unigram'");
  if (data.tokens.empty())
    corrupt("the vocabulary is empty");
  if (data.tokens.size() > INT32_MAX)
    corrupt("the vocabulary has " + std::to_string(data.tokens.size()) + " tokens, at most 2147483647 are possible");
  auto checkPerToken = [&](const char *field, size_t size) {
    if (size && size != data.tokens.size())
      corrupt(std::string(field) + " has " + std::to_string(size) + " entries for " +
              std::to_string(data.tokens.size()) + " tokens");
  };
  checkPerToken("token_types", data.tokenTypes.size());
  checkPerToken("scores", data.scores.size());
  checkPerToken("matching", data.matching.size());
  if (data.scores.empty() && (data.kind == "unigram" || data.kind == "bpe_scores"))
    corrupt("kind '" + data.kind + "' needs scores, found none");
  for (size_t id = 0; id < data.scores.size(); ++id)
    if (!std::isfinite(data.scores[id]))
      corrupt("the score of token " + std::to_string(id) + " is not a finite number");
  for (size_t id = 0; id < data.tokenTypes.size(); ++id)
    if (data.tokenTypes[id] < 1 || data.tokenTypes[id] > 6)
      corrupt("token " + std::to_string(id) + " has type " + std::to_string(data.tokenTypes[id]) + ", wanted 1 to 6");

  checkSpecialId(data, "bos_id", data.bosId, -1);
  checkSpecialId(data, "eos_id", data.eosId, -1);
  checkSpecialId(data, "unk_id", data.unkId, -1);
  checkSpecialId(data, "pad_id", data.padId, -1);
  for (int32_t id : data.eotIds)
    checkSpecialId(data, "an entry of eot_ids", id, 0);
  for (int32_t id : data.prefixIds)
    checkSpecialId(data, "an entry of prefix_ids", id, 0);
  for (int32_t id : data.suffixIds)
    checkSpecialId(data, "an entry of suffix_ids", id, 0);
  if (data.addBos && data.bosId < 0)
    corrupt("add_bos is set, but there is no bos_id");

  TokenIndex index;
  index.reserve(data.tokens.size());
  for (size_t id = 0; id < data.tokens.size(); ++id) {
    const std::string &token = data.tokens[id];
    if (token.empty())
      corrupt("token " + std::to_string(id) + " is empty");
    if (const auto [place, added] = index.emplace(token, static_cast<int32_t>(id)); !added)
      corrupt("tokens " + std::to_string(place->second) + " and " + std::to_string(id) + " are both '" + token + "'");
    // Looking for these costs their length at each place of a text.
    const bool special = isSpecial(typeOf(data, static_cast<int32_t>(id)));
    const bool bounded = data.kind == "unigram" || data.kind == "wordpiece";
    if ((special || bounded) && token.size() > SpecialTokens::kMaxLength)
      corrupt((special ? "special token " : "token ") + std::to_string(id) + " is " + std::to_string(token.size()) +
              " bytes long, at most " + std::to_string(SpecialTokens::kMaxLength) + " are possible");
  }
  return index;
}

std::vector<Merge> readMerges(const TokenizerData &data, const TokenIndex &index) {
  std::vector<Merge> list;
  list.reserve(data.merges.size());
  std::unordered_set<uint64_t> pairs;
  pairs.reserve(data.merges.size());
  std::string joined;
  for (size_t rank = 0; rank < data.merges.size(); ++rank) {
    const std::string &text = data.merges[rank];
    const std::string place = "merge " + std::to_string(rank) + " ('" + text + "')";
    const size_t space = text.find(' ', 1);
    if (space == std::string::npos || space + 1 == text.size())
      corrupt(place + " is not of the form 'left right'");
    auto find = [&](std::string_view part) {
      const auto found = index.find(part);
      if (found == index.end())
        corrupt(place + " needs the token '" + std::string(part) + "', which the vocabulary lacks");
      if (const TokenType type = typeOf(data, found->second); type == TokenType::Unused || type == TokenType::Byte)
        corrupt(place + " involves token " + std::to_string(found->second) + " ('" + std::string(part) +
                "'), which is an unused or a byte token");
      return found->second;
    };
    joined.assign(text, 0, space).append(text, space + 1);
    const std::string_view view(text);
    const Merge merge{find(view.substr(0, space)), find(view.substr(space + 1)), find(joined),
                      static_cast<uint32_t>(rank)};
    if (!pairs.insert(static_cast<uint64_t>(merge.left) << 32 | static_cast<uint32_t>(merge.right)).second)
      corrupt(place + " stands in the list twice");
    list.push_back(merge);
  }
  return list;
}

} // namespace tilewright
