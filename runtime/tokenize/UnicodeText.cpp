// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/UnicodeText.h"

#include "runtime/api/Error.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tilewright {

namespace {

int category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool isAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

int combiningClass(utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; }

/// The canonical order: between characters of class 0, marks stand by their class. (The library's own function swaps
/// neighbours, which takes quadratic time on a long run.)
void orderMarks(std::vector<utf8proc_int32_t> &text) {
  std::vector<std::array<utf8proc_int32_t, 3>> marks; // class, place, character
  for (size_t at = 0; at < text.size(); ++at) {
    marks.clear();
    const size_t begin = at;
    for (int order; at < text.size() && (order = combiningClass(text[at])) != 0; ++at)
      marks.push_back({order, static_cast<utf8proc_int32_t>(at), text[at]});
    std::sort(marks.begin(), marks.end());
    for (size_t i = 0; i < marks.size(); ++i)
      text[begin + i] = marks[i][2];
  }
}

} // namespace

std::string normalForm(std::string_view text, NormalForm form) {
  if (isAscii(text))
    return std::string(text);
  const bool compatible = form == NormalForm::KC || form == NormalForm::KD;
  const bool compose = form == NormalForm::C || form == NormalForm::KC;
  const auto option =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  std::vector<utf8proc_int32_t> characters;
  characters.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Unit unit = readUtf8(text, at);
    std::array<utf8proc_int32_t, 32> parts{}; // the longest decomposition has 18
    int boundary = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(unit.codePoint), parts.data(),
                                                           parts.size(), option, &boundary);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size()))
      throw Error(TW_INTERNAL, "normal form: a character has no decomposition: " + std::to_string(unit.codePoint));
    characters.insert(characters.end(), parts.begin(), parts.begin() + count);
    at += unit.length;
  }
  orderMarks(characters);
  if (compose) {
    const utf8proc_ssize_t count =
        utf8proc_normalize_utf32(characters.data(), static_cast<utf8proc_ssize_t>(characters.size()),
                                 static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    if (count < 0)
      throw Error(TW_INTERNAL, std::string("normal form: ") + utf8proc_errmsg(count));
    characters.resize(static_cast<size_t>(count));
  }
  std::string result;
  result.reserve(text.size());
  for (utf8proc_int32_t c : characters)
    appendUtf8(result, static_cast<char32_t>(c));
  return result;
}

std::string lowerCase(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Unit unit = readUtf8(text, at);
    at += unit.length;
    if (unit.codePoint == 0x130) // the only character whose lower case is two: SpecialCasing.txt
      result += "i\xCC\x87";
    else
      appendUtf8(result, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(unit.codePoint))));
  }
  return result;
}

bool isNonspacingMark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool isMark(char32_t c) {
  const int found = category(c);
  return found >= UTF8PROC_CATEGORY_MN && found <= UTF8PROC_CATEGORY_ME;
}

bool isNumber(char32_t c) {
  const int found = category(c);
  return found >= UTF8PROC_CATEGORY_ND && found <= UTF8PROC_CATEGORY_NO;
}

bool isPunctuation(char32_t c) {
  if (c < 0x80)
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  const int found = category(c);
  return found >= UTF8PROC_CATEGORY_PC && found <= UTF8PROC_CATEGORY_PO;
}

bool isOther(char32_t c) {
  const int found = category(c);
  return found == UTF8PROC_CATEGORY_CN || found >= UTF8PROC_CATEGORY_CC;
}

bool isWhiteSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool isWordCharacter(char32_t c) {
  const int found = category(c);
  const bool circledLetter = (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
                             (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
  return (found >= UTF8PROC_CATEGORY_LU && found <= UTF8PROC_CATEGORY_NL) || found == UTF8PROC_CATEGORY_PC ||
         c == 0x200C || c == 0x200D || circledLetter;
}

bool isCjkIdeograph(char32_t c) {
  constexpr std::array<std::array<char32_t, 2>, 8> blocks{{{0x4E00, 0x9FFF},
                                                           {0x3400, 0x4DBF},
                                                           {0x20000, 0x2A6DF},
                                                           {0x2A700, 0x2B73F},
                                                           {0x2B740, 0x2B81F},
                                                           {0x2B920, 0x2CEAF},
                                                           {0xF900, 0xFAFF},
                                                           {0x2F800, 0x2FA1F}}};
  return std::any_of(blocks.begin(), blocks.end(), [&](const auto &block) { return c >= block[0] && c <= block[1]; });
}

} // namespace tilewright
