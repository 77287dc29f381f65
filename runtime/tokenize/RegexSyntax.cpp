// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/RegexSyntax.h"

#include "runtime/api/Error.h"

#include <array>
#include <cctype>

namespace tilewright {

namespace {

class Translator {
public:
  explicit Translator(std::string_view pattern) : pattern(pattern) {}

  std::string run() {
    if (pattern.size() > 16384)
      refuse("more than 16384 bytes");
    while (at < pattern.size()) {
      const char c = pattern[at];
      if (c == '\\')
        escape(/*inClass=*/false);
      else if (c == '[')
        characterClass();
      else if (c == '(')
        group();
      else if (c == '{')
        repeat();
      else
        copy(1);
    }
    return out;
  }

private:
  [[noreturn]] void refuse(const std::string &what) const {
    throw Error(TW_UNSUPPORTED, "tokenizer: regular expression '" + std::string(pattern) + "', offset " +
                                    std::to_string(at) + ": " + what + " is not supported");
  }

  bool ahead(std::string_view text) const { return pattern.substr(at).starts_with(text); }

  void copy(size_t count) {
    if (at + count > pattern.size())
      refuse("an expression that ends here");
    out += pattern.substr(at, count);
    at += count;
  }

  void replace(size_t count, std::string_view with) {
    out += with;
    at += count;
  }

  void escape(bool inClass) {
    if (at + 1 == pattern.size())
      refuse("a backslash at the end");
    const char c = pattern[at + 1];
    constexpr std::string_view word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
    switch (c) {
    case 's':
      return replace(2, "\\p{White_Space}");
    case 'S':
      return replace(2, "\\P{White_Space}");
    case 'd':
      return replace(2, "\\p{Nd}");
    case 'D':
      return replace(2, "\\P{Nd}");
    case 'w':
      return replace(2, inClass ? std::string(word) : "[" + std::string(word) + "]");
    case 'W':
      if (inClass)
        refuse("\\W in a class");
      return replace(2, "[^" + std::string(word) + "]");
    case 'v':
      return replace(2, "\\x0B");
    case 'p':
    case 'P': {
      const size_t end = at + 2 < pattern.size() && pattern[at + 2] == '{' ? pattern.find('}', at) : std::string::npos;
      if (end == std::string::npos)
        refuse("\\p without a name in braces");
      return copy(end + 1 - at);
    }
    case 'u': // \uHHHH
      if (at + 6 > pattern.size())
        refuse("\\u without four digits");
      for (size_t i = 2; i < 6; ++i)
        if (!std::isxdigit(static_cast<unsigned char>(pattern[at + i])))
          refuse("\\u without four digits");
      return replace(6, "\\x{" + std::string(pattern.substr(at + 2, 4)) + "}");
    case 'x':
      if (at + 2 < pattern.size() && pattern[at + 2] != '{' && pattern[at + 2] >= '8')
        refuse("a byte above 0x7F");
      return copy(2);
    case 'A':
    case 'z':
      if (inClass)
        refuse("an anchor in a class");
      return copy(2);
    case 'n':
    case 'r':
    case 't':
    case 'f':
    case 'a':
    case 'e':
      return copy(2);
    default:
      if (std::isalnum(static_cast<unsigned char>(c)))
        refuse(std::string("\\") + c);
      return copy(2);
    }
  }

  /// A class within a class is a union: its brackets go.
  void characterClass() {
    copy(1);
    if (ahead("^"))
      copy(1);
    size_t depth = 1;
    bool first = true; // a closing bracket in this place stands for itself
    while (depth > 0) {
      if (at == pattern.size())
        refuse("a class without its closing bracket");
      const char c = pattern[at];
      if (c == '\\') {
        escape(/*inClass=*/true);
      } else if (ahead("[:") || ahead("[^") || ahead("&&")) {
        refuse("'" + std::string(pattern.substr(at, 2)) + "' in a class");
      } else if (c == '[') {
        ++depth;
        ++at;
      } else if (c == ']' && first) {
        replace(1, "\\]");
      } else if (c == ']') {
        if (--depth == 0)
          copy(1);
        else
          ++at;
      } else {
        copy(1);
      }
      first = false;
    }
  }

  void group() {
    if (ahead("(*"))
      refuse("a verb");
    if (!ahead("(?"))
      return replace(1, "(?:"); // nobody asks for what a group matched
    constexpr std::array<std::string_view, 8> known = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?i)"};
    for (std::string_view opening : known)
      if (ahead(opening))
        return copy(opening.size());
    refuse("'" + std::string(pattern.substr(at, 3)) + "'");
  }

  /// {n}, {n,} and {n,m}; any other brace stands for itself.
  void repeat() {
    size_t end = at + 1, digits = 0;
    size_t number = 0;
    for (; end < pattern.size() && pattern[end] != '}'; ++end) {
      if (pattern[end] == ',') {
        if (digits == 0)
          refuse("a repeat without a lower count");
        number = 0;
      } else if (std::isdigit(static_cast<unsigned char>(pattern[end]))) {
        ++digits;
        number = number * 10 + static_cast<size_t>(pattern[end] - '0');
        if (number > 1000)
          refuse("a repeat count above 1000");
      } else {
        return copy(1);
      }
    }
    if (end == pattern.size() || digits == 0)
      return copy(1);
    copy(end + 1 - at);
    if (ahead("+"))
      refuse("'+' behind a repeat count");
  }

  std::string_view pattern;
  size_t at = 0;
  std::string out;
};

} // namespace

std::string translateRegex(std::string_view pattern) { return Translator(pattern).run(); }

} // namespace tilewright
