// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The byte alphabet of byte-level BPE: each byte is written as one printable code point, so that a vocabulary is text.
// Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), bytes_to_unicode of its code.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

/// The code point that stands for a byte: printable Latin-1 bytes for themselves, the others, in order, for U+0100 on.
constexpr std::array<char32_t, 256> byteAlphabet() {
  std::array<char32_t, 256> table{};
  char32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    table[byte] = printable ? byte : next++;
  }
  return table;
}

/// The bytes that a token spelled in the alphabet stands for; nothing if some code point is not in it.
std::optional<std::string> bytesOfAlphabet(std::string_view token);

} // namespace tilewright
