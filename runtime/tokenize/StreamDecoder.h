// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes ids as they are made, without ever showing half a character.
#pragma once

#include "runtime/tokenize/Tokenizer.h"
#include "runtime/tokenize/Utf8.h"

#include <utility>

namespace tilewright {

/// What `push` and `finish` return, joined, is exactly what `Tokenizer::decode` gives for the same ids (of a text that
/// does not continue another). Bytes that can
/// never become valid UTF-8 are passed on at once; at most three are held back.
class StreamDecoder {
public:
  /// `tokenizer` must outlive the decoder. `continues`: the ids go on with a text, so that the first one stands inside.
  explicit StreamDecoder(const Tokenizer &tokenizer, bool skipSpecial = false, bool continues = false)
      : tokenizer(tokenizer), skipSpecial(skipSpecial), first(!continues) {}

  /// Throws INVALID for an id outside the vocabulary; what was held back is kept.
  std::string push(int32_t id) {
    if (skipSpecial && tokenizer.tokenType(id) == TokenType::Control)
      return {};
    held += tokenizer.tokenBytes(id, first);
    first = false;
    const size_t ready = held.size() - truncatedUtf8Suffix(held);
    std::string out = held.substr(0, ready);
    held.erase(0, ready);
    return out;
  }

  /// The rest, even if it is not whole; the decoder can then be used again.
  std::string finish() { return std::exchange(held, {}); }

private:
  const Tokenizer &tokenizer;
  bool skipSpecial;
  bool first; // nothing has been pushed yet
  std::string held;
};

} // namespace tilewright
