// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expressions of the template language, by Jinja's own order of precedence.
#pragma once

#include "runtime/tokenize/JinjaLexer.h"
#include "runtime/tokenize/JinjaSyntax.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::jinja {

/// Reads expressions from a row of tokens. Each function leaves the place behind what it has read.
class ExpressionParser {
public:
  ExpressionParser(std::vector<Token> tokens, uint32_t maxDepth) : tokens(std::move(tokens)), maxDepth(maxDepth) {}

  /// With `a if b else c`.
  ExpressionPtr expression();
  /// Without it: what stands between `in` and `if` of a for statement.
  ExpressionPtr orExpression();
  /// One expression, or several with commas between: a list.
  ExpressionPtr tuple(bool conditional = true);

protected:
  const Token &current() const { return tokens[place]; }
  const Token &next() { return tokens[place + 1 < tokens.size() ? place++ : place]; }
  bool sees(Token::Kind kind, std::string_view text) const { return current().kind == kind && current().text == text; }
  bool seesOperator(std::string_view text) const { return sees(Token::Kind::Operator, text); }
  bool seesName(std::string_view text) const { return sees(Token::Kind::Name, text); }
  bool accept(Token::Kind kind, std::string_view text);
  bool acceptOperator(std::string_view text) { return accept(Token::Kind::Operator, text); }
  void expectOperator(std::string_view text);
  std::string expectName(const char *what);
  [[noreturn]] void fail(int code, const std::string &message) const { failAt(code, current().line, message); }
  [[noreturn]] void failUnexpected(const std::string &wanted) const;

  /// Counts one level of nesting while it lives.
  class Level {
  public:
    explicit Level(ExpressionParser &parser);
    ~Level() { --parser.depth; }

  private:
    ExpressionParser &parser;
  };

private:
  ExpressionPtr node(Expression::Kind kind, std::string name = {}) const;
  void adopt(Expression &parent, ExpressionPtr child) const;
  void measure(Expression &parent, const Expression *child) const;

  ExpressionPtr conjunction();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr leftToRight(std::initializer_list<std::string_view> operators,
                            ExpressionPtr (ExpressionParser::*operand)());
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr filtered();
  ExpressionPtr unary(bool withFilters);
  ExpressionPtr primary();
  ExpressionPtr postfix(ExpressionPtr operand);
  ExpressionPtr filters(ExpressionPtr operand);
  ExpressionPtr test(ExpressionPtr operand);
  ExpressionPtr subscript(ExpressionPtr operand);
  ExpressionPtr dictionary();
  void arguments(Expression &call);

  std::vector<Token> tokens;
  size_t place = 0;
  uint32_t maxDepth;
  uint32_t depth = 0;
};

} // namespace tilewright::jinja
