// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/JinjaLexer.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/JinjaText.h"
#include "runtime/tokenize/Utf8.h"

#include <algorithm>
#include <array>

namespace tilewright::jinja {

void failAt(int code, uint32_t line, const std::string &message) {
  throw Error(static_cast<tw_status_code>(code), "chat template line " + std::to_string(line) + ": " + message);
}

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isNameCharacter(char c) { return isNameStart(c) || isDigit(c); }

class Lexer {
public:
  explicit Lexer(std::string_view text) {
    // Line breaks are \n, and one at the very end goes.
    source.reserve(text.size());
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\r') {
        source.push_back('\n');
        i += i + 1 < text.size() && text[i + 1] == '\n';
      } else {
        source.push_back(text[i]);
      }
    if (source.ends_with('\n'))
      source.pop_back();
  }

  std::vector<Token> run() {
    while (at < source.size())
      readData();
    add(Token::Kind::End, {});
    return std::move(tokens);
  }

private:
  [[noreturn]] void fail(tw_status_code code, const std::string &message) const { failAt(code, line, message); }
  void add(Token::Kind kind, std::string text) { tokens.push_back({kind, line, std::move(text)}); }
  bool sees(std::string_view text) const { return std::string_view(source).substr(at).starts_with(text); }
  void advance(size_t count) {
    line += static_cast<uint32_t>(std::count(source.begin() + at, source.begin() + at + count, '\n'));
    at += count;
  }
  void skipSpace() { advance(stripped(std::string_view(source).substr(at), true, false).begin); }

  /// Text up to `end`, where a tag begins whose sign is `sign` ('-', '+' or 0), goes into a token.
  void addData(size_t end, char sign, bool isPrint) {
    std::string_view data = std::string_view(source).substr(at, end - at);
    if (sign == '-') {
      data = data.substr(0, stripped(data, false, true).end);
    } else if (sign != '+' && !isPrint) {
      const size_t lineBegin = data.rfind('\n') + 1; // npos + 1 is 0
      if (lineBegin > 0 || lineStarts) {
        const std::string_view indent = data.substr(lineBegin);
        if (stripped(indent, false, true).end == 0)
          data = data.substr(0, lineBegin);
      }
    }
    if (!data.empty())
      add(Token::Kind::Data, std::string(data));
    advance(end - at);
  }

  /// Behind a tag of a block, a comment or raw text: the sign's white space or the line break goes.
  void endTag(std::string_view close, bool trimsLine) {
    const size_t begin = at;
    if (sees("-")) {
      advance(1 + close.size());
      skipSpace();
    } else if (sees("+")) {
      advance(1 + close.size());
    } else {
      advance(close.size());
      if (trimsLine && sees("\n"))
        advance(1);
    }
    lineStarts = at > begin && source[at - 1] == '\n';
  }
  bool seesEnd(std::string_view close, bool plusAllowed) const {
    return sees(close) || sees("-" + std::string(close)) || (plusAllowed && sees("+" + std::string(close)));
  }

  void readData() {
    size_t tag = at;
    while ((tag = source.find('{', tag)) != std::string::npos && tag + 1 < source.size() && source[tag + 1] != '%' &&
           source[tag + 1] != '{' && source[tag + 1] != '#')
      ++tag;
    if (tag == std::string::npos || tag + 1 >= source.size()) {
      add(Token::Kind::Data, source.substr(at));
      advance(source.size() - at);
      return;
    }
    const char opening = source[tag + 1];
    const char next = tag + 2 < source.size() ? source[tag + 2] : '\0';
    const char sign = next == '-' || next == '+' ? next : '\0';
    addData(tag, sign, opening == '{');
    lineStarts = false;
    const uint32_t tagLine = line;
    advance(2 + (sign != '\0'));
    if (opening == '#')
      readComment(tagLine);
    else if (opening == '{')
      readTag(Token::Kind::PrintBegin, Token::Kind::PrintEnd, "}}", "{{", tagLine);
    else if (!readRaw(tagLine))
      readTag(Token::Kind::BlockBegin, Token::Kind::BlockEnd, "%}", "{%", tagLine);
  }

