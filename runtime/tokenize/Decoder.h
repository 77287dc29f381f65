// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tokens stand for.
#pragma once

#include "runtime/tokenize/Normalizer.h"
#include "runtime/tokenize/TokenizerData.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// The bytes of every token, once as they stand inside a text and once as they begin one. Immutable.
///
/// Byte tokens stand for their byte, normal tokens of a byte-level vocabulary for what they spell in the byte alphabet,
/// those looked for in
/// normalized text for their spelling there, all others for their own text. Then come the steps, one after another:
///   replace       `with` for each `text`
///   metaspace     a space for each `text`; in the first token nothing, unless `number` is 0
///   strip_first   up to `number` times `text` is taken from the begin of the first token
///   join          `text` in front of all tokens but the first
///   word_piece    `text` (continuation) in front of a token goes; one without it is set off by a space, but for the
///                 first; with `flag` spaces before punctuation and English contractions go
class TokenTexts {
public:
  /// Throws UNSUPPORTED for a step of another name.
  TokenTexts(const TokenizerData &data, const Normalizer &normalizer);

  /// The bytes of a token of the vocabulary.
  std::string_view of(int32_t id, bool first) const;

private:
  struct Store {
    std::string bytes;        // of all tokens, one after another
    std::vector<size_t> ends; // by id
  };
  Store inside, beginning; // `beginning` is empty if it is equal to `inside`
};

} // namespace tilewright
