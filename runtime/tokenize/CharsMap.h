// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SentencePiece's precompiled table of replacements (field precompiled_charsmap of its normalizer).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// The table is a little-endian number of bytes, a trie of so many bytes (units of 32 bits, the double array of
/// github.com/s-yata/darts-clone), and the replacements, each ended by a zero byte. Untrusted: every index is checked.
class CharsMap {
public:
  /// Throws CORRUPT unless the parts have the sizes they claim, and the replacements are UTF-8.
  explicit CharsMap(std::string_view table);

  /// At each place the longest entry of the table is replaced, otherwise a character is kept. `text` is valid UTF-8.
  std::string apply(std::string_view text) const;

private:
  std::vector<uint32_t> trie;
  std::string replacements;
};

} // namespace tilewright
