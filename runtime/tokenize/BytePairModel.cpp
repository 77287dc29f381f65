// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/BytePairMerger.h"
#include "runtime/tokenize/ScoreMerges.h"
#include "runtime/tokenize/TokenModel.h"
#include "runtime/tokenize/Utf8.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tilewright {

namespace {

class BytePairModel : public TokenModel {
public:
  BytePairModel(const TokenizerData &data, const TokenIndex &index, const Fallback &fallback);
  std::unique_ptr<WordEncoder> makeEncoder(const WordOptions &options) const override;

private:
  friend class BytePairEncoder;

  const Fallback &fallback;
  const bool byteLevel;
  const bool fuseUnknown;
  const int32_t unknown;
  const int32_t vocabularySize;
  std::unordered_map<std::string, int32_t> wholeWords;
  std::unordered_map<char32_t, int32_t> characters; // symbols; those from vocabularySize on are no tokens
  std::vector<char32_t> withoutToken;               // by symbol - vocabularySize
  MergeTable merges;
  std::unordered_map<int32_t, std::pair<int32_t, int32_t>> partsOfControl; // of tokens that merges make
};

class BytePairEncoder : public WordEncoder {
public:
  BytePairEncoder(const BytePairModel &model, const WordOptions &options)
      : model(model), merger(model.merges), options(options) {}

  void word(std::string_view word, size_t place, std::vector<int32_t> &ids) override {
    if (!model.wholeWords.empty())
      if (const auto found = model.wholeWords.find(std::string(word)); found != model.wholeWords.end()) {
        ids.push_back(found->second);
        return;
      }
    symbols.clear();
    if (model.byteLevel)
      for (size_t at = 0; at < word.size(); ++at)
        model.fallback.append(word.substr(at, 1), place + at, options.skipUnencodable, symbols);
    else
      readCharacters(word, place);
    merged.clear();
    merger.merge(symbols, merged);
    if (!options.mayBeControl && !model.partsOfControl.empty())
      takeControlApart();
    for (int32_t symbol : merged)
      if (symbol < model.vocabularySize) {
        ids.push_back(symbol);
      } else {
        std::string character;
        appendUtf8(character, model.withoutToken[symbol - model.vocabularySize]);
        model.fallback.append(character, place, options.skipUnencodable, ids);
      }
  }

private:
  /// On the way to a longer token a control token is a step as any other; as a result it is not.
  void takeControlApart() {
    symbols.swap(merged);
    merged.clear();
    std::reverse(symbols.begin(), symbols.end());
    while (!symbols.empty()) {
      const int32_t symbol = symbols.back();
      symbols.pop_back();
      if (const auto parts = model.partsOfControl.find(symbol); parts != model.partsOfControl.end())
        symbols.insert(symbols.end(), {parts->second.second, parts->second.first});
      else
        merged.push_back(symbol);
    }
  }

  void readCharacters(std::string_view word, size_t place) {
    bool afterUnknown = false;
    for (size_t at = 0; at < word.size();) {
      const Utf8Unit unit = readUtf8(word, at);
      const auto found = model.characters.find(unit.codePoint);
      if (found != model.characters.end()) {
        symbols.push_back(found->second);
        afterUnknown = false;
      } else {
        const size_t before = symbols.size();
        model.fallback.append(word.substr(at, unit.length), place + at, options.skipUnencodable, symbols);
        const bool isUnknown = symbols.size() == before + 1 && symbols.back() == model.unknown;
        if (isUnknown && afterUnknown && model.fuseUnknown)
          symbols.pop_back();
        afterUnknown = isUnknown;
      }
      at += unit.length;
    }
  }

  const BytePairModel &model;
  BytePairMerger merger;
  const WordOptions options;
  std::vector<int32_t> symbols, merged;
};

/// The only character of a text.
std::optional<char32_t> singleCharacter(std::string_view text) {
  const Utf8Unit unit = readUtf8(text, 0);
  return unit.state == Utf8State::Valid && unit.length == text.size() ? std::optional(unit.codePoint) : std::nullopt;
}

BytePairModel::BytePairModel(const TokenizerData &data, const TokenIndex &index, const Fallback &fallback)
    : fallback(fallback), byteLevel(data.byteLevel), fuseUnknown(data.fuseUnknown), unknown(data.unkId),
      vocabularySize(static_cast<int32_t>(data.tokens.size())) {
  for (int32_t id = 0; id < vocabularySize; ++id) {
    if (!isOrdinary(data, id))
      continue;
    const std::string &token = data.tokens[id];
    if (data.wholeWordFirst)
      wholeWords.emplace(ordinaryBytes(data, id), id);
    if (const auto character = singleCharacter(token); character && !byteLevel)
      characters.emplace(*character, id);
  }
  if (data.kind != "bpe_scores") {
    std::vector<Merge> list = readMerges(data, index);
    for (const Merge &merge : list)
      if (!isPieceOfText(typeOf(data, merge.result)))
        partsOfControl.try_emplace(merge.result, merge.left, merge.right);
    merges = MergeTable(std::move(list), data.tokens.size());
    return;
  }
  ScoreMerges scored = mergesByScore(data);
  withoutToken = std::move(scored.withoutToken);
  for (size_t i = 0; i < withoutToken.size(); ++i)
    characters.emplace(withoutToken[i], vocabularySize + static_cast<int32_t>(i));
  merges = MergeTable(std::move(scored.merges), data.tokens.size() + withoutToken.size());
}

std::unique_ptr<WordEncoder> BytePairModel::makeEncoder(const WordOptions &options) const {
  return std::make_unique<BytePairEncoder>(*this, options);
}

} // namespace

std::unique_ptr<const TokenModel> makeBytePairModel(const TokenizerData &data, const TokenIndex &index,
                                                    const Fallback &fallback) {
  return std::make_unique<BytePairModel>(data, index, fallback);
}

} // namespace tilewright
