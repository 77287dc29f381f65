// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of the template language: the kinds of Python values that chat templates use. All but namespaces and loop
// states are immutable, and lists nest to a limited depth, so that no value needs deep recursion.
#pragma once

#include "runtime/tokenize/JinjaText.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright::jinja {

struct List;
struct Dict;
struct Namespace;
struct LoopState;
struct MacroNode;

/// A variable or entry that is not there; `name` is for messages.
struct Undefined {
  std::shared_ptr<const std::string> name;
};
struct None {};
/// A built-in function such as range.
struct Function {
  std::string_view name;
};

using TextRef = std::shared_ptr<const Text>;
using ListRef = std::shared_ptr<const List>;
using DictRef = std::shared_ptr<const Dict>;
using NamespaceRef = std::shared_ptr<Namespace>;
using LoopRef = std::shared_ptr<LoopState>;

struct Value {
  std::variant<Undefined, None, bool, int64_t, double, TextRef, ListRef, DictRef, NamespaceRef, LoopRef,
               const MacroNode *, Function>
      kind;

  Value() = default;
  template <typename T> Value(T value) : kind(std::move(value)) {}
  Value(Text text) : kind(std::make_shared<const Text>(std::move(text))) {}
  Value(const char *) = delete;
  static Value undefined(std::string_view name) { return Undefined{std::make_shared<const std::string>(name)}; }

  template <typename T> const T *get() const { return std::get_if<T>(&kind); }
  const Text *text() const { return get<TextRef>() ? get<TextRef>()->get() : nullptr; }
  const List *list() const { return get<ListRef>() ? get<ListRef>()->get() : nullptr; }
  const Dict *dict() const { return get<DictRef>() ? get<DictRef>()->get() : nullptr; }
  bool isUndefined() const { return get<Undefined>() != nullptr; }
  bool isNone() const { return get<None>() != nullptr; }
  /// An int or, as in Python, a bool.
  std::optional<int64_t> integer() const;
  /// An int, bool or float.
  std::optional<double> number() const;
};

/// A list or a tuple.
struct List {
  std::vector<Value> items;
  uint32_t depth = 1;
  uint64_t weight = 1;
};

/// Entries in the order they were put in; keys are distinct.
struct Dict {
  std::vector<std::pair<Value, Value>> entries;
  uint32_t depth = 1;
  uint64_t weight = 1;

  const Value *find(const Value &key) const;
  const Value *find(std::string_view key) const;
};

/// What namespace() makes: the one thing whose attributes can be set from inside a loop.
struct Namespace {
  std::vector<std::pair<std::string, Value>> attributes;

  const Value *find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

/// The variable `loop` of one for statement.
struct LoopState {
  ListRef items;
  size_t index = 0;
  int64_t depth = 1;                ///< of loops around, this one included
  std::optional<Value> lastChanged; ///< what loop.changed() saw last
};

/// How Python names a value's type ("str", "list"), for messages.
std::string typeName(const Value &value);
/// "a str", "an int", "None".
std::string typeWithArticle(const Value &value);
/// Python's bool(value).
bool isTrue(const Value &value);
/// Python's ==.
bool isEqual(const Value &a, const Value &b);
/// How deep lists, dicts and loops nest in a value: 0 for all others.
uint32_t nesting(const Value &value);
/// What walking through a value costs in steps, counting a shared part as often as it is met; saturates.
uint64_t weight(const Value &value);
/// a + b, or the largest number.
uint64_t addWeights(uint64_t a, uint64_t b);
/// Python's str() of a float.
std::string formatFloat(double value);

} // namespace tilewright::jinja
