// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/JinjaExpressionParser.h"

#include "runtime/api/Error.h"

#include <algorithm>
#include <charconv>

namespace tilewright::jinja {

using Kind = Expression::Kind;

ExpressionParser::Level::Level(ExpressionParser &parser) : parser(parser) {
  if (++parser.depth > parser.maxDepth) {
    --parser.depth;
    parser.fail(TW_EXHAUSTED, "nested more than " + std::to_string(parser.maxDepth) + " deep");
  }
}

bool ExpressionParser::accept(Token::Kind kind, std::string_view text) {
  if (!sees(kind, text))
    return false;
  next();
  return true;
}

void ExpressionParser::failUnexpected(const std::string &wanted) const {
  const std::string found = current().kind == Token::Kind::End ? "the end of the template" : "'" + current().text + "'";
  fail(TW_CORRUPT, "unexpected " + found + ", wanted " + wanted);
}

void ExpressionParser::expectOperator(std::string_view text) {
  if (!acceptOperator(text))
    failUnexpected("'" + std::string(text) + "'");
}

std::string ExpressionParser::expectName(const char *what) {
  if (current().kind != Token::Kind::Name)
    failUnexpected(what);
  return next().text;
}

ExpressionPtr ExpressionParser::node(Kind kind, std::string name) const {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->line = current().line;
  made->name = std::move(name);
  return made;
}

void ExpressionParser::measure(Expression &parent, const Expression *child) const {
  if (!child)
    return;
  parent.depth = std::max(parent.depth, child->depth + 1);
  if (parent.depth > maxDepth)
    fail(TW_EXHAUSTED, "an expression is nested more than " + std::to_string(maxDepth) + " deep");
}

void ExpressionParser::adopt(Expression &parent, ExpressionPtr child) const {
  measure(parent, child.get());
  parent.operands.push_back(std::move(child));
}

ExpressionPtr ExpressionParser::tuple(bool conditional) {
  auto item = [&] { return conditional ? expression() : orExpression(); };
  ExpressionPtr first = item();
  if (!seesOperator(","))
    return first;
  ExpressionPtr list = node(Kind::List);
  adopt(*list, std::move(first));
  while (acceptOperator(",")) {
    if (current().kind == Token::Kind::BlockEnd || current().kind == Token::Kind::PrintEnd || seesOperator(")") ||
        seesOperator("="))
      break;
    adopt(*list, item());
  }
  return list;
}

ExpressionPtr ExpressionParser::expression() {
  const Level level(*this);
  ExpressionPtr value = orExpression();
  while (seesName("if")) {
    ExpressionPtr conditional = node(Kind::Conditional);
    next();
    adopt(*conditional, std::move(value));
    adopt(*conditional, orExpression());
    adopt(*conditional, accept(Token::Kind::Name, "else") ? expression() : nullptr);
    value = std::move(conditional);
  }
  return value;
}

ExpressionPtr ExpressionParser::orExpression() {
  ExpressionPtr left = conjunction();
  while (seesName("or")) {
    ExpressionPtr made = node(Kind::Or);
    next();
    adopt(*made, std::move(left));
    adopt(*made, conjunction());
    left = std::move(made);
  }
  return left;
}

ExpressionPtr ExpressionParser::conjunction() {
  ExpressionPtr left = negation();
  while (seesName("and")) {
    ExpressionPtr made = node(Kind::And);
    next();
    adopt(*made, std::move(left));
    adopt(*made, negation());
    left = std::move(made);
  }
  return left;
}

ExpressionPtr ExpressionParser::negation() {
  if (!seesName("not"))
    return comparison();
  const Level level(*this);
  ExpressionPtr made = node(Kind::Not);
  next();
  adopt(*made, negation());
  return made;
}

ExpressionPtr ExpressionParser::comparison() {
  ExpressionPtr left = sum();
  ExpressionPtr made;
  for (;;) {
    std::string op;
    for (const char *candidate : {"==", "!=", "<=", ">=", "<", ">"})
      if (seesOperator(candidate))
        op = candidate;
    if (seesName("in"))
      op = "in";
    if (seesName("not") && place + 1 < tokens.size() && tokens[place + 1].kind == Token::Kind::Name &&
        tokens[place + 1].text == "in") {
      op = "not in";
      next();
    }
    if (op.empty())
      return made ? std::move(made) : std::move(left);
    if (!made) {
      made = node(Kind::Compare);
      adopt(*made, std::move(left));
    }
    next();
    made->operators.push_back(op);
    adopt(*made, sum());
  }
}

ExpressionPtr ExpressionParser::leftToRight(std::initializer_list<std::string_view> operators,
                                            ExpressionPtr (ExpressionParser::*operand)()) {
  ExpressionPtr left = (this->*operand)();
  for (;;) {
    const auto op = std::find_if(operators.begin(), operators.end(), [&](auto text) { return seesOperator(text); });
    if (op == operators.end())
      return left;
    ExpressionPtr made = node(Kind::Arithmetic, std::string(*op));
    next();
    adopt(*made, std::move(left));
    adopt(*made, (this->*operand)());
    left = std::move(made);
  }
}

ExpressionPtr ExpressionParser::sum() { return leftToRight({"+", "-"}, &ExpressionParser::concatenation); }
ExpressionPtr ExpressionParser::concatenation() { return leftToRight({"~"}, &ExpressionParser::product); }
ExpressionPtr ExpressionParser::product() { return leftToRight({"*", "//", "/", "%"}, &ExpressionParser::power); }

ExpressionPtr ExpressionParser::power() {
  ExpressionPtr operand = filtered();
  if (seesOperator("**"))
    fail(TW_UNSUPPORTED, "the operator '**' is not supported");
  return operand;
}

ExpressionPtr ExpressionParser::filtered() { return unary(true); }

ExpressionPtr ExpressionParser::unary(bool withFilters) {
  const Level level(*this);
  ExpressionPtr operand;
  if (seesOperator("-") || seesOperator("+")) {
    operand = node(seesOperator("-") ? Kind::Negate : Kind::Plus);
    next();
    adopt(*operand, unary(false));
  } else {
    operand = primary();
  }
  operand = postfix(std::move(operand));
  return withFilters ? filters(std::move(operand)) : std::move(operand);
}

ExpressionPtr ExpressionParser::primary() {
  ExpressionPtr made = node(Kind::Constant);
  const Token &token = current();
  switch (token.kind) {
  case Token::Kind::Name:
    if (token.text == "true" || token.text == "True" || token.text == "false" || token.text == "False") {
      made->value = Value(token.text[0] == 't' || token.text[0] == 'T');
    } else if (token.text == "none" || token.text == "None") {
      made->value = Value(None{});
    } else {
      made->kind = Kind::Name;
      made->name = token.text;
    }
    next();
    return made;
  case Token::Kind::String: {
    std::string text;
    while (current().kind == Token::Kind::String) // neighbours are one string
      text += next().text;
    made->value = Value(Text::ofTemplate(std::move(text)));
    return made;
  }
  case Token::Kind::Integer: {
    int64_t value = 0;
    if (std::from_chars(token.text.data(), token.text.data() + token.text.size(), value).ec != std::errc())
      fail(TW_UNSUPPORTED, "the integer " + token.text + " does not fit 64 bits");
    made->value = Value(value);
    next();
    return made;
  }
  case Token::Kind::Float: {
    double value = 0;
    if (std::from_chars(token.text.data(), token.text.data() + token.text.size(), value).ec != std::errc())
      fail(TW_UNSUPPORTED, "the number " + token.text + " does not fit a double");
    made->value = Value(value);
    next();
    return made;
  }
  default:
    break;
  }
  if (acceptOperator("(")) {
    if (acceptOperator(")")) {
      made->kind = Kind::List;
      return made;
    }
    made = tuple();
    expectOperator(")");
    return made;
  }
  if (acceptOperator("[")) {
    made->kind = Kind::List;
    while (!seesOperator("]")) {
      adopt(*made, expression());
      if (!acceptOperator(","))
        break;
    }
    expectOperator("]");
    return made;
  }
  if (seesOperator("{"))
    return dictionary();
  failUnexpected("an expression");
}

ExpressionPtr ExpressionParser::dictionary() {
  ExpressionPtr made = node(Kind::Dict);
  expectOperator("{");
  while (!seesOperator("}")) {
    adopt(*made, expression());
    expectOperator(":");
    adopt(*made, expression());
    if (!acceptOperator(","))
      break;
  }
  expectOperator("}");
  return made;
}

ExpressionPtr ExpressionParser::postfix(ExpressionPtr operand) {
  for (;;) {
    if (seesOperator(".")) {
      ExpressionPtr made = node(Kind::Attribute);
      next();
      if (current().kind == Token::Kind::Integer) { // a.0 is a[0]
        made->kind = Kind::Subscript;
        adopt(*made, std::move(operand));
        adopt(*made, primary());
      } else {
        made->name = expectName("an attribute's name");
        adopt(*made, std::move(operand));
      }
      operand = std::move(made);
    } else if (seesOperator("[")) {
      operand = subscript(std::move(operand));
    } else if (seesOperator("(")) {
      ExpressionPtr made = node(Kind::Call);
      adopt(*made, std::move(operand));
      arguments(*made);
      operand = std::move(made);
    } else {
      return operand;
    }
  }
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr operand) {
  ExpressionPtr made = node(Kind::Subscript);
  expectOperator("[");
  adopt(*made, std::move(operand));
  adopt(*made, seesOperator(":") ? nullptr : expression());
  if (seesOperator(":")) {
    made->kind = Kind::Slice;
    next();
    adopt(*made, seesOperator(":") || seesOperator("]") ? nullptr : expression());
    adopt(*made, acceptOperator(":") && !seesOperator("]") ? expression() : nullptr);
  }
  if (seesOperator(","))
    fail(TW_UNSUPPORTED, "a subscript of several values is not supported");
  expectOperator("]");
  return made;
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr operand) {
  for (;;) {
    if (seesOperator("|")) {
      next();
      ExpressionPtr made = node(Kind::Filter);
      made->name = expectName("a filter's name");
      adopt(*made, std::move(operand));
      if (seesOperator("("))
        arguments(*made);
      operand = std::move(made);
    } else if (seesName("is")) {
      operand = test(std::move(operand));
    } else if (seesOperator("(")) {
      operand = postfix(std::move(operand));
    } else {
      return operand;
    }
  }
}

ExpressionPtr ExpressionParser::test(ExpressionPtr operand) {
  ExpressionPtr made = node(Kind::Test);
  next();
  const bool negated = accept(Token::Kind::Name, "not");
  made->name = expectName("a test's name");
  adopt(*made, std::move(operand));
  if (seesName("is"))
    fail(TW_CORRUPT, "tests cannot be chained by 'is'");
  const Token::Kind kind = current().kind;
  if (seesOperator("(")) {
    arguments(*made);
  } else if ((kind == Token::Kind::Name && !seesName("else") && !seesName("or") && !seesName("and") &&
              !seesName("if") && !seesName("not") && !seesName("in")) ||
             kind == Token::Kind::String || kind == Token::Kind::Integer || kind == Token::Kind::Float ||
             seesOperator("[") || seesOperator("{")) {
    adopt(*made, postfix(primary()));
  }
  if (!negated)
    return made;
  ExpressionPtr inverse = node(Kind::Not);
  inverse->line = made->line;
  adopt(*inverse, std::move(made));
  return inverse;
}

void ExpressionParser::arguments(Expression &call) {
  expectOperator("(");
  while (!seesOperator(")")) {
    if (seesOperator("*") || seesOperator("**"))
      fail(TW_UNSUPPORTED, "unpacking of arguments by '" + current().text + "' is not supported");
    if (current().kind == Token::Kind::Name && tokens[place + 1].kind == Token::Kind::Operator &&
        tokens[place + 1].text == "=") {
      std::string name = next().text;
      next();
      ExpressionPtr value = expression();
      measure(call, value.get());
      call.keywords.emplace_back(std::move(name), std::move(value));
    } else {
      if (!call.keywords.empty())
        fail(TW_CORRUPT, "a positional argument follows a named one");
      adopt(call, expression());
    }
    if (!acceptOperator(","))
      break;
  }
  expectOperator(")");
}

} // namespace tilewright::jinja
