// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/JinjaValue.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tilewright::jinja {

namespace {

template <typename... Ts> struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts> Overloaded(Ts...) -> Overloaded<Ts...>;

} // namespace

std::optional<int64_t> Value::integer() const {
  if (const auto *value = get<int64_t>())
    return *value;
  if (const auto *value = get<bool>())
    return *value;
  return std::nullopt;
}

std::optional<double> Value::number() const {
  if (const auto *value = get<double>())
    return *value;
  if (const auto value = integer())
    return static_cast<double>(*value);
  return std::nullopt;
}

const Value *Dict::find(const Value &key) const {
  for (const auto &[name, value] : entries)
    if (isEqual(name, key))
      return &value;
  return nullptr;
}

const Value *Dict::find(std::string_view key) const {
  for (const auto &[name, value] : entries)
    if (const Text *text = name.text(); text && text->bytes == key)
      return &value;
  return nullptr;
}

const Value *Namespace::find(std::string_view name) const {
  for (const auto &[attribute, value] : attributes)
    if (attribute == name)
      return &value;
  return nullptr;
}

void Namespace::set(std::string_view name, Value value) {
  for (auto &[attribute, old] : attributes)
    if (attribute == name) {
      old = std::move(value);
      return;
    }
  attributes.emplace_back(name, std::move(value));
}

std::string typeName(const Value &value) {
  return std::visit(Overloaded{[](const Undefined &) { return "undefined"; }, [](const None &) { return "None"; },
                               [](bool) { return "bool"; }, [](int64_t) { return "int"; },
                               [](double) { return "float"; }, [](const TextRef &) { return "str"; },
                               [](const ListRef &) { return "list"; }, [](const DictRef &) { return "dict"; },
                               [](const NamespaceRef &) { return "namespace"; }, [](const LoopRef &) { return "loop"; },
                               [](const MacroNode *) { return "macro"; }, [](const Function &) { return "function"; }},
                    value.kind);
}

std::string typeWithArticle(const Value &value) {
  const std::string name = typeName(value);
  if (value.isNone() || value.isUndefined())
    return name;
  return (value.get<int64_t>() ? "an " : "a ") + name;
}

bool isTrue(const Value &value) {
  if (const Text *text = value.text())
    return !text->bytes.empty();
  if (const List *list = value.list())
    return !list->items.empty();
  if (const Dict *dict = value.dict())
    return !dict->entries.empty();
  if (const auto number = value.number())
    return *number != 0;
  return !value.isUndefined() && !value.isNone();
}

bool isEqual(const Value &a, const Value &b) {
  if (const Text *left = a.text())
    return b.text() && left->bytes == b.text()->bytes;
  if (const List *left = a.list())
    return b.list() &&
           std::equal(left->items.begin(), left->items.end(), b.list()->items.begin(), b.list()->items.end(), isEqual);
  if (const Dict *left = a.dict())
    return b.dict() && left->entries.size() == b.dict()->entries.size() &&
           std::all_of(left->entries.begin(), left->entries.end(), [&](const auto &entry) {
             const Value *other = b.dict()->find(entry.first);
             return other && isEqual(entry.second, *other);
           });
  if (a.integer() && b.integer())
    return *a.integer() == *b.integer();
  if (a.number())
    return b.number() && *a.number() == *b.number();
  if (const auto *left = a.get<NamespaceRef>())
    return b.get<NamespaceRef>() && *left == *b.get<NamespaceRef>();
  if (const auto *left = a.get<LoopRef>())
    return b.get<LoopRef>() && *left == *b.get<LoopRef>();
  if (const auto *left = a.get<const MacroNode *>())
    return b.get<const MacroNode *>() && *left == *b.get<const MacroNode *>();
  if (const auto *left = a.get<Function>())
    return b.get<Function>() && left->name == b.get<Function>()->name;
  return a.kind.index() == b.kind.index();
}

uint32_t nesting(const Value &value) {
  if (const List *list = value.list())
    return list->depth;
  if (const Dict *dict = value.dict())
    return dict->depth;
  if (const auto *loop = value.get<LoopRef>())
    return (*loop)->items->depth;
  return 0;
}

uint64_t addWeights(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

uint64_t weight(const Value &value) {
  if (const Text *text = value.text())
    return 1 + text->bytes.size() / 64;
  if (const List *list = value.list())
    return list->weight;
  if (const Dict *dict = value.dict())
    return dict->weight;
  return 1;
}

std::string formatFloat(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  // The shortest digits that read back as the same number; Python writes an exponent below -4 and from 16 on.
  char buffer[64];
  const std::string scientific(buffer,
                               std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific).ptr);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (exponent < -4 || exponent >= 16)
    return scientific;
  std::string fixed(buffer, std::to_chars(buffer, std::end(buffer), value, std::chars_format::fixed).ptr);
  return fixed.find('.') == std::string::npos ? fixed + ".0" : fixed;
}

} // namespace tilewright::jinja
