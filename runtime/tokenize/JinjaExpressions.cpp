// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The evaluator's expressions. Each kind has a function of its own, so that the recursion's frames stay small.
#include "runtime/tokenize/JinjaEvaluator.h"

#include <algorithm>

namespace tilewright::jinja {

namespace {

constexpr std::string_view kFunctions[] = {"range", "namespace", "dict", "raise_exception", "strftime_now"};
constexpr int64_t kLongestRange = 100'000; // as in Jinja's sandbox

} // namespace

Value Evaluator::lookUp(std::string_view name) {
  for (size_t i = frames.size(); i-- > 0;) {
    if (i < base && i > 0)
      i = 0;
    for (const auto &[known, value] : frames[i])
      if (known == name)
        return value;
  }
  if (const auto found = std::find(std::begin(kFunctions), std::end(kFunctions), name); found != std::end(kFunctions))
    return Value(Function{*found});
  return Value::undefined(name);
}

Value Evaluator::evaluate(const Expression &expression) {
  const Depth level(runtime, depth);
  runtime.line = expression.line;
  runtime.charge();
  const auto &operands = expression.operands;
  switch (expression.kind) {
  case Expression::Kind::Constant:
    return expression.value;
  case Expression::Kind::Name:
    return lookUp(expression.name);
  case Expression::Kind::List:
    return evaluateList(expression);
  case Expression::Kind::Dict:
    return evaluateDict(expression);
  case Expression::Kind::Attribute:
    return attribute(evaluate(*operands[0]), expression.name);
  case Expression::Kind::Subscript:
  case Expression::Kind::Slice:
    return evaluateSlice(expression);
  case Expression::Kind::Call:
    return evaluateCall(expression);
  case Expression::Kind::Filter:
  case Expression::Kind::Test:
    return evaluateFilter(expression);
  case Expression::Kind::Negate:
    return negate(runtime, evaluate(*operands[0]));
  case Expression::Kind::Plus:
    return arithmetic(runtime, "+", Value(int64_t{0}), evaluate(*operands[0]));
  case Expression::Kind::Not:
    return Value(!isTrue(evaluate(*operands[0])));
  case Expression::Kind::Arithmetic:
    return evaluateArithmetic(expression);
  case Expression::Kind::Compare:
    return evaluateCompare(expression);
  case Expression::Kind::And:
  case Expression::Kind::Or: {
    Value left = evaluate(*operands[0]);
    const bool decided = isTrue(left) == (expression.kind == Expression::Kind::Or);
    return decided ? left : evaluate(*operands[1]);
  }
  case Expression::Kind::Conditional:
    return evaluateConditional(expression);
  }
  runtime.fail(TW_INTERNAL, "unknown expression kind");
}

Value Evaluator::evaluateList(const Expression &expression) {
  std::vector<Value> items;
  for (const ExpressionPtr &operand : expression.operands)
    items.push_back(evaluate(*operand));
  return runtime.list(std::move(items));
}

Value Evaluator::evaluateDict(const Expression &expression) {
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i < expression.operands.size(); i += 2) {
    Value key = evaluate(*expression.operands[i]);
    entries.emplace_back(std::move(key), evaluate(*expression.operands[i + 1]));
  }
  runtime.line = expression.line;
  return runtime.dict(std::move(entries));
}

Value Evaluator::evaluateSlice(const Expression &expression) {
  const Value value = evaluate(*expression.operands[0]);
  const Value first = evaluateOptional(expression.operands[1]);
  if (expression.kind == Expression::Kind::Subscript) {
    runtime.line = expression.line;
    return subscript(runtime, value, first);
  }
  const Value stop = evaluateOptional(expression.operands[2]), step = evaluateOptional(expression.operands[3]);
  runtime.line = expression.line;
  return slice(runtime, value, first, stop, step);
}

Value Evaluator::evaluateArithmetic(const Expression &expression) {
  const Value left = evaluate(*expression.operands[0]);
  const Value right = evaluate(*expression.operands[1]);
  runtime.line = expression.line;
  return arithmetic(runtime, expression.name, left, right);
}

