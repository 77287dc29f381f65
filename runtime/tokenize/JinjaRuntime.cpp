// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/JinjaRuntime.h"

#include "runtime/tokenize/JinjaLexer.h"

#include <algorithm>

namespace tilewright::jinja {

void Runtime::fail(tw_status_code code, const std::string &message) const { failAt(code, line, message); }

void Runtime::failUndefined(const Undefined &value) const {
  fail(TW_INVALID, value.name ? "'" + *value.name + "' is undefined" : "a value is undefined");
}

void Runtime::charge(uint64_t steps) {
  spent = addWeights(spent, steps);
  if (spent > limits.steps)
    fail(TW_EXHAUSTED, "the template takes more than " + std::to_string(limits.steps) + " steps");
}

void Runtime::checkBytes(size_t bytes) const {
  if (bytes > limits.outputBytes)
    fail(TW_EXHAUSTED, "a string of " + std::to_string(bytes) + " bytes, at most " +
                           std::to_string(limits.outputBytes) + " are allowed");
}

const std::tm &Runtime::now() {
  if (!time)
    time = clock();
  return *time;
}

Value Runtime::text(Text text) {
  checkBytes(text.bytes.size());
  charge(1 + text.bytes.size() / 64);
  return Value(std::move(text));
}

Value Runtime::list(std::vector<Value> items) {
  charge(1 + items.size());
  List made;
  for (const Value &item : items) {
    made.depth = std::max(made.depth, nesting(item) + 1);
    made.weight = addWeights(made.weight, weight(item));
  }
  if (made.depth > limits.depth)
    fail(TW_EXHAUSTED, "lists nested more than " + std::to_string(limits.depth) + " deep");
  made.items = std::move(items);
  return Value(std::make_shared<const List>(std::move(made)));
}

Value Runtime::dict(std::vector<std::pair<Value, Value>> entries) {
  charge(1 + entries.size());
  Dict made;
  for (auto &[key, value] : entries) {
    if (!key.text() && !key.number() && !key.isNone())
      fail(TW_UNSUPPORTED, "a dict key of type " + typeName(key) + " is not supported");
    made.depth = std::max(made.depth, nesting(value) + 1);
    // Comparing dicts searches one for each key of the other.
    made.weight = addWeights(made.weight, addWeights(weight(key) + entries.size(), weight(value)));
    charge(1 + made.entries.size()); // the search below
    const auto same = std::find_if(made.entries.begin(), made.entries.end(),
                                   [&](const auto &entry) { return isEqual(entry.first, key); });
    if (same != made.entries.end())
      same->second = std::move(value);
    else
      made.entries.emplace_back(std::move(key), std::move(value));
  }
  if (made.depth > limits.depth)
    fail(TW_EXHAUSTED, "dicts nested more than " + std::to_string(limits.depth) + " deep");
  return Value(std::make_shared<const Dict>(std::move(made)));
}

Depth::Depth(Runtime &runtime, uint32_t &depth) : depth(depth) {
  if (depth / 2 >= runtime.limits.depth)
    runtime.fail(TW_EXHAUSTED,
                 "calls nested too deep: more than " + std::to_string(2 * runtime.limits.depth) + " levels");
  ++depth;
}

std::vector<const Value *> Arguments::bind(Runtime &runtime, const std::string &what,
                                           std::initializer_list<std::string_view> names, size_t required) const {
  std::vector<const Value *> bound(names.size(), nullptr);
  if (positional.size() > names.size())
    runtime.fail(TW_INVALID, what + " got " + std::to_string(positional.size()) + " arguments, takes at most " +
                                 std::to_string(names.size()));
  for (size_t i = 0; i < positional.size(); ++i)
    bound[i] = &positional[i];
  for (const auto &[name, value] : keywords) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      runtime.fail(TW_UNSUPPORTED, what + " has no argument '" + std::string(name) + "'");
    const Value *&slot = bound[static_cast<size_t>(found - names.begin())];
    if (slot)
      runtime.fail(TW_INVALID, what + " got its argument '" + std::string(name) + "' twice");
    slot = &value;
  }
  for (size_t i = 0; i < required; ++i)
    if (!bound[i])
      runtime.fail(TW_INVALID, what + " lacks its argument '" + std::string(names.begin()[i]) + "'");
  return bound;
}

Text toText(Runtime &runtime, const Value &value) {
  if (const Text *text = value.text())
    return *text;
  if (value.isUndefined())
    return {};
  if (value.isNone())
    return Text::ofTemplate("None");
  if (const auto *flag = value.get<bool>())
    return Text::ofTemplate(*flag ? "True" : "False");
  if (const auto *integer = value.get<int64_t>())
    return Text::ofTemplate(std::to_string(*integer));
  if (const auto *number = value.get<double>())
    return Text::ofTemplate(formatFloat(*number));
  runtime.fail(TW_UNSUPPORTED, "printing " + typeWithArticle(value) + " is not supported; use tojson or join");
}

const Text &needText(Runtime &runtime, const Value &value, const std::string &what) {
  if (const Text *text = value.text())
    return *text;
  if (const auto *undefined = value.get<Undefined>())
    runtime.failUndefined(*undefined);
  runtime.fail(TW_INVALID, what + " is " + typeWithArticle(value) + ", wanted a str");
}

int64_t needInteger(Runtime &runtime, const Value &value, const std::string &what) {
  if (const auto integer = value.integer())
    return *integer;
  runtime.fail(TW_INVALID, what + " is " + typeWithArticle(value) + ", wanted an int");
}

std::vector<Value> needItems(Runtime &runtime, const Value &value, const std::string &what) {
  std::vector<Value> items;
  if (const List *list = value.list()) {
    items = list->items;
  } else if (const Dict *dict = value.dict()) {
    for (const auto &[key, entry] : dict->entries)
      items.push_back(key);
  } else if (const Text *text = value.text()) {
    for (size_t at = 0; at < text->bytes.size();) {
      runtime.charge();
      const size_t end = codePointEnd(text->bytes, at);
      items.push_back(Value(text->slice(at, end)));
      at = end;
    }
  } else if (!value.isUndefined()) {
    runtime.fail(TW_INVALID, what + " is " + typeWithArticle(value) + ", wanted a list, dict or str");
  }
  runtime.charge(items.size());
  return items;
}

} // namespace tilewright::jinja
