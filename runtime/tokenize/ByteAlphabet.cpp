// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/ByteAlphabet.h"

#include "runtime/tokenize/Utf8.h"

namespace tilewright {

namespace {

constexpr size_t kAlphabetEnd = 0x100 + 68; // 68 bytes have no printable Latin-1 form.

constexpr std::array<int16_t, kAlphabetEnd> invertAlphabet() {
  std::array<int16_t, kAlphabetEnd> inverse{};
  inverse.fill(-1);
  const auto alphabet = byteAlphabet();
  for (int16_t byte = 0; byte < 256; ++byte)
    inverse[alphabet[byte]] = byte;
  return inverse;
}

} // namespace

std::optional<std::string> bytesOfAlphabet(std::string_view token) {
  static constexpr auto inverse = invertAlphabet();
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const Utf8Unit unit = readUtf8(token, at);
    if (unit.state != Utf8State::Valid || unit.codePoint >= kAlphabetEnd || inverse[unit.codePoint] < 0)
      return std::nullopt;
    bytes.push_back(static_cast<char>(inverse[unit.codePoint]));
    at += unit.length;
  }
  return bytes;
}

} // namespace tilewright
