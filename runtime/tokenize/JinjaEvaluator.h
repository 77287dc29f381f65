// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a parsed template.
#pragma once

#include "runtime/tokenize/JinjaRuntime.h"
#include "runtime/tokenize/JinjaSyntax.h"

#include <string_view>
#include <utility>
#include <vector>

namespace tilewright::jinja {

/// One rendering of one template; `body` must outlive it.
class Evaluator {
public:
  explicit Evaluator(const TemplateLimits &limits) : runtime(limits), frames(1) {}
  ~Evaluator();
  Evaluator(const Evaluator &) = delete;
  Evaluator &operator=(const Evaluator &) = delete;

  /// Sets a variable of the outermost scope; `name` must outlive the evaluator.
  void define(std::string_view name, Value value) { assign(frames.front(), name, std::move(value)); }
  /// Renders; throws as `ChatTemplate::render`.
  Text run(const Body &body);

  Runtime runtime;

private:
  using Frame = std::vector<std::pair<std::string_view, Value>>;
  enum class Flow { Next, Break, Continue };

  // Statements.
  Flow execute(const Body &body);
  Flow execute(const Statement &statement);
  Flow executeIf(const Statement &statement);
  Flow executeFor(const Statement &statement);
  ListRef loopItems(const Statement &statement);
  void print(const Value &value);
  Text capture(const Body &body, Flow &flow);
  void assign(const Target &target, Value value);
  void assign(Frame &frame, std::string_view name, Value value);
  void unpack(const Target &target, const Value &value);

  // Expressions.
  Value evaluate(const Expression &expression);
  Value evaluateOptional(const ExpressionPtr &expression) { return expression ? evaluate(*expression) : Value(); }
  Value evaluateDict(const Expression &expression);
  Value evaluateList(const Expression &expression);
  Value evaluateSlice(const Expression &expression);
  Value evaluateCompare(const Expression &expression);
  Value evaluateArithmetic(const Expression &expression);
  Value evaluateConditional(const Expression &expression);
  Value evaluateFilter(const Expression &expression);
  Value evaluateCall(const Expression &expression);
  Arguments evaluateArguments(const Expression &expression);
  Value lookUp(std::string_view name);
  Value attribute(const Value &value, const std::string &name);
  Value loopAttribute(const LoopState &loop, const std::string &name);
  Value callLoop(LoopState &loop, std::string_view name, const Arguments &arguments);
  Value callFunction(std::string_view name, const Arguments &arguments);
  Value callMacro(const MacroNode &macro, const Arguments &arguments);
  Value range(const Arguments &arguments);

  std::vector<Frame> frames;
  size_t base = 0; // frames from here on, and the outermost, are visible
  uint32_t depth = 0;
  int64_t loopDepth = 0;
  Text *output = nullptr;
  std::vector<NamespaceRef> namespaces; // cleared at the end: they may refer to each other in circles
};

} // namespace tilewright::jinja
