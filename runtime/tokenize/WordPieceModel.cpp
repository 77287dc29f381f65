// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/TokenModel.h"
#include "runtime/tokenize/TokenTrie.h"
#include "runtime/tokenize/Utf8.h"

namespace tilewright {

namespace {

class WordPieceModel : public TokenModel {
public:
  WordPieceModel(const TokenizerData &data, const Fallback &fallback)
      : fallback(fallback), wholeWords(data.kind == "wordlevel"),
        mostCharacters(data.mostCharacters ? data.mostCharacters : SIZE_MAX) {
    std::vector<TokenTrie::Entry> all, inside;
    for (int32_t id = 0; id < static_cast<int32_t>(data.tokens.size()); ++id) {
      if (!isOrdinary(data, id))
        continue;
      const std::string_view token = data.tokens[id];
      all.push_back({token, id});
      if (token.starts_with(data.continuation) && token.size() > data.continuation.size())
        inside.push_back({token.substr(data.continuation.size()), id});
    }
    begins = TokenTrie(std::move(all));
    continuations = TokenTrie(std::move(inside));
  }

  std::unique_ptr<WordEncoder> makeEncoder(const WordOptions &options) const override;

private:
  friend class WordPieceEncoder;
  const Fallback &fallback;
  const bool wholeWords;
  const size_t mostCharacters;
  TokenTrie begins, continuations;
};

class WordPieceEncoder : public WordEncoder {
public:
  WordPieceEncoder(const WordPieceModel &model, bool skip) : model(model), skip(skip) {}

  void word(std::string_view word, size_t place, std::vector<int32_t> &ids) override {
    const size_t before = ids.size();
    if (model.wholeWords) {
      if (const int32_t id = model.begins.find(word); id >= 0)
        ids.push_back(id);
    } else if (!isTooLong(word)) {
      for (size_t at = 0; at < word.size();) {
        const auto [id, length] = longest(at ? model.continuations : model.begins, word.substr(at));
        if (id < 0) {
          ids.resize(before);
          break;
        }
        ids.push_back(id);
        at += length;
      }
    }
    // A word is unknown as a whole.
    if (ids.size() == before)
      model.fallback.append(word, place, skip, ids);
  }

private:
  bool isTooLong(std::string_view word) const {
    size_t characters = 0;
    for (char byte : word)
      characters += (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
    return characters > model.mostCharacters;
  }

  struct Piece {
    int32_t id;
    size_t length;
  };
  static Piece longest(const TokenTrie &trie, std::string_view text) {
    Piece best{-1, 0};
    uint32_t node = TokenTrie::kRoot;
    for (size_t at = 0; at < text.size(); ++at) {
      node = trie.step(node, static_cast<uint8_t>(text[at]));
      if (node == TokenTrie::kNowhere)
        break;
      if (trie.id(node) >= 0)
        best = {trie.id(node), at + 1};
    }
    return best;
  }

  const WordPieceModel &model;
  const bool skip;
};

std::unique_ptr<WordEncoder> WordPieceModel::makeEncoder(const WordOptions &options) const {
  return std::make_unique<WordPieceEncoder>(*this, options.skipUnencodable);
}

} // namespace

std::unique_ptr<const TokenModel> makeWordPieceModel(const TokenizerData &data, const Fallback &fallback) {
  return std::make_unique<WordPieceModel>(data, fallback);
}

} // namespace tilewright
