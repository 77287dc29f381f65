// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/Tokenizer.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/SplitRules.h"
#include "runtime/tokenize/TokenizerCheck.h"
#include "runtime/tokenize/Utf8.h"

#include <algorithm>

namespace tilewright {

namespace {

/// Data of kind "gpt2" as what it stands for; any other unchanged.
TokenizerData expand(TokenizerData data) {
  if (data.kind != "gpt2")
    return data;
  data.byteLevel = true;
  data.wholeWordFirst = findSplitRule(data.pre).wholeWordFirst;
  data.preTokenizers.clear();
  if (data.addSpacePrefix)
    data.preTokenizers.push_back({.name = "prefix_space"});
  data.preTokenizers.push_back({.name = "rule", .text = data.pre});
  return data;
}

SpecialTokens specialTokens(const TokenizerData &data, const Normalizer &normalizer, bool normalized) {
  std::vector<SpecialTokens::Token> tokens;
  for (int32_t id = 0; id < static_cast<int32_t>(data.tokens.size()); ++id) {
    const TokenType type = typeOf(data, id);
    const uint8_t matching = matchingOf(data, id);
    const std::string &token = data.tokens[id];
    if (!isSpecial(type) || static_cast<bool>(matching & kInNormalizedText) != normalized)
      continue;
    if (normalized && validUtf8Prefix(token) != token.size())
      throw Error(TW_CORRUPT, "tokenizer: token " + std::to_string(id) + " is not UTF-8, and cannot be normalized");
    std::string text = normalized ? normalizer.apply(token) : token;
    if (!text.empty())
      tokens.push_back({std::move(text), id, matching, type == TokenType::Control});
  }
  return SpecialTokens(std::move(tokens));
}

} // namespace

/// One call of `encode`.
class Tokenizer::Encoding {
public:
  Encoding(const Tokenizer &tokenizer, bool skipUnencodable)
      : tokenizer(tokenizer), skip(skipUnencodable),
        encoder(tokenizer.model->makeEncoder({.skipUnencodable = skip, .mayBeControl = false})),
        encoderWithControl(tokenizer.model->makeEncoder({.skipUnencodable = skip, .mayBeControl = true})) {}

  void add(const TextSegment &segment) {
    const size_t begin = text.size();
    text += segment.text;
    if (!segment.parseSpecial || segment.text.empty())
      return;
    if (!parsed.empty() && parsed.back().end == begin)
      parsed.back().end = text.size();
    else
      parsed.push_back({begin, text.size()});
  }

  std::vector<int32_t> run() {
    if (text.size() >= UINT32_MAX)
      throw Error(TW_EXHAUSTED, "text: " + std::to_string(text.size()) + " bytes, at most 4294967294 can be encoded");
    auto mayBeControl = [this](size_t begin, size_t end) { return isParsed(begin, end); };
    SpecialTokens::Progress progress;
    while (const auto match = tokenizer.special.find(text, progress, mayBeControl)) {
      stretch(match->before, match->begin);
      ids.push_back(match->id);
    }
    stretch(progress.taken, text.size());
    return std::move(ids);
  }

private:
  /// Whether control tokens may be read from all of [begin, end).
  bool isParsed(size_t begin, size_t end) const {
    const auto range = std::upper_bound(parsed.begin(), parsed.end(), begin,
                                        [](size_t at, const TextRange &one) { return at < one.end; });
    return range != parsed.end() && range->begin <= begin && end <= range->end;
  }

  /// What lies between special tokens, invalid bytes included.
  void stretch(size_t begin, size_t end) {
    const std::string_view all = std::string_view(text).substr(0, end);
    for (size_t at = begin; at < end;) {
      const size_t valid = validUtf8Prefix(all.substr(at));
      ordinary(at, at + valid);
      for (at += valid; at < end && readUtf8(all, at).state != Utf8State::Valid; ++at)
        tokenizer.fallback.append(all.substr(at, 1), at, skip, ids);
    }
  }

  void ordinary(size_t begin, size_t end) {
    if (begin == end)
      return;
    size_t head = begin == 0 ? readUtf8(text, 0).length : 0;
    const std::string normalized = tokenizer.normalizer.apply(std::string_view(text).substr(begin, end - begin), head);
    const bool parsed = isParsed(begin, end);
    WordEncoder &encode = parsed ? *encoderWithControl : *encoder;
    auto words = [&](size_t from, size_t to) {
      if (from < to)
        addWords(normalized.substr(from, to - from), head - std::min(head, from), begin + from, encode);
    };
    SpecialTokens::Progress progress;
    while (const auto match =
               tokenizer.specialInNormalized.find(normalized, progress, [parsed](size_t, size_t) { return parsed; })) {
      words(match->before, match->begin);
      ids.push_back(match->id);
    }
    words(progress.taken, normalized.size());
  }

