// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements; expressions are in JinjaExpressions.cpp.
#include "runtime/tokenize/JinjaEvaluator.h"

#include <algorithm>

namespace tilewright::jinja {

Evaluator::~Evaluator() {
  for (const NamespaceRef &space : namespaces)
    space->attributes.clear();
}

Text Evaluator::run(const Body &body) {
  Text text;
  output = &text;
  execute(body);
  return text;
}

Evaluator::Flow Evaluator::execute(const Body &body) {
  const Depth level(runtime, depth);
  for (const Statement &statement : body)
    if (const Flow flow = execute(statement); flow != Flow::Next)
      return flow;
  return Flow::Next;
}

Evaluator::Flow Evaluator::execute(const Statement &statement) {
  runtime.line = statement.line;
  runtime.charge();
  switch (statement.kind) {
  case Statement::Kind::Data:
    runtime.checkBytes(output->bytes.size() + statement.data.size());
    output->append(statement.data);
    return Flow::Next;
  case Statement::Kind::Print:
    print(evaluate(*statement.expression));
    return Flow::Next;
  case Statement::Kind::If:
    return executeIf(statement);
  case Statement::Kind::For:
    return executeFor(statement);
  case Statement::Kind::Set:
    assign(statement.target, evaluate(*statement.expression));
    return Flow::Next;
  case Statement::Kind::SetBlock: {
    Flow flow = Flow::Next;
    assign(statement.target, runtime.text(capture(statement.body, flow)));
    return flow;
  }
  case Statement::Kind::Group:
    return execute(statement.body);
  case Statement::Kind::Macro:
    assign(frames.back(), statement.macro->name, Value(static_cast<const MacroNode *>(statement.macro.get())));
    return Flow::Next;
  case Statement::Kind::Break:
    return Flow::Break;
  case Statement::Kind::Continue:
    return Flow::Continue;
  }
  runtime.fail(TW_INTERNAL, "unknown statement kind");
}

void Evaluator::print(const Value &value) {
  const Text text = toText(runtime, value);
  runtime.charge(text.bytes.size() / 64);
  runtime.checkBytes(output->bytes.size() + text.bytes.size());
  output->append(text);
}

Text Evaluator::capture(const Body &body, Flow &flow) {
  Text text;
  Text *const outer = std::exchange(output, &text);
  flow = execute(body);
  output = outer;
  return text;
}

Evaluator::Flow Evaluator::executeIf(const Statement &statement) {
  for (const Statement::Branch &branch : statement.branches)
    if (!branch.condition || isTrue(evaluate(*branch.condition)))
      return execute(branch.body);
  return Flow::Next;
}

ListRef Evaluator::loopItems(const Statement &statement) {
  const Value sequence = evaluate(*statement.expression);
  runtime.line = statement.line;
  std::vector<Value> items = needItems(runtime, sequence, "what a loop goes through");
  if (statement.condition) {
    std::vector<Value> kept;
    frames.emplace_back();
    for (Value &item : items) {
      frames.back().clear();
      unpack(statement.target, item);
      if (isTrue(evaluate(*statement.condition)))
        kept.push_back(std::move(item));
    }
    frames.pop_back();
    items = std::move(kept);
  }
  return *runtime.list(std::move(items)).get<ListRef>();
}

Evaluator::Flow Evaluator::executeFor(const Statement &statement) {
  const auto loop = std::make_shared<LoopState>();
  loop->items = loopItems(statement);
  loop->depth = ++loopDepth;
  frames.emplace_back();
  for (loop->index = 0; loop->index < loop->items->items.size(); ++loop->index) {
    runtime.line = statement.line;
    runtime.charge();
    frames.back().clear();
    unpack(statement.target, loop->items->items[loop->index]);
    assign(frames.back(), "loop", Value(LoopRef(loop)));
    if (execute(statement.body) == Flow::Break)
      break;
  }
  frames.pop_back();
  --loopDepth;
  return loop->items->items.empty() ? execute(statement.otherwise) : Flow::Next;
}

void Evaluator::unpack(const Target &target, const Value &value) {
  if (!target.unpack)
    return assign(frames.back(), target.names.front(), value);
  const std::vector<Value> items = needItems(runtime, value, "what is unpacked");
  if (items.size() != target.names.size())
    runtime.fail(TW_INVALID, "cannot unpack " + std::to_string(items.size()) + " values into " +
                                 std::to_string(target.names.size()) + " names");
  for (size_t i = 0; i < items.size(); ++i)
    assign(frames.back(), target.names[i], items[i]);
}

void Evaluator::assign(const Target &target, Value value) {
  if (target.attribute.empty())
    return unpack(target, value);
  const Value holder = lookUp(target.names.front());
  const auto *space = holder.get<NamespaceRef>();
  if (!space)
    runtime.fail(TW_INVALID, "cannot set attribute '" + target.attribute + "' of '" + target.names.front() +
                                 "', which is " + typeWithArticle(holder) + " and not a namespace");
  (*space)->set(target.attribute, std::move(value));
}

void Evaluator::assign(Frame &frame, std::string_view name, Value value) {
  for (auto &[known, old] : frame)
    if (known == name) {
      old = std::move(value);
      return;
    }
  frame.emplace_back(name, std::move(value));
}

} // namespace tilewright::jinja
