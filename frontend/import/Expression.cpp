// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/Expression.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace tilewright {

std::string spell(const Number &number) {
  if (const int64_t *integer = std::get_if<int64_t>(&number))
    return std::to_string(*integer);
  std::string text;
  raw_string_ostream(text) << format("%.9g", std::get<double>(number));
  return text;
}

namespace {

double asDouble(const Number &number) {
  if (const int64_t *integer = std::get_if<int64_t>(&number))
    return static_cast<double>(*integer);
  return std::get<double>(number);
}

bool isTrue(const Number &number) { return asDouble(number) != 0; }

class Evaluator {
public:
  Evaluator(StringRef text, const StringMap<Number> &names) : text(text), rest(text), names(names) {}

  Expected<Number> run() {
    Expected<Number> value = binary(0);
    if (!value)
      return value;
    rest = rest.ltrim();
    if (!rest.empty())
      return fail("found " + quoted(rest) + " after its end");
    return value;
  }

private:
  static constexpr int maxDepth = 64;
  static constexpr int unaryLevel = 5;

  Error fail(const Twine &what) const { return badInput("expression " + quoted(text) + ": " + what); }

  /// The operator of `level` that `rest` starts with, taken off; empty if there is none.
  StringRef takeOperator(int level) {
    static const std::vector<StringRef> levels[unaryLevel] = {
        {"||"}, {"&&"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};
    rest = rest.ltrim();
    for (StringRef op : levels[level])
      if (rest.consume_front(op))
        return op;
    return {};
  }

  Expected<Number> binary(int level) {
    if (level == unaryLevel)
      return unary();
    Expected<Number> left = binary(level + 1);
    while (left) {
      StringRef op = takeOperator(level);
      if (op.empty())
        break;
      Expected<Number> right = binary(level + 1);
      if (!right)
        return right;
      left = apply(op, *left, *right);
    }
    return left;
  }

  Expected<Number> apply(StringRef op, const Number &a, const Number &b) const {
    if (op == "||")
      return Number(int64_t(isTrue(a) || isTrue(b)));
    if (op == "&&")
      return Number(int64_t(isTrue(a) && isTrue(b)));
    const int64_t *x = std::get_if<int64_t>(&a), *y = std::get_if<int64_t>(&b);
    return x && y ? applyIntegers(op, *x, *y) : applyFloats(op, asDouble(a), asDouble(b));
  }

  template <typename T> static std::optional<bool> compare(StringRef op, T a, T b) {
    if (op == "==")
      return a == b;
    if (op == "!=")
      return a != b;
    if (op == "<=")
      return a <= b;
    if (op == ">=")
      return a >= b;
    if (op == "<")
      return a < b;
    if (op == ">")
      return a > b;
    return std::nullopt;
  }

  Expected<Number> applyIntegers(StringRef op, int64_t a, int64_t b) const {
    if (std::optional<bool> truth = compare(op, a, b))
      return Number(int64_t(*truth));
    if (op == "/" || op == "%") {
      if (b == 0 || (b == -1 && a == INT64_MIN))
        return fail(Twine(a) + " " + op + " " + Twine(b) + " has no value");
      if (op == "%")
        return Number(a % b);
      if (a % b != 0)
        return fail(Twine(a) + " / " + Twine(b) + " leaves a remainder");
      return Number(a / b);
    }
    std::optional<int64_t> value = op == "+" ? checkedAdd(a, b) : op == "-" ? checkedSub(a, b) : checkedMul(a, b);
    if (!value)
      return fail(Twine(a) + " " + op + " " + Twine(b) + " is beyond 64 bits");
    return Number(*value);
  }

  Expected<Number> applyFloats(StringRef op, double a, double b) const {
    if (std::optional<bool> truth = compare(op, a, b))
      return Number(int64_t(*truth));
    if (op == "+")
      return Number(a + b);
    if (op == "-")
      return Number(a - b);
    if (op == "*")
      return Number(a * b);
    if (op == "/" && b != 0)
      return Number(a / b);
    return fail(spell(Number(a)) + " " + op + " " + spell(Number(b)) + " has no value");
  }

  Expected<Number> unary() {
    if (++depth > maxDepth)
      return fail("it nests deeper than " + Twine(maxDepth));
    Expected<Number> value = unaryInner();
    --depth;
    return value;
  }

  Expected<Number> unaryInner() {
    rest = rest.ltrim();
    if (rest.consume_front("-")) {
      Expected<Number> value = unary();
      return value ? apply("-", Number(int64_t(0)), *value) : std::move(value);
    }
    if (rest.consume_front("(")) {
      Expected<Number> value = binary(0);
      rest = rest.ltrim();
      if (value && !rest.consume_front(")"))
        return fail("wanted ')' at " + quoted(rest));
      return value;
    }
    if (!rest.empty() && isDigit(rest.front()))
      return literal();
    StringRef name = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (name.empty())
      return fail("wanted a number, a name or '(' at " + quoted(rest));
    rest = rest.drop_front(name.size()).ltrim();
    if (rest.starts_with("("))
      return function(name);
    auto known = names.find(name);
    if (known == names.end())
      return fail("unknown name " + quoted(name));
    return known->second;
  }

  Expected<Number> literal() {
    StringRef digits = rest.take_while([](char c) { return isAlnum(c) || c == '.'; });
    rest = rest.drop_front(digits.size());
    int64_t integer;
    double real;
    if (!digits.getAsInteger(10, integer))
      return Number(integer);
    if (!digits.getAsDouble(real))
      return Number(real);
    return fail(quoted(digits) + " is no number");
  }

  Expected<Number> function(StringRef name) {
    Expected<Number> argument = unary();
    if (!argument)
      return argument;
    double value = asDouble(*argument);
    if (name == "float")
      return Number(value);
    if (name == "sqrt" && value >= 0)
      return Number(std::sqrt(value));
    return fail(name + "(" + spell(*argument) + ") has no value");
  }

  StringRef text;
  StringRef rest;
  const StringMap<Number> &names;
  int depth = 0;
};

} // namespace

Expected<Number> evaluate(StringRef text, const StringMap<Number> &names) { return Evaluator(text, names).run(); }

Expected<int64_t> evaluateInteger(StringRef text, const StringMap<Number> &names) {
  Expected<Number> value = evaluate(text, names);
  if (!value)
    return value.takeError();
  if (const int64_t *integer = std::get_if<int64_t>(&*value))
    return *integer;
  return badInput("expression " + quoted(text) + ": found " + spell(*value) + ", wanted an integer");
}

} // namespace tilewright
