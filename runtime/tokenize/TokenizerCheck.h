// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold of a tokenizer's data before anything is built from it.
#pragma once

#include "runtime/tokenize/BytePairMerger.h"
#include "runtime/tokenize/TokenizerData.h"

#include <string_view>
#include <unordered_map>

namespace tilewright {

/// Ids by token text. The views refer to the data's strings.
using TokenIndex = std::unordered_map<std::string_view, int32_t>;

/// Whether tokens of this type are spelled literally and found in text before it is cut into words.
inline bool isSpecial(TokenType type) { return type == TokenType::Control || type == TokenType::UserDefined; }

/// Whether any text may become tokens of this type.
inline bool isPieceOfText(TokenType type) { return type == TokenType::Normal || type == TokenType::UserDefined; }

/// Type of a token, normal if the data gives none; `id` is in range.
inline TokenType typeOf(const TokenizerData &data, int32_t id) {
  return data.tokenTypes.empty() ? TokenType::Normal : static_cast<TokenType>(data.tokenTypes[id]);
}

inline uint8_t matchingOf(const TokenizerData &data, int32_t id) {
  return data.matching.empty() ? 0 : data.matching[id];
}

/// Checks kind, sizes, types, scores, special ids, and that tokens are neither empty nor doubled. Throws UNSUPPORTED or
/// CORRUPT.
TokenIndex checkTokenizerData(const TokenizerData &data);

/// Reads the merges of checked data: each is 'left right', both sides and their join are normal, user-defined, control
/// or unknown tokens, none stands twice. Throws CORRUPT.
std::vector<Merge> readMerges(const TokenizerData &data, const TokenIndex &index);

} // namespace tilewright