  void readComment(uint32_t tagLine) {
    const size_t close = source.find("#}", at);
    if (close == std::string::npos)
      failAt(TW_CORRUPT, tagLine, "comment '{#' has no end '#}'");
    const char before = source[close - 1];
    advance(close - at - (close > at && (before == '-' || before == '+')));
    endTag("#}", true);
  }

  /// {% raw %} ... {% endraw %}; false if another block begins here.
  bool readRaw(uint32_t tagLine) {
    const size_t beginAt = at;
    const uint32_t beginLine = line;
    skipSpace();
    if (!sees("raw") || isNameCharacter(at + 3 < source.size() ? source[at + 3] : '\0')) {
      at = beginAt;
      line = beginLine;
      return false;
    }
    advance(3);
    skipSpace();
    if (!seesEnd("%}", false))
      fail(TW_CORRUPT, "'raw' takes nothing, wanted '%}'");
    endTag("%}", false);
    for (size_t tag = at; (tag = source.find("{%", tag)) != std::string::npos; tag += 2) {
      size_t word = tag + 2;
      const char sign = word < source.size() && (source[word] == '-' || source[word] == '+') ? source[word] : '\0';
      word += sign != '\0';
      word += stripped(std::string_view(source).substr(word), true, false).begin;
      if (source.compare(word, 6, "endraw") != 0)
        continue;
      addData(tag, sign, false);
      advance(word + 6 - at);
      skipSpace();
      if (!seesEnd("%}", true))
        fail(TW_CORRUPT, "'endraw' takes nothing, wanted '%}'");
      endTag("%}", true);
      return true;
    }
    failAt(TW_CORRUPT, tagLine, "'raw' has no 'endraw'");
  }

  void readTag(Token::Kind begin, Token::Kind end, std::string_view close, const char *open, uint32_t tagLine) {
    add(begin, open);
    std::vector<char> brackets;
    for (;;) {
      skipSpace();
      if (at == source.size())
        failAt(TW_CORRUPT, tagLine, "'" + std::string(open) + "' has no end '" + std::string(close) + "'");
      // Inside brackets "}}" closes two dicts.
      if (brackets.empty() && seesEnd(close, close == "%}")) {
        add(end, std::string(close));
        endTag(close, close == "%}");
        return;
      }
      readToken(brackets);
    }
  }

  void readToken(std::vector<char> &brackets) {
    const char c = source[at];
    if (isDigit(c))
      return readNumber();
    if (isNameStart(c)) {
      size_t end = at;
      while (end < source.size() && isNameCharacter(source[end]))
        ++end;
      add(Token::Kind::Name, source.substr(at, end - at));
      return advance(end - at);
    }
    if (c == '\'' || c == '"')
      return readString(c);
    static constexpr std::array<std::string_view, 26> operators = {"//", "**", "==", "!=", "<=", ">=", "+", "-", "*",
                                                                   "/",  "%",  "~",  "(",  ")",  "[",  "]", "{", "}",
                                                                   "<",  ">",  "=",  ".",  ":",  "|",  ",", ";"};
    for (std::string_view op : operators)
      if (sees(op)) {
        if (op == "(" || op == "[" || op == "{") {
          brackets.push_back(op == "(" ? ')' : op == "[" ? ']' : '}');
        } else if (op == ")" || op == "]" || op == "}") {
          if (brackets.empty() || brackets.back() != op[0])
            fail(TW_CORRUPT, "unexpected '" + std::string(op) + "'" +
                                 (brackets.empty() ? "" : std::string(", wanted '") + brackets.back() + "'"));
          brackets.pop_back();
        }
        add(Token::Kind::Operator, std::string(op));
        return advance(op.size());
      }
    fail(TW_CORRUPT, "unexpected character '" + source.substr(at, codePointEnd(source, at) - at) + "'");
  }

