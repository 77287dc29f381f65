// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text to token ids and back.
#pragma once

#include "runtime/tokenize/Decoder.h"
#include "runtime/tokenize/Normalizer.h"
#include "runtime/tokenize/PreTokenizer.h"
#include "runtime/tokenize/SpecialTokens.h"
#include "runtime/tokenize/TextSegment.h"
#include "runtime/tokenize/TokenModel.h"
#include "runtime/tokenize/TokenizerData.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct EncodeOptions {
  /// Read control tokens from the text; otherwise their spelling is ordinary text. (Of `encode(segments)` each segment
  /// decides for itself.) User-defined tokens are pieces of ordinary text and are always read.
  bool parseSpecial = false;
  /// Put what the model wants before a text in front, unless the ids begin with it already.
  bool addBegin = false;
  /// Put what the model wants behind a text at the end, unless the ids end with it already.
  bool addEnd = false;
  /// Leave out bytes that the vocabulary has no token for, instead of failing. (Some vocabularies lack rare bytes.)
  bool skipUnencodable = false;
};

/// Immutable, safe to share between threads. Every method throws `Error` only as stated.
///
/// A text is cut at its special tokens; what lies between them is normalized, cut into words, and these are encoded by
/// the model. Bytes that are not UTF-8 pass by the normalizer and stand between words: each becomes its byte token, or
/// else the unknown token. Of a byte-level tokenizer without normalizer and space prefix, whose vocabulary has all 256
/// bytes, `decode(encode(x)) == x` for any bytes.
class Tokenizer {
public:
  /// Checks and takes over `data`. Throws UNSUPPORTED for a kind, rule or step that is not known, CORRUPT for data that
  /// contradicts itself; the message names field, entry, value found and value wanted.
  explicit Tokenizer(TokenizerData data);
  Tokenizer(const Tokenizer &) = delete;
  Tokenizer &operator=(const Tokenizer &) = delete;

  /// Throws INVALID naming the byte and its offset if the vocabulary has no token for it (see `skipUnencodable`),
  /// EXHAUSTED if an expression of the tokenizer takes too long on this text.
  std::vector<int32_t> encode(std::string_view text, const EncodeOptions &options) const;
  std::vector<int32_t> encode(std::string_view text, bool parseSpecial = false) const {
    return encode(text, EncodeOptions{.parseSpecial = parseSpecial});
  }
  /// Encodes the segments as one text, except that a control token is read only where all of its bytes come from
  /// segments that allow it. Throws as above, with the offset into the joined text.
  std::vector<int32_t> encode(std::span<const TextSegment> segments, const EncodeOptions &options = {}) const;

  /// The bytes the ids stand for; `skipSpecial` leaves out control tokens. Throws INVALID for an id outside the
  /// vocabulary, naming it and its place. The result may end inside a UTF-8 sequence: see StreamDecoder.
  std::string decode(std::span<const int32_t> ids, bool skipSpecial = false) const;

  size_t vocabularySize() const { return data.tokens.size(); }
  /// Tokens up to the last one that is not of type unused: what stands behind them fills up a table. 0: all are unused.
  size_t meaningfulSize() const;
  /// What one token stands for inside a text, or as its `first`; throws INVALID for an id outside the vocabulary.
  std::string_view tokenBytes(int32_t id, bool first = false) const;
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
  class Encoding;
  struct Checked;
  explicit Tokenizer(Checked checked);

  TokenizerData data;
  Normalizer normalizer;
  PreTokenizer preTokenizer;
  SpecialTokens special;             // looked for in the text as it is
  SpecialTokens specialInNormalized; // looked for behind the normalizer
  TokenTexts texts;
  Fallback fallback;
  std::unique_ptr<const TokenModel> model;
};

} // namespace tilewright
