// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts a template's source into tokens, with the white-space rules of Jinja under `trim_blocks` and `lstrip_blocks`,
// as Transformers sets them: a line break behind a block or comment goes, and so do spaces between the start of a line
// and a block or comment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::jinja {

struct Token {
  enum class Kind { Data, BlockBegin, BlockEnd, PrintBegin, PrintEnd, Name, String, Integer, Float, Operator, End };
  Kind kind;
  uint32_t line;
  std::string text; ///< of a string: its value, escapes resolved
};

/// The last token is End. Throws CORRUPT with the line for what cannot be read, UNSUPPORTED for escapes by name.
std::vector<Token> lex(std::string_view source);

/// The message "chat template line 3: ..." as an exception.
[[noreturn]] void failAt(int code, uint32_t line, const std::string &message);

} // namespace tilewright::jinja
