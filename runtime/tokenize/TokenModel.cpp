// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/TokenModel.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/ByteAlphabet.h"

#include <algorithm>
#include <charconv>

namespace tilewright {

std::optional<uint8_t> byteOfHexToken(std::string_view token) {
  uint8_t byte = 0;
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>' ||
      std::from_chars(token.data() + 3, token.data() + 5, byte, 16).ptr != token.data() + 5)
    return std::nullopt;
  return byte;
}

std::string ordinaryBytes(const TokenizerData &data, int32_t id) {
  const std::string &token = data.tokens[id];
  return data.byteLevel && typeOf(data, id) == TokenType::Normal ? bytesOfAlphabet(token).value_or(token) : token;
}

Fallback::Fallback(const TokenizerData &data)
    : unknown(data.byteLevel ? -1 : data.unkId), useBytes(data.byteLevel || data.byteFallback),
      vocabularySize(data.tokens.size()) {
  byteTokens.fill(-1);
  auto give = [&](uint8_t byte, int32_t id, bool prefer) {
    if (byteTokens[byte] < 0 || prefer)
      byteTokens[byte] = id;
  };
  for (int32_t id = 0; id < static_cast<int32_t>(data.tokens.size()); ++id) {
    const std::string &token = data.tokens[id];
    const TokenType type = typeOf(data, id);
    if (type == TokenType::Byte) {
      const auto byte = byteOfHexToken(token);
      if (!byte)
        throw Error(TW_CORRUPT,
                    "tokenizer: byte token " + std::to_string(id) + " is '" + token + "', wanted the form '<0x0A>'");
      give(*byte, id, false);
    } else if (data.byteLevel && isOrdinary(data, id)) {
      // A normal token is preferred to a byte token of the same value: merges speak of normal ones.
      if (const std::string bytes = ordinaryBytes(data, id); bytes.size() == 1)
        give(static_cast<uint8_t>(bytes[0]), id, type == TokenType::Normal);
    }
  }
}

void Fallback::append(std::string_view bytes, size_t place, bool skip, std::vector<int32_t> &ids) const {
  const auto lacking = std::find_if(bytes.begin(), bytes.end(), [&](char byte) { return byteToken(byte) < 0; });
  if (useBytes && lacking == bytes.end()) {
    for (char byte : bytes)
      ids.push_back(byteToken(byte));
    return;
  }
  if (unknown >= 0) {
    ids.push_back(unknown);
    return;
  }
  if (skip)
    return;
  const auto at = useBytes ? static_cast<size_t>(lacking - bytes.begin()) : 0;
  constexpr char digits[] = "0123456789ABCDEF";
  const auto byte = static_cast<uint8_t>(bytes[at]);
  throw Error(TW_INVALID, std::string("text: byte 0x") + digits[byte >> 4] + digits[byte & 15] + " at offset " +
                              std::to_string(place + at) + " has no token in this vocabulary of " +
                              std::to_string(vocabularySize) + " tokens");
}

std::unique_ptr<const TokenModel> makeTokenModel(const TokenizerData &data, const TokenIndex &index,
                                                 const Fallback &fallback) {
  if (data.kind == "wordpiece" || data.kind == "wordlevel")
    return makeWordPieceModel(data, fallback);
  if (data.kind == "unigram")
    return makeUnigramModel(data, fallback);
  return makeBytePairModel(data, index, fallback);
}

} // namespace tilewright
