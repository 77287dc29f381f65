// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What turns words into token ids: byte-pair encoding, word pieces, unigram.
#pragma once

#include "runtime/tokenize/TokenizerCheck.h"
#include "runtime/tokenize/TokenizerData.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// Encodes words one by one; keeps its scratch space from word to word. Belongs to one thread at a time.
class WordEncoder {
public:
  virtual ~WordEncoder() = default;
  /// Appends the ids of a word, which is valid UTF-8 and not empty. `place`: where it stands in the text, for messages.
  virtual void word(std::string_view word, size_t place, std::vector<int32_t> &ids) = 0;
};

/// The value of a byte token's text, "<0x0A>".
std::optional<uint8_t> byteOfHexToken(std::string_view token);

/// What a token that is no byte token stands for, before the decoder's steps: a normal token of a byte-level vocabulary
/// for the bytes it spells, any other for its text.
std::string ordinaryBytes(const TokenizerData &data, int32_t id);

/// What a character or byte without a token of its own becomes.
class Fallback {
public:
  explicit Fallback(const TokenizerData &data);

  /// Appends the ids of `bytes` (one character, or one byte that is not UTF-8): byte tokens, or the unknown token, or,
  /// if `skip`, nothing. Throws INVALID naming byte and place if none of this is possible.
  void append(std::string_view bytes, size_t place, bool skip, std::vector<int32_t> &ids) const;
  /// The token of a single byte, or -1.
  int32_t byteToken(char byte) const { return byteTokens[static_cast<uint8_t>(byte)]; }

private:
  std::array<int32_t, 256> byteTokens;
  int32_t unknown;
  bool useBytes;
  size_t vocabularySize;
};

struct WordOptions {
  bool skipUnencodable = false; ///< leave out what has no token, instead of throwing
  bool mayBeControl = true;     ///< words may become control tokens, where the model's merges make any
};

/// Immutable, safe to share between threads.
class TokenModel {
public:
  virtual ~TokenModel() = default;
  /// The model must outlive its encoder.
  virtual std::unique_ptr<WordEncoder> makeEncoder(const WordOptions &options) const = 0;
};

/// The model of checked data, by its kind; all three must outlive it. Throws CORRUPT.
std::unique_ptr<const TokenModel> makeTokenModel(const TokenizerData &data, const TokenIndex &index,
                                                 const Fallback &fallback);

/// Byte-pair encoding (kinds "gpt2", "bpe", "bpe_scores") of bytes or of characters.
std::unique_ptr<const TokenModel> makeBytePairModel(const TokenizerData &data, const TokenIndex &index,
                                                    const Fallback &fallback);
/// Longest pieces first, from the left. Source: Wu et al., "Google's Neural Machine Translation System" (2016), as used
/// by Devlin et al., "BERT" (2019). Of kind "wordlevel" only whole words are tokens.
std::unique_ptr<const TokenModel> makeWordPieceModel(const TokenizerData &data, const Fallback &fallback);
/// The most probable pieces. Source: Kudo, "Subword Regularization" (2018), section 3.2.
std::unique_ptr<const TokenModel> makeUnigramModel(const TokenizerData &data, const Fallback &fallback);

/// Whether a word, or a part of one, may become this token.
inline bool isOrdinary(const TokenizerData &data, int32_t id) {
  return isPieceOfText(typeOf(data, id)) && !(matchingOf(data, id) & kNotInModel);
}

} // namespace tilewright
