// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/TokenModel.h"
#include "runtime/tokenize/TokenTrie.h"
#include "runtime/tokenize/Utf8.h"

#include <algorithm>
#include <limits>

namespace tilewright {

namespace {

/// How much worse an unknown character is than the worst token. Source: kUnkPenalty of SentencePiece.
constexpr double kUnknownPenalty = 10;

class UnigramModel : public TokenModel {
public:
  UnigramModel(const TokenizerData &data, const Fallback &fallback) : scores(data.scores), fallback(fallback) {
    std::vector<TokenTrie::Entry> entries;
    double worst = std::numeric_limits<double>::infinity();
    for (int32_t id = 0; id < static_cast<int32_t>(data.tokens.size()); ++id)
      if (isOrdinary(data, id)) {
        entries.push_back({data.tokens[id], id});
        worst = std::min(worst, scores[id]);
      }
    unknownScore = (entries.empty() ? 0 : worst) - kUnknownPenalty;
    tokens = TokenTrie(std::move(entries));
  }

  std::unique_ptr<WordEncoder> makeEncoder(const WordOptions &options) const override;

private:
  friend class UnigramEncoder;
  const std::vector<double> &scores;
  const Fallback &fallback;
  double unknownScore;
  TokenTrie tokens;
};

/// Viterbi's algorithm: the best way to each place in the word, then back from its end.
class UnigramEncoder : public WordEncoder {
public:
  UnigramEncoder(const UnigramModel &model, bool skip) : model(model), skip(skip) {}

  void word(std::string_view word, size_t place, std::vector<int32_t> &ids) override {
    best.assign(word.size() + 1, {-std::numeric_limits<double>::infinity(), 0, kUnknown});
    best[0].score = 0;
    for (size_t at = 0, length; at < word.size(); at += length) {
      length = readUtf8(word, at).length;
      bool single = false; // a token is just this character
      uint32_t node = TokenTrie::kRoot;
      for (size_t end = at; end < word.size();) {
        node = model.tokens.step(node, static_cast<uint8_t>(word[end++]));
        if (node == TokenTrie::kNowhere)
          break;
        if (const int32_t id = model.tokens.id(node); id >= 0) {
          offer(at, end, id, model.scores[id]);
          single |= end == at + length;
        }
      }
      if (!single)
        offer(at, at + length, kUnknown, model.unknownScore);
    }
    path.clear();
    for (size_t end = word.size(); end > 0; end = best[end].begin)
      path.push_back({best[end].begin, end, best[end].id});
    // Unknown characters that follow one another are one unknown token.
    for (size_t i = path.size(); i-- > 0;) {
      Step step = path[i];
      for (; step.id == kUnknown && i > 0 && path[i - 1].id == kUnknown; --i)
        step.end = path[i - 1].end;
      if (step.id == kUnknown)
        model.fallback.append(word.substr(step.begin, step.end - step.begin), place + step.begin, skip, ids);
      else
        ids.push_back(step.id);
    }
  }

private:
  static constexpr int32_t kUnknown = -1;
  struct Way {
    double score;
    size_t begin; // of the last token on it
    int32_t id;
  };
  struct Step {
    size_t begin, end;
    int32_t id;
  };

  /// Of ways that are equally good the first one stays: the one whose last token is longest.
  void offer(size_t begin, size_t end, int32_t id, double score) {
    if (const double total = best[begin].score + score; total > best[end].score)
      best[end] = {total, begin, id};
  }

  const UnigramModel &model;
  const bool skip;
  std::vector<Way> best; // by place in the word
  std::vector<Step> path;
};

std::unique_ptr<WordEncoder> UnigramModel::makeEncoder(const WordOptions &options) const {
  return std::make_unique<UnigramEncoder>(*this, options.skipUnencodable);
}

} // namespace

std::unique_ptr<const TokenModel> makeUnigramModel(const TokenizerData &data, const Fallback &fallback) {
  return std::make_unique<UnigramModel>(data, fallback);
}

} // namespace tilewright
