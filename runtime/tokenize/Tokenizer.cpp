// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/Tokenizer.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/ByteAlphabet.h"
#include "runtime/tokenize/TokenizerCheck.h"
#include "runtime/tokenize/Utf8.h"

#include <algorithm>
#include <charconv>

namespace tilewright {

namespace {

[[noreturn]] void corrupt(const std::string &message) { throw Error(TW_CORRUPT, "tokenizer: " + message); }

/// The value of a byte token's text, "<0x0A>".
std::optional<uint8_t> byteOfHexToken(std::string_view token) {
  uint8_t byte = 0;
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>' ||
      std::from_chars(token.data() + 3, token.data() + 5, byte, 16).ptr != token.data() + 5)
    return std::nullopt;
  return byte;
}

std::string hexByte(uint8_t byte) {
  constexpr char digits[] = "0123456789ABCDEF";
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

} // namespace

/// What one call of `encode` reuses from word to word.
struct Tokenizer::Scratch {
  Scratch(const MergeTable &table, bool skipUnencodable) : merger(table), skipUnencodable(skipUnencodable) {}

  BytePairMerger merger;
  std::vector<size_t> ends;
  std::vector<int32_t> symbols;
  bool skipUnencodable;
};

Tokenizer::Tokenizer(TokenizerData given)
    : data(std::move(given)), rule(&findPreTokenizerRule(data.pre)), preTokenizer(*rule) {
  const TokenIndex index = checkTokenizerData(data);
  decodeVocabulary();
  merges = MergeTable(readMerges(data, index), data.tokens.size());
}

void Tokenizer::decodeVocabulary() {
  byteTokens.fill(-1);
  const auto count = static_cast<int32_t>(data.tokens.size());
  bytesEnds.reserve(count);
  for (int32_t id = 0; id < count; ++id) {
    const std::string &token = data.tokens[id];
    const TokenType type = typeOf(data, id);
    const size_t begin = bytes.size();
    if (type == TokenType::Byte) {
      const auto byte = byteOfHexToken(token);
      if (!byte)
        corrupt("byte token " + std::to_string(id) + " is '" + token + "', wanted the form '<0x0A>'");
      bytes.push_back(static_cast<char>(*byte));
    } else if (const auto decoded = type == TokenType::Normal ? bytesOfAlphabet(token) : std::nullopt) {
      bytes += *decoded;
    } else {
      bytes += token;
    }
    bytesEnds.push_back(bytes.size());

    if (isSpecial(type))
      special.add(token, id);
    // A normal token is preferred to a byte token of the same value: merges speak of normal ones.
    if (bytes.size() - begin == 1 && (type == TokenType::Normal || type == TokenType::Byte)) {
      int32_t &holder = byteTokens[static_cast<uint8_t>(bytes.back())];
      if (holder < 0 || type == TokenType::Normal)
        holder = id;
    }
  }
  if (rule->wholeWordFirst)
    for (int32_t id = 0; id < count; ++id)
      if (typeOf(data, id) == TokenType::Normal)
        wholeWords.emplace(tokenBytes(id), id);
}

int32_t Tokenizer::byteTokenAt(std::string_view text, size_t at, size_t offset, const Scratch &scratch) const {
  const auto byte = static_cast<uint8_t>(text[at]);
  if (byteTokens[byte] < 0 && !scratch.skipUnencodable)
    throw Error(TW_INVALID, "text: byte " + hexByte(byte) + " at offset " + std::to_string(offset + at) +
                                " has no token in this vocabulary of " + std::to_string(vocabularySize()) + " tokens");
  return byteTokens[byte];
}

void Tokenizer::encodeWord(std::string_view word, size_t offset, Scratch &scratch, std::vector<int32_t> &ids) const {
  if (const auto found = wholeWords.find(word); found != wholeWords.end()) {
    ids.push_back(found->second);
    return;
  }
  scratch.symbols.clear();
  for (size_t at = 0; at < word.size(); ++at)
    if (const int32_t id = byteTokenAt(word, at, offset, scratch); id >= 0)
      scratch.symbols.push_back(id);
  scratch.merger.merge(scratch.symbols, ids);
}

void Tokenizer::encodeOrdinary(std::string_view text, size_t offset, Scratch &scratch,
                               std::vector<int32_t> &ids) const {
  for (size_t at = 0; at < text.size();) {
    const std::string_view valid = text.substr(at, validUtf8Prefix(text.substr(at)));
    scratch.ends.clear();
    preTokenizer.split(valid, scratch.ends);
    size_t begin = 0;
    for (size_t end : scratch.ends) {
      encodeWord(valid.substr(begin, end - begin), offset + at + begin, scratch, ids);
      begin = end;
    }
    at += valid.size();
    for (; at < text.size() && readUtf8(text, at).state != Utf8State::Valid; ++at)
      if (const int32_t id = byteTokenAt(text, at, offset, scratch); id >= 0)
        ids.push_back(id);
  }
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, const EncodeOptions &options) const {
  const TextSegment segment{std::string(text), options.parseSpecial};
  return encode(std::span(&segment, 1), options);
}

std::vector<int32_t> Tokenizer::encode(std::span<const TextSegment> segments, const EncodeOptions &options) const {
  std::string text;
  struct Range {
    size_t begin;
    size_t end;
  };
  std::vector<Range> parsed; // where special tokens may stand; neighbours joined
  for (const TextSegment &segment : segments) {
    const size_t begin = text.size();
    text += segment.text;
    if (!segment.parseSpecial || segment.text.empty())
      continue;
    if (!parsed.empty() && parsed.back().end == begin)
      parsed.back().end = text.size();
    else
      parsed.push_back({begin, text.size()});
  }
  if (text.size() >= UINT32_MAX)
    throw Error(TW_EXHAUSTED, "text: " + std::to_string(text.size()) + " bytes, at most 4294967294 can be encoded");

  std::vector<int32_t> ids;
  Scratch scratch(merges, options.skipUnencodable);
  const std::string_view view(text);
  auto ordinary = [&](size_t begin, size_t end) {
    if (begin == end)
      return;
    if (data.addSpacePrefix && view[begin] != ' ')
      encodeOrdinary(" " + text.substr(begin, end - begin), begin, scratch, ids);
    else
      encodeOrdinary(view.substr(begin, end - begin), begin, scratch, ids);
  };
  size_t done = 0;
  for (const Range &range : parsed)
    for (size_t from = range.begin;;) {
      const auto match = special.find(view.substr(0, range.end), from);
      if (!match)
        break;
      ordinary(done, match->begin);
      ids.push_back(match->id);
      done = from = match->end;
    }
  ordinary(done, text.size());

  if (options.addBegin && data.addBos && (ids.empty() || ids.front() != data.bosId))
    ids.insert(ids.begin(), data.bosId);
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skipSpecial) const {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    checkId(ids[i], "token " + std::to_string(i));
    if (!skipSpecial || typeOf(data, ids[i]) != TokenType::Control)
      text += tokenBytes(ids[i]);
  }
  return text;
}

void Tokenizer::checkId(int64_t id, std::string_view what) const {
  if (id < 0 || id >= static_cast<int64_t>(vocabularySize()))
    throw Error(TW_INVALID, std::string(what) + ": id " + std::to_string(id) + " is outside the vocabulary of " +
                                std::to_string(vocabularySize()) + " tokens");
}

std::string_view Tokenizer::tokenBytes(int32_t id) const {
  checkId(id, "token");
  const size_t begin = id ? bytesEnds[id - 1] : 0;
  return std::string_view(bytes).substr(begin, bytesEnds[id] - begin);
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
  const auto match = special.find(text, 0);
  if (!match || match->begin != 0 || match->end != text.size())
    return std::nullopt;
  return match->id;
}

} // namespace tilewright
