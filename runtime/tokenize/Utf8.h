// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strict UTF-8 (The Unicode Standard, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewright {

enum class Utf8State {
  Valid,
  Truncated, ///< the text ends inside a sequence that could still become valid
  Invalid,
};

/// What stands at one place of a text. `length` is the sequence's length in bytes when valid, the number of bytes left
/// when truncated, and 1 when invalid; `codePoint` is set only when valid.
struct Utf8Unit {
  Utf8State state;
  size_t length;
  char32_t codePoint;
};

/// Reads the unit at `text[at]`; `at < text.size()`.
Utf8Unit readUtf8(std::string_view text, size_t at);

/// Appends a code point (a Unicode scalar value) as UTF-8.
void appendUtf8(std::string &out, char32_t codePoint);

/// The number of leading bytes of `text` that are valid UTF-8.
size_t validUtf8Prefix(std::string_view text);

/// How many bytes at the end of `text` begin a sequence that could still become valid: 0 to 3.
size_t truncatedUtf8Suffix(std::string_view text);

} // namespace tilewright
