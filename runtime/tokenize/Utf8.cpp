// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/Utf8.h"

#include <algorithm>
#include <cstdint>

namespace tilewright {

Utf8Unit readUtf8(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  const size_t left = text.size() - at;
  const uint8_t lead = byte(0);
  if (lead < 0x80)
    return {Utf8State::Valid, 1, lead};
  if (lead < 0xC2 || lead > 0xF4)
    return {Utf8State::Invalid, 1, 0};

  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // Only the second byte has a range that depends on the first.
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t codePoint = lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if (i == left)
      return {Utf8State::Truncated, left, 0};
    if (byte(i) < (i == 1 ? low : 0x80) || byte(i) > (i == 1 ? high : 0xBF))
      return {Utf8State::Invalid, 1, 0};
    codePoint = codePoint << 6 | (byte(i) & 0x3F);
  }
  return {Utf8State::Valid, length, codePoint};
}

void appendUtf8(std::string &out, char32_t codePoint) {
  auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (codePoint < 0x80) {
    put(codePoint);
  } else if (codePoint < 0x800) {
    put(0xC0 | codePoint >> 6);
    put(0x80 | (codePoint & 0x3F));
  } else if (codePoint < 0x10000) {
    put(0xE0 | codePoint >> 12);
    put(0x80 | (codePoint >> 6 & 0x3F));
    put(0x80 | (codePoint & 0x3F));
  } else {
    put(0xF0 | codePoint >> 18);
    put(0x80 | (codePoint >> 12 & 0x3F));
    put(0x80 | (codePoint >> 6 & 0x3F));
    put(0x80 | (codePoint & 0x3F));
  }
}

size_t validUtf8Prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (static_cast<uint8_t>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Utf8Unit unit = readUtf8(text, at);
    if (unit.state != Utf8State::Valid)
      break;
    at += unit.length;
  }
  return at;
}

size_t truncatedUtf8Suffix(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<uint8_t>(text[text.size() - back]);
    if (byte >= 0x80 && byte < 0xC0)
      continue;
    if (byte < 0x80)
      return 0;
    return readUtf8(text, text.size() - back).state == Utf8State::Truncated ? back : 0;
  }
  return 0;
}

} // namespace tilewright