Value Evaluator::evaluateCompare(const Expression &expression) {
  Value left = evaluate(*expression.operands[0]);
  for (size_t i = 0; i < expression.operators.size(); ++i) {
    Value right = evaluate(*expression.operands[i + 1]);
    runtime.line = expression.line;
    if (!compare(runtime, expression.operators[i], left, right))
      return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value Evaluator::evaluateConditional(const Expression &expression) {
  if (isTrue(evaluate(*expression.operands[1])))
    return evaluate(*expression.operands[0]);
  return expression.operands[2] ? evaluate(*expression.operands[2]) : Value::undefined("the missing else");
}

Arguments Evaluator::evaluateArguments(const Expression &expression) {
  Arguments arguments;
  for (size_t i = 1; i < expression.operands.size(); ++i)
    arguments.positional.push_back(evaluate(*expression.operands[i]));
  for (const auto &[name, value] : expression.keywords)
    arguments.keywords.emplace_back(name, evaluate(*value));
  runtime.line = expression.line;
  return arguments;
}

Value Evaluator::evaluateFilter(const Expression &expression) {
  const Value value = evaluate(*expression.operands[0]);
  const Arguments arguments = evaluateArguments(expression);
  if (expression.kind == Expression::Kind::Test)
    return Value(applyTest(runtime, expression.name, value, arguments));
  return applyFilter(runtime, expression.name, value, arguments);
}

Value Evaluator::attribute(const Value &value, const std::string &name) {
  if (const auto *loop = value.get<LoopRef>())
    return loopAttribute(**loop, name);
  if (hasMethod(value, name))
    runtime.fail(TW_UNSUPPORTED, "method '" + name + "' of " + typeWithArticle(value) + " can only be called");
  if (value.isUndefined() || value.dict() || value.get<NamespaceRef>())
    return subscript(runtime, value, runtime.templateText(name));
  return Value::undefined(name);
}

Value Evaluator::loopAttribute(const LoopState &loop, const std::string &name) {
  const auto &items = loop.items->items;
  const auto index = static_cast<int64_t>(loop.index), size = static_cast<int64_t>(items.size());
  if (name == "index")
    return Value(index + 1);
  if (name == "index0")
    return Value(index);
  if (name == "revindex")
    return Value(size - index);
  if (name == "revindex0")
    return Value(size - index - 1);
  if (name == "first")
    return Value(index == 0);
  if (name == "last")
    return Value(index + 1 == size);
  if (name == "length")
    return Value(size);
  if (name == "depth")
    return Value(int64_t{1}); // only recursive loops, which are not supported, are deeper
  if (name == "depth0")
    return Value(int64_t{0});
  if (name == "previtem")
    return index > 0 ? items[loop.index - 1] : Value::undefined("loop.previtem");
  if (name == "nextitem")
    return index + 1 < size ? items[loop.index + 1] : Value::undefined("loop.nextitem");
  return Value::undefined("loop." + name);
}

Value Evaluator::callLoop(LoopState &loop, std::string_view name, const Arguments &arguments) {
  if (name == "cycle") {
    if (arguments.positional.empty())
      runtime.fail(TW_INVALID, "loop.cycle got nothing to go through");
    return arguments.positional[loop.index % arguments.positional.size()];
  }
  if (name == "changed") {
    // One list: a loop or namespace inside could refer back to this loop.
    for (const Value &value : arguments.positional)
      if (value.get<LoopRef>() || value.get<NamespaceRef>() || value.list() || value.dict())
        runtime.fail(TW_UNSUPPORTED, "loop.changed of " + typeWithArticle(value) + " is not supported");
    const Value now = runtime.list(arguments.positional);
    const bool changed = !loop.lastChanged || !compare(runtime, "==", *loop.lastChanged, now);
    loop.lastChanged = now;
    return Value(changed);
  }
  runtime.fail(TW_UNSUPPORTED, "loop." + std::string(name) + " cannot be called");
}

Value Evaluator::evaluateCall(const Expression &expression) {
  const Expression &callee = *expression.operands[0];
  if (callee.kind == Expression::Kind::Attribute) {
    const Value object = evaluate(*callee.operands[0]);
    const Arguments arguments = evaluateArguments(expression);
    if (const auto *loop = object.get<LoopRef>())
      return callLoop(**loop, callee.name, arguments);
    return callMethod(runtime, object, callee.name, arguments);
  }
  const Value function = evaluate(callee);
  const Arguments arguments = evaluateArguments(expression);
  if (const auto *macro = function.get<const MacroNode *>())
    return callMacro(**macro, arguments);
  if (const auto *builtIn = function.get<Function>())
    return callFunction(builtIn->name, arguments);
  if (const auto *undefined = function.get<Undefined>())
    runtime.failUndefined(*undefined);
  runtime.fail(TW_INVALID, typeWithArticle(function) + " cannot be called");
}

Value Evaluator::callFunction(std::string_view name, const Arguments &arguments) {
  if (name == "range")
    return range(arguments);
  if (name == "raise_exception")
    runtime.fail(TW_INVALID,
                 "the template refuses: " +
                     toText(runtime, *arguments.bind(runtime, "function 'raise_exception'", {"message"}, 1)[0]).bytes);
  if (name == "strftime_now") {
    const Value &format = *arguments.bind(runtime, "function 'strftime_now'", {"format"}, 1)[0];
    return runtime.text(formatTime(runtime, needText(runtime, format, "the argument of function 'strftime_now'")));
  }
  // namespace(...) and dict(...): named arguments, or one dict to begin with.
  std::vector<std::pair<Value, Value>> entries;
  if (arguments.positional.size() > 1 || (!arguments.positional.empty() && !arguments.positional[0].dict()))
    runtime.fail(TW_UNSUPPORTED, "function '" + std::string(name) + "' takes named arguments or one dict");
  if (!arguments.positional.empty())
    entries = arguments.positional[0].dict()->entries;
  for (const auto &[key, value] : arguments.keywords)
    entries.emplace_back(runtime.templateText(std::string(key)), value);
  if (name == "dict")
    return runtime.dict(std::move(entries));
  runtime.charge(entries.size() * entries.size());
  const auto space = std::make_shared<Namespace>();
  namespaces.push_back(space);
  for (auto &[key, value] : entries)
    space->set(needText(runtime, key, "an attribute's name").bytes, std::move(value));
  return Value(space);
}

Value Evaluator::range(const Arguments &arguments) {
  const auto given = arguments.bind(runtime, "function 'range'", {"start", "stop", "step"}, 1);
  auto integer = [&](const Value *value, int64_t otherwise) {
    return value ? needInteger(runtime, *value, "an argument of range") : otherwise;
  };
  const int64_t start = given[1] ? integer(given[0], 0) : 0;
  const int64_t stop = given[1] ? integer(given[1], 0) : integer(given[0], 0);
  const int64_t step = integer(given[2], 1);
  if (step == 0)
    runtime.fail(TW_INVALID, "function 'range' got a step of 0");
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (items.size() >= kLongestRange)
      runtime.fail(TW_EXHAUSTED, "function 'range': more than " + std::to_string(kLongestRange) + " numbers");
    runtime.charge();
    items.push_back(Value(i));
    if (__builtin_add_overflow(i, step, &i))
      break;
  }
  return runtime.list(std::move(items));
}

Value Evaluator::callMacro(const MacroNode &macro, const Arguments &arguments) {
  const std::string what = "macro '" + macro.name + "'";
  const auto &parameters = macro.parameters;
  if (arguments.positional.size() > parameters.size())
    runtime.fail(TW_INVALID, what + " got " + std::to_string(arguments.positional.size()) +
                                 " arguments, takes at most " + std::to_string(parameters.size()));
  Frame frame;
  for (size_t i = 0; i < arguments.positional.size(); ++i)
    assign(frame, parameters[i], arguments.positional[i]);
  for (const auto &[name, value] : arguments.keywords) {
    const auto found = std::find(parameters.begin(), parameters.end(), name);
    if (found == parameters.end() || static_cast<size_t>(found - parameters.begin()) < arguments.positional.size())
      runtime.fail(TW_INVALID, what + " cannot take its argument '" + std::string(name) + "'");
    assign(frame, *found, value);
  }

  frames.push_back(std::move(frame));
  const size_t callerBase = std::exchange(base, frames.size() - 1);
  for (size_t i = arguments.positional.size(); i < parameters.size(); ++i) {
    const auto &values = frames.back();
    if (std::any_of(values.begin(), values.end(), [&](const auto &entry) { return entry.first == parameters[i]; }))
      continue;
    const size_t required = parameters.size() - macro.defaults.size();
    Value value = i < required ? Value::undefined(parameters[i]) : evaluate(*macro.defaults[i - required]);
    assign(frames.back(), parameters[i], std::move(value));
  }
  Flow flow = Flow::Next;
  Text text = capture(macro.body, flow);
  base = callerBase;
  frames.pop_back();
  return runtime.text(std::move(text));
}

} // namespace tilewright::jinja
