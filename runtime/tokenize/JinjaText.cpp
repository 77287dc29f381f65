// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/JinjaText.h"

#include "runtime/tokenize/Utf8.h"

namespace tilewright::jinja {

size_t codePointEnd(std::string_view text, size_t at) {
  const Utf8Unit unit = readUtf8(text, at);
  return at + (unit.state == Utf8State::Valid ? unit.length : 1);
}

size_t codePointBegin(std::string_view text, size_t end) {
  for (size_t back = 2; back <= 4 && back <= end; ++back) {
    const Utf8Unit unit = readUtf8(text.substr(0, end), end - back);
    if (unit.state == Utf8State::Valid && unit.length == back)
      return end - back;
  }
  return end - 1;
}

size_t countCodePoints(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at = codePointEnd(text, at))
    ++count;
  return count;
}

bool isPythonSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

namespace {

template <typename Strip> Extent strip(std::string_view text, bool left, bool right, Strip shouldStrip) {
  size_t begin = 0, end = text.size();
  while (left && begin < end) {
    const size_t next = codePointEnd(text, begin);
    if (!shouldStrip(text.substr(begin, next - begin)))
      break;
    begin = next;
  }
  while (right && begin < end) {
    const size_t last = codePointBegin(text, end);
    if (!shouldStrip(text.substr(last, end - last)))
      break;
    end = last;
  }
  return {begin, end};
}

} // namespace

Extent stripped(std::string_view text, bool left, bool right) {
  return strip(text, left, right, [](std::string_view character) {
    const Utf8Unit unit = readUtf8(character, 0);
    return unit.state == Utf8State::Valid && isPythonSpace(unit.codePoint);
  });
}

Extent stripped(std::string_view text, std::string_view characters, bool left, bool right) {
  return strip(text, left, right, [&](std::string_view character) {
    for (size_t at = 0; at < characters.size();) {
      const size_t end = codePointEnd(characters, at);
      if (characters.substr(at, end - at) == character)
        return true;
      at = end;
    }
    return false;
  });
}

} // namespace tilewright::jinja
