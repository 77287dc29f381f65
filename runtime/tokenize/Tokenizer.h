// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text to token ids and back: byte-level byte-pair encoding (GGUF kind "gpt2").
#pragma once

#include "runtime/tokenize/BytePairMerger.h"
#include "runtime/tokenize/PreTokenizer.h"
#include "runtime/tokenize/SpecialTokens.h"
#include "runtime/tokenize/TextSegment.h"
#include "runtime/tokenize/TokenizerData.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tilewright {

struct EncodeOptions {
  /// Read control and user-defined tokens from the text; otherwise their spelling is ordinary text. (Of
  /// `encode(segments)` each segment decides for itself.)
  bool parseSpecial = false;
  /// Put the begin token in front if the model wants one and the ids do not begin with it already.
  bool addBegin = false;
  /// Leave out bytes that the vocabulary has no token for, instead of failing. (Some vocabularies lack rare bytes.)
  bool skipUnencodable = false;
};

/// Immutable, safe to share between threads. Every method throws `Error` only as stated.
///
/// Bytes are never changed on the way: `decode(encode(x)) == x` for any bytes, valid UTF-8 or not, if the vocabulary
/// has all 256 byte tokens and no space prefix. A byte that is not part of valid UTF-8 becomes its byte token.
class Tokenizer {
public:
  /// Checks and takes over `data`. Throws UNSUPPORTED for another kind or an unknown pre-tokenizer rule, CORRUPT for
  /// data that contradicts itself; the message names field, entry, value found and value wanted.
  explicit Tokenizer(TokenizerData data);
  Tokenizer(const Tokenizer &) = delete;
  Tokenizer &operator=(const Tokenizer &) = delete;

  /// Throws INVALID naming the byte and its offset if the vocabulary has no token for it (see `skipUnencodable`).
  std::vector<int32_t> encode(std::string_view text, const EncodeOptions &options) const;
  std::vector<int32_t> encode(std::string_view text, bool parseSpecial = false) const {
    return encode(text, EncodeOptions{.parseSpecial = parseSpecial});
  }
  /// Encodes the segments as one text, except that a special token is read only where all of its bytes come from
  /// segments that allow it. Throws as above, with the offset into the joined text.
  std::vector<int32_t> encode(std::span<const TextSegment> segments, const EncodeOptions &options = {}) const;

  /// The bytes the ids stand for; `skipSpecial` leaves out control tokens. Throws INVALID for an id outside the
  /// vocabulary, naming it and its place. The result may end inside a UTF-8 sequence: see StreamDecoder.
  std::string decode(std::span<const int32_t> ids, bool skipSpecial = false) const;

  size_t vocabularySize() const { return data.tokens.size(); }
  /// Tokens up to the last one that is not of type unused: what stands behind them fills up a table. 0: all are unused.
  size_t meaningfulSize() const;
  /// The bytes of one token; throws INVALID for an id outside the vocabulary.
  std::string_view tokenBytes(int32_t id) const;
  /// The token's text as the vocabulary spells it; throws as `tokenBytes`.
  const std::string &tokenText(int32_t id) const;
  TokenType tokenType(int32_t id) const;
  /// Whether a text ends with this id: the end token and the further ones.
  bool isEnd(int32_t id) const;
  /// A special token by its text ("<|im_end|>").
  std::optional<int32_t> findSpecial(std::string_view text) const;
  /// Throws INVALID unless 0 <= id < vocabularySize(); `what` begins the message ("prompt token 3").
  void checkId(int64_t id, std::string_view what) const;

  int32_t bosId() const { return data.bosId; }
  int32_t eosId() const { return data.eosId; }
  const std::string &chatTemplate() const { return data.chatTemplate; }

private:
  struct Scratch;

  void decodeVocabulary();
  void encodeOrdinary(std::string_view text, size_t offset, Scratch &scratch, std::vector<int32_t> &ids) const;
  void encodeWord(std::string_view word, size_t offset, Scratch &scratch, std::vector<int32_t> &ids) const;
  int32_t byteTokenAt(std::string_view text, size_t at, size_t offset, const Scratch &scratch) const;

  TokenizerData data;
  const PreTokenizerRule *rule;
  PreTokenizer preTokenizer;
  std::string bytes;             // of all tokens, one after another
  std::vector<size_t> bytesEnds; // by id
  std::array<int32_t, 256> byteTokens;
  std::unordered_map<std::string_view, int32_t> wholeWords; // filled if the rule looks words up first; views of `bytes`
  SpecialTokens special;
  MergeTable merges;
};

} // namespace tilewright
