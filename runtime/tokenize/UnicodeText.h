// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tokenizers want of Unicode: normal forms, lower case, categories of characters. The tables are utf8proc's.
#pragma once

#include "runtime/tokenize/Utf8.h"

#include <string>
#include <string_view>

namespace tilewright {

/// The normal forms of Unicode (UAX #15).
enum class NormalForm { C, D, KC, KD };

/// `text`, which must be valid UTF-8, in a normal form. Linear time: a run of combining marks is sorted by merging.
std::string normalForm(std::string_view text, NormalForm form);

/// Each character's own lower case, without regard to its neighbours (so final sigma is an ordinary one).
std::string lowerCase(std::string_view text);

/// The characters of valid UTF-8 for which `keep` is true.
template <typename Predicate> std::string keepCharacters(std::string_view text, Predicate keep) {
  std::string kept;
  kept.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Unit unit = readUtf8(text, at);
    if (keep(unit.codePoint))
      kept.append(text, at, unit.length);
    at += unit.length;
  }
  return kept;
}

bool isNonspacingMark(char32_t c); ///< Mn
bool isMark(char32_t c);           ///< Mn, Mc, Me
bool isNumber(char32_t c);         ///< Nd, Nl, No
bool isPunctuation(char32_t c);    ///< ASCII's, and Pc, Pd, Ps, Pe, Pi, Pf, Po
bool isOther(char32_t c);          ///< controls, formats, surrogates, private use and what is not assigned
bool isWhiteSpace(char32_t c);     ///< property White_Space
bool isWordCharacter(char32_t c);  ///< \\w of UTS #18: letters, marks, decimal and letter numbers, connectors, joiners
bool isCjkIdeograph(char32_t c);   ///< the blocks that BERT sets apart

} // namespace tilewright