  void readNumber() {
    std::string digits;
    size_t end = at;
    auto takeDigits = [&] {
      while (end < source.size() && (isDigit(source[end]) || (source[end] == '_' && end + 1 < source.size() &&
                                                              isDigit(source[end - 1]) && isDigit(source[end + 1])))) {
        if (source[end] != '_')
          digits.push_back(source[end]);
        ++end;
      }
    };
    takeDigits();
    Token::Kind kind = Token::Kind::Integer;
    // "a.0.1" is two subscripts, not a float.
    const bool behindDot = !tokens.empty() && tokens.back().kind == Token::Kind::Operator && tokens.back().text == ".";
    if (!behindDot && end + 1 < source.size() && source[end] == '.' && isDigit(source[end + 1])) {
      kind = Token::Kind::Float;
      digits.push_back('.');
      ++end;
      takeDigits();
    }
    if (!behindDot && end < source.size() && (source[end] == 'e' || source[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < source.size() && (source[exponent] == '+' || source[exponent] == '-'))
        ++exponent;
      if (exponent < source.size() && isDigit(source[exponent])) {
        kind = Token::Kind::Float;
        digits.append(source, end, exponent - end);
        end = exponent;
        takeDigits();
      }
    }
    if (end < source.size() && isNameCharacter(source[end]))
      fail(TW_CORRUPT, "'" + source.substr(at, end + 1 - at) + "' is neither a number nor a name");
    add(kind, std::move(digits));
    advance(end - at);
  }

  void readString(char quote) {
    const uint32_t begin = line;
    std::string value;
    size_t i = at + 1;
    for (;; ++i) {
      if (i >= source.size())
        failAt(TW_CORRUPT, begin, std::string("a string has no end ") + quote);
      if (source[i] == quote)
        break;
      if (source[i] == '\\')
        i = readEscape(i, value);
      else
        value.push_back(source[i]);
    }
    add(Token::Kind::String, std::move(value));
    advance(i + 1 - at);
  }

  /// Python's escapes; returns the place of the escape's last character.
  size_t readEscape(size_t backslash, std::string &value) {
    const size_t i = backslash + 1;
    if (i >= source.size())
      return backslash;
    static constexpr std::string_view plain = "\\'\"abfnrtv", meaning = "\\'\"\a\b\f\n\r\t\v";
    const char c = source[i];
    if (const size_t which = plain.find(c); which != std::string_view::npos) {
      value.push_back(meaning[which]);
      return i;
    }
    if (c == '\n')
      return i;
    if (c == 'N')
      fail(TW_UNSUPPORTED, "an escape by name, '\\N{...}', is not supported");
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    size_t from = i + 1;
    const bool octal = c >= '0' && c <= '7';
    if (octal) {
      from = i;
      while (digits < 3 && from + digits < source.size() && source[from + digits] >= '0' &&
             source[from + digits] <= '7')
        ++digits;
    }
    if (digits == 0) { // an unknown escape stays as it is
      value.push_back('\\');
      value.push_back(c);
      return i;
    }
    char32_t codePoint = 0;
    for (size_t k = 0; k < digits; ++k) {
      const char digit = from + k < source.size() ? source[from + k] : '\0';
      const int worth = isDigit(digit)                 ? digit - '0'
                        : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                        : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                                       : -1;
      if (worth < 0)
        fail(TW_CORRUPT, std::string("escape '\\") + c + "' wants " + std::to_string(digits) + " digits");
      codePoint = codePoint * (octal ? 8 : 16) + static_cast<char32_t>(worth);
    }
    if (codePoint > 0x10FFFF || (codePoint >= 0xD800 && codePoint < 0xE000))
      fail(TW_CORRUPT, "escape '" + source.substr(backslash, from + digits - backslash) + "' is not a character");
    appendUtf8(value, codePoint);
    return from + digits - 1;
  }

  std::string source;
  size_t at = 0;
  uint32_t line = 1;
  bool lineStarts = true;
  std::vector<Token> tokens;
};

} // namespace

std::vector<Token> lex(std::string_view source) { return Lexer(source).run(); }

} // namespace tilewright::jinja