  void addWords(std::string piece, size_t head, size_t place, WordEncoder &encode) {
    const Words cut = tokenizer.preTokenizer.split(std::move(piece), head);
    for (const TextRange &range : cut.ranges)
      encode.word(std::string_view(cut.text).substr(range.begin, range.end - range.begin), place + range.begin, ids);
  }

  const Tokenizer &tokenizer;
  const bool skip;
  std::unique_ptr<WordEncoder> encoder, encoderWithControl;
  std::string text;
  std::vector<TextRange> parsed; // where control tokens may stand; neighbours joined
  std::vector<int32_t> ids;
};

/// Moving `data` keeps the strings that `index` refers to.
struct Tokenizer::Checked {
  explicit Checked(TokenizerData given) : data(expand(std::move(given))), index(checkTokenizerData(data)) {}

  TokenizerData data;
  TokenIndex index;
};

Tokenizer::Tokenizer(TokenizerData given) : Tokenizer(Checked(std::move(given))) {}

Tokenizer::Tokenizer(Checked checked)
    : data(std::move(checked.data)), normalizer(data.normalizers), preTokenizer(data.preTokenizers),
      special(specialTokens(data, normalizer, false)), specialInNormalized(specialTokens(data, normalizer, true)),
      texts(data, normalizer), fallback(data), model(makeTokenModel(data, checked.index, fallback)) {}

std::vector<int32_t> Tokenizer::encode(std::string_view text, const EncodeOptions &options) const {
  const TextSegment segment{std::string(text), options.parseSpecial};
  return encode(std::span(&segment, 1), options);
}

std::vector<int32_t> Tokenizer::encode(std::span<const TextSegment> segments, const EncodeOptions &options) const {
  Encoding encoding(*this, options.skipUnencodable);
  for (const TextSegment &segment : segments)
    encoding.add(segment);
  std::vector<int32_t> ids = encoding.run();

  std::vector<int32_t> prefix = data.prefixIds;
  if (prefix.empty() && data.addBos)
    prefix = {data.bosId};
  const std::vector<int32_t> &suffix = data.suffixIds;
  auto ends = [&] { return std::span(ids).last(std::min(suffix.size(), ids.size())); };
  auto begins = [&] { return std::span(ids).first(std::min(prefix.size(), ids.size())); };
  if (options.addEnd && !std::ranges::equal(ends(), suffix))
    ids.insert(ids.end(), suffix.begin(), suffix.end());
  if (options.addBegin && !std::ranges::equal(begins(), prefix))
    ids.insert(ids.begin(), prefix.begin(), prefix.end());
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skipSpecial) const {
  std::string text;
  bool first = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    checkId(ids[i], "token " + std::to_string(i));
    if (skipSpecial && typeOf(data, ids[i]) == TokenType::Control)
      continue;
    text += texts.of(ids[i], first);
    first = false;
  }
  return text;
}

void Tokenizer::checkId(int64_t id, std::string_view what) const {
  if (id < 0 || id >= static_cast<int64_t>(vocabularySize()))
    throw Error(TW_INVALID, std::string(what) + ": id " + std::to_string(id) + " is outside the vocabulary of " +
                                std::to_string(vocabularySize()) + " tokens");
}

std::string_view Tokenizer::tokenBytes(int32_t id, bool first) const {
  checkId(id, "token");
  return texts.of(id, first);
}

const std::string &Tokenizer::tokenText(int32_t id) const {
  checkId(id, "token");
  return data.tokens[id];
}

TokenType Tokenizer::tokenType(int32_t id) const {
  checkId(id, "token");
  return typeOf(data, id);
}

size_t Tokenizer::meaningfulSize() const {
  size_t size = data.tokens.size();
  while (size > 0 && tokenType(static_cast<int32_t>(size - 1)) == TokenType::Unused)
    --size;
  return size;
}

bool Tokenizer::isEnd(int32_t id) const {
  return id >= 0 && (id == data.eosId || std::find(data.eotIds.begin(), data.eotIds.end(), id) != data.eotIds.end());
}

std::optional<int32_t> Tokenizer::findSpecial(std::string_view text) const {
  const int32_t id = special.findWhole(text);
  return id < 0 ? std::nullopt : std::optional(id);
}

} // namespace tilewright
