// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/Decoder.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/TokenModel.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tilewright {

namespace {

void replaceAll(std::string &text, std::string_view what, std::string_view with) {
  std::string result;
  size_t at = 0;
  for (size_t found; (found = text.find(what, at)) != std::string::npos; at = found + what.size())
    result.append(text, at, found - at).append(with);
  text = result.append(text, at);
}

/// Source: cleanup of the WordPiece decoder of github.com/huggingface/tokenizers.
void cleanUp(std::string &text) {
  constexpr std::pair<std::string_view, std::string_view> rules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto &[what, with] : rules)
    replaceAll(text, what, with);
}

void applyStep(const TokenizerStep &step, bool first, std::string &text) {
  if (step.name == "replace") {
    replaceAll(text, step.text, step.with);
  } else if (step.name == "metaspace") {
    replaceAll(text, step.text, first && step.number != 0 ? "" : " ");
  } else if (step.name == "strip_first") {
    for (int32_t i = 0; first && i < step.number && text.starts_with(step.text); ++i)
      text.erase(0, step.text.size());
  } else if (step.name == "join") {
    text.insert(0, first ? "" : step.text);
  } else { // word_piece
    if (!first && text.starts_with(step.text))
      text.erase(0, step.text.size());
    else if (!first)
      text.insert(text.begin(), ' ');
    if (step.flag)
      cleanUp(text);
  }
}

void checkStep(const TokenizerStep &step) {
  constexpr std::string_view known[] = {"replace", "metaspace", "strip_first", "join", "word_piece"};
  if (std::find(std::begin(known), std::end(known), step.name) == std::end(known))
    throw Error(TW_UNSUPPORTED, "tokenizer: unknown decoder step '" + step.name + "'");
  if (step.text.empty())
    throw Error(TW_CORRUPT, "tokenizer: decoder step '" + step.name + "' has no text");
}

std::string spelling(const TokenizerData &data, const Normalizer &normalizer, int32_t id) {
  if (isSpecial(typeOf(data, id)) && (matchingOf(data, id) & kInNormalizedText))
    return normalizer.apply(data.tokens[id]);
  if (typeOf(data, id) == TokenType::Byte)
    if (const auto byte = byteOfHexToken(data.tokens[id]))
      return std::string(1, static_cast<char>(*byte));
  return ordinaryBytes(data, id);
}

} // namespace

TokenTexts::TokenTexts(const TokenizerData &data, const Normalizer &normalizer) {
  for (const TokenizerStep &step : data.decoders)
    checkStep(step);
  const auto count = static_cast<int32_t>(data.tokens.size());
  for (bool first : {false, true}) {
    if (first && data.decoders.empty())
      break;
    Store &store = first ? beginning : inside;
    store.ends.reserve(data.tokens.size());
    for (int32_t id = 0; id < count; ++id) {
      std::string text = spelling(data, normalizer, id);
      for (const TokenizerStep &step : data.decoders)
        applyStep(step, first, text);
      store.bytes += text;
      store.ends.push_back(store.bytes.size());
    }
  }
}

std::string_view TokenTexts::of(int32_t id, bool first) const {
  const Store &store = first && !beginning.ends.empty() ? beginning : inside;
  const size_t begin = id ? store.ends[id - 1] : 0;
  return std::string_view(store.bytes).substr(begin, store.ends[id] - begin);
}

} // namespace tilewright
