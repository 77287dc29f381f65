// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/Expression.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace tilewright {

double Value::asDouble() const {
  if (const int64_t *integer = std::get_if<int64_t>(this))
    return static_cast<double>(*integer);
  return std::get<double>(*this);
}

bool Value::isTrue() const {
  if (isNumber())
    return asDouble() != 0;
  if (const std::string *text = std::get_if<std::string>(this))
    return !text->empty();
  return !std::get<ValueList>(*this).empty();
}

std::string spell(const Value &value) {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  if (const std::string *string = std::get_if<std::string>(&value))
    return quoted(*string);
  std::string text;
  raw_string_ostream os(text);
  if (const double *real = std::get_if<double>(&value)) {
    os << format("%.9g", *real);
    return text;
  }
  os << "[";
  interleaveComma(std::get<ValueList>(value), os, [&](const Value &element) { os << spell(element); });
  os << "]";
  return text;
}

std::optional<Value> valueOf(const json::Value &json) {
  if (std::optional<bool> flag = json.getAsBoolean())
    return Value(int64_t(*flag));
  if (std::optional<int64_t> integer = json.getAsInteger(); integer && json.kind() == json::Value::Number)
    return Value(*integer);
  if (std::optional<double> real = json.getAsNumber())
    return Value(*real);
  if (std::optional<StringRef> text = json.getAsString())
    return Value(text->str());
  const json::Array *array = json.getAsArray();
  if (!array)
    return std::nullopt;
  ValueList list;
  for (const json::Value &element : *array) {
    std::optional<Value> value = valueOf(element);
    if (!value)
      return std::nullopt;
    list.push_back(std::move(*value));
  }
  return Value(std::move(list));
}

const Value *Scope::find(StringRef name) const {
  if (auto known = values.find(name); known != values.end())
    return &known->second;
  return outer ? outer->find(name) : nullptr;
}

std::optional<bool> Scope::present(StringRef weight) const {
  const Scope *root = this;
  while (root->outer)
    root = root->outer;
  return root->isPresent ? root->isPresent(weight, *this) : std::nullopt;
}

namespace {

Value truth(bool value) { return Value(int64_t(value)); }

class Evaluator {
public:
  Evaluator(StringRef text, const Scope &scope) : text(text), rest(text), scope(scope) {}

  Expected<Value> run() {
    Expected<Value> value = choice(/*wanted=*/true);
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

  bool take(StringRef word) {
    rest = rest.ltrim();
    return rest.consume_front(word);
  }

  // Everything below reads its part of the text; what is not `wanted` is read and not evaluated: its value is 0.

  Expected<Value> choice(bool wanted) {
    if (++depth > maxDepth)
      return fail("it nests deeper than " + Twine(maxDepth));
    Expected<Value> value = binary(0, wanted);
    if (value && take("?")) {
      bool first = wanted && value->isTrue();
      Expected<Value> yes = choice(first);
      if (!yes)
        return yes;
      if (!take(":"))
        return fail("wanted ':' at " + quoted(rest));
      Expected<Value> no = choice(wanted && !first);
      if (!no)
        return no;
      value = first ? std::move(yes) : std::move(no);
    }
    --depth;
    return value;
  }

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

  Expected<Value> binary(int level, bool wanted) {
    if (level == unaryLevel)
      return unary(wanted);
    Expected<Value> left = binary(level + 1, wanted);
    while (left) {
      StringRef op = takeOperator(level);
      if (op.empty())
        break;
      bool decided = wanted && ((op == "||" && left->isTrue()) || (op == "&&" && !left->isTrue()));
      Expected<Value> right = binary(level + 1, wanted && !decided);
      if (!right)
        return right;
      if (!wanted)
        continue;
      if (op == "||" || op == "&&")
        left = truth(decided ? op == "||" : right->isTrue());
      else
        left = apply(op, *left, *right);
    }
    return left;
  }

  Expected<Value> apply(StringRef op, const Value &a, const Value &b) const {
    if (a.isNumber() && b.isNumber()) {
      const int64_t *x = std::get_if<int64_t>(&a), *y = std::get_if<int64_t>(&b);
      return x && y ? applyIntegers(op, *x, *y) : applyFloats(op, a.asDouble(), b.asDouble());
    }
    const std::string *x = std::get_if<std::string>(&a), *y = std::get_if<std::string>(&b);
    if (x && y && (op == "==" || op == "!="))
      return truth((*x == *y) == (op == "=="));
    return fail(spell(a) + " " + op + " " + spell(b) + " has no value");
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

  Expected<Value> applyIntegers(StringRef op, int64_t a, int64_t b) const {
    if (std::optional<bool> holds = compare(op, a, b))
      return truth(*holds);
    if (op == "/" || op == "%") {
      if (b == 0 || (b == -1 && a == INT64_MIN))
        return fail(Twine(a) + " " + op + " " + Twine(b) + " has no value");
      if (op == "%")
        return Value(a % b);
      if (a % b != 0)
        return fail(Twine(a) + " / " + Twine(b) + " leaves a remainder");
      return Value(a / b);
    }
    std::optional<int64_t> value = op == "+" ? checkedAdd(a, b) : op == "-" ? checkedSub(a, b) : checkedMul(a, b);
    if (!value)
      return fail(Twine(a) + " " + op + " " + Twine(b) + " is beyond 64 bits");
    return Value(*value);
  }

  Expected<Value> applyFloats(StringRef op, double a, double b) const {
    if (std::optional<bool> holds = compare(op, a, b))
      return truth(*holds);
    if (op == "+")
      return Value(a + b);
    if (op == "-")
      return Value(a - b);
    if (op == "*")
      return Value(a * b);
    if (op == "/" && b != 0)
      return Value(a / b);
    return fail(spell(Value(a)) + " " + op + " " + spell(Value(b)) + " has no value");
  }

  Expected<Value> unary(bool wanted) {
    if (++depth > maxDepth)
      return fail("it nests deeper than " + Twine(maxDepth));
    Expected<Value> value = primary(wanted);
    while (value && take("[")) {
      Expected<Value> index = choice(wanted);
      if (!index)
        return index;
      if (!take("]"))
        return fail("wanted ']' at " + quoted(rest));
      if (wanted)
        value = element(*value, *index);
    }
    --depth;
    return value;
  }

  Expected<Value> element(const Value &list, const Value &index) const {
    const ValueList *elements = std::get_if<ValueList>(&list);
    const int64_t *at = std::get_if<int64_t>(&index);
    if (!elements || !at || *at < 0 || static_cast<size_t>(*at) >= elements->size())
      return fail(spell(list) + "[" + spell(index) + "] has no value");
    return (*elements)[*at];
  }

  Expected<Value> primary(bool wanted) {
    if (take("-")) {
      Expected<Value> value = unary(wanted);
      return value && wanted ? apply("-", Value(int64_t(0)), *value) : std::move(value);
    }
    if (take("!")) {
      Expected<Value> value = unary(wanted);
      return value ? Expected<Value>(truth(!value->isTrue())) : std::move(value);
    }
    if (take("(")) {
      Expected<Value> value = choice(wanted);
      if (value && !take(")"))
        return fail("wanted ')' at " + quoted(rest));
      return value;
    }
    if (take("'")) {
      size_t end = rest.find('\'');
      if (end == StringRef::npos)
        return fail("wanted \"'\" behind " + quoted(rest));
      Value value(rest.take_front(end).str());
      rest = rest.drop_front(end + 1);
      return value;
    }
    if (!rest.empty() && isDigit(rest.front()))
      return literal();
    StringRef name = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (name.empty())
      return fail("wanted a number, a name or '(' at " + quoted(rest));
    rest = rest.drop_front(name.size());
    if (take("("))
      return function(name, wanted);
    const Value *known = scope.find(name);
    if (!known)
      return wanted ? Expected<Value>(fail("unknown name " + quoted(name))) : Expected<Value>(truth(false));
    return *known;
  }

  Expected<Value> literal() {
    StringRef digits = rest.take_while([](char c) { return isAlnum(c) || c == '.'; });
    rest = rest.drop_front(digits.size());
    // "1e-05"
    if (digits.ends_with("e") && rest.starts_with("-")) {
      size_t more = 1 + rest.drop_front().take_while(isDigit).size();
      digits = StringRef(digits.data(), digits.size() + more);
      rest = rest.drop_front(more);
    }
    int64_t integer;
    double real;
    if (!digits.getAsInteger(10, integer))
      return Value(integer);
    if (!digits.getAsDouble(real))
      return Value(real);
    return fail(quoted(digits) + " is no number");
  }

  Expected<Value> function(StringRef name, bool wanted) {
    std::vector<Value> arguments;
    do {
      Expected<Value> argument = choice(wanted);
      if (!argument)
        return argument;
      arguments.push_back(std::move(*argument));
    } while (take(","));
    if (!take(")"))
      return fail("wanted ')' at " + quoted(rest));
    if (!wanted)
      return truth(false);
    if (std::optional<Value> value = call(name, arguments))
      return std::move(*value);
    return fail(name + "(" + join(map_range(arguments, [](const Value &v) { return spell(v); }), ", ") +
                ") has no value");
  }

  std::optional<Value> call(StringRef name, ArrayRef<Value> arguments) const {
    const Value &first = arguments.front();
    if (arguments.size() == 2) {
      const ValueList *list = std::get_if<ValueList>(&first);
      if (name != "has" || !list)
        return std::nullopt;
      return truth(is_contained(*list, arguments[1]));
    }
    if (arguments.size() != 1)
      return std::nullopt;
    if (const std::string *weight = std::get_if<std::string>(&first); weight && name == "present") {
      std::optional<bool> there = scope.present(*weight);
      return there ? std::optional(truth(*there)) : std::nullopt;
    }
    if (name == "len") {
      if (const ValueList *list = std::get_if<ValueList>(&first))
        return Value(static_cast<int64_t>(list->size()));
      if (const std::string *string = std::get_if<std::string>(&first))
        return Value(static_cast<int64_t>(string->size()));
      return std::nullopt;
    }
    if (!first.isNumber())
      return std::nullopt;
    double x = first.asDouble();
    if (name == "float")
      return Value(x);
    if (name == "sqrt" && x >= 0)
      return Value(std::sqrt(x));
    if (name == "ln" && x > 0)
      return Value(std::log(x));
    if ((name == "floor" || name == "ceil") && std::abs(x) < 9e18)
      return Value(static_cast<int64_t>(name == "floor" ? std::floor(x) : std::ceil(x)));
    return std::nullopt;
  }

  StringRef text;
  StringRef rest;
  const Scope &scope;
  int depth = 0;
};

} // namespace

Expected<Value> evaluate(StringRef text, const Scope &scope) { return Evaluator(text, scope).run(); }

Expected<int64_t> evaluateInteger(StringRef text, const Scope &scope) {
  Expected<Value> value = evaluate(text, scope);
  if (!value)
    return value.takeError();
  if (const int64_t *integer = std::get_if<int64_t>(&*value))
    return *integer;
  return badInput("expression " + quoted(text) + ": found " + spell(*value) + ", wanted an integer");
}

std::vector<StringRef> namesIn(StringRef text) {
  std::vector<StringRef> names;
  auto isWord = [](char c) { return isAlnum(c) || c == '_'; };
  while (!text.empty()) {
    if (text.consume_front("'")) {
      text = text.split('\'').second;
    } else if (StringRef word = text.take_while(isWord); !word.empty()) {
      if (!isDigit(word.front()))
        names.push_back(word);
      text = text.drop_front(word.size());
    } else {
      text = text.drop_front();
    }
  }
  return names;
}

Expected<std::string> replaceBraced(StringRef text, function_ref<Expected<std::string>(StringRef)> value) {
  std::string out;
  while (!text.empty()) {
    auto [before, rest] = text.split('{');
    out += before;
    if (before.size() == text.size())
      break;
    auto [name, after] = rest.split('}');
    Expected<std::string> found = value(name);
    if (!found)
      return found.takeError();
    out += *found;
    text = after;
  }
  return out;
}

Expected<bool> evaluateCondition(StringRef text, const Scope &scope) {
  if (text.empty())
    return true;
  Expected<Value> value = evaluate(text, scope);
  return value ? Expected<bool>(value->isTrue()) : value.takeError();
}

} // namespace tilewright
