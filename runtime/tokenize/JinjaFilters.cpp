// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The filters of the template language: `value|name(...)`.
#include "runtime/tokenize/JinjaRuntime.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tilewright::jinja {

namespace {

/// One application of a filter.
struct Call {
  Runtime &runtime;
  const Value &value;
  const Arguments &arguments;
  std::string what;

  std::vector<const Value *> bind(std::initializer_list<std::string_view> names, size_t required = 0) const {
    return arguments.bind(runtime, what, names, required);
  }
  /// The operand as Python's str() gives it.
  Text operand() const { return toText(runtime, value); }
  std::vector<Value> items() const { return needItems(runtime, value, "the operand of " + what); }
  bool flag(const Value *given) const { return given && isTrue(*given); }
  int64_t integer(const Value *given, int64_t otherwise) const {
    return given ? needInteger(runtime, *given, "an argument of " + what) : otherwise;
  }
};

Value trim(const Call &call) {
  const Value *characters = call.bind({"chars"})[0];
  const Text text = call.operand();
  Extent rest = stripped(text.bytes);
  if (characters && !characters->isNone()) {
    const std::string &set = needText(call.runtime, *characters, "the argument of filter 'trim'").bytes;
    call.runtime.charge(text.bytes.size() * set.size() / 64);
    rest = stripped(text.bytes, set, true, true);
  }
  return call.runtime.text(text.slice(rest.begin, rest.end));
}

Value length(const Call &call) {
  call.bind({});
  if (const Text *text = call.value.text()) {
    call.runtime.charge(text->bytes.size() / 64);
    return Value(static_cast<int64_t>(countCodePoints(text->bytes)));
  }
  if (const List *list = call.value.list())
    return Value(static_cast<int64_t>(list->items.size()));
  if (const Dict *dict = call.value.dict())
    return Value(static_cast<int64_t>(dict->entries.size()));
  if (call.value.isUndefined())
    return Value(int64_t{0});
  call.runtime.fail(TW_INVALID, call.what + ": " + typeWithArticle(call.value) + " has no length");
}

template <Case wanted> Value caseFilter(const Call &call) {
  call.bind({});
  return call.runtime.text(changeCase(call.runtime, call.operand(), wanted, call.what));
}

Value defaultFilter(const Call &call) {
  const auto given = call.bind({"default_value", "boolean"});
  if (!call.value.isUndefined() && !(call.flag(given[1]) && !isTrue(call.value)))
    return call.value;
  return given[0] ? *given[0] : Value(Text());
}

/// The attribute of an item by a dotted path, as `attribute=` arguments name it.
Value attributeOf(Runtime &runtime, Value item, const Value &path) {
  if (path.integer())
    return subscript(runtime, item, path);
  const std::string &text = needText(runtime, path, "an attribute's name").bytes;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    int64_t index = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool isIndex = error == std::errc() && rest == part.data() + part.size();
    item = subscript(runtime, item, isIndex ? Value(index) : runtime.templateText(part));
    begin = end + 1;
  }
  return item;
}

Value join(const Call &call) {
  const auto given = call.bind({"d", "attribute"});
  auto items = call.items();
  if (given[1])
    for (Value &item : items)
      item = attributeOf(call.runtime, item, *given[1]);
  return call.runtime.text(joinAll(call.runtime, given[0] ? toText(call.runtime, *given[0]) : Text(), items));
}

template <bool last> Value endItem(const Call &call) {
  call.bind({});
  const auto items = call.items();
  if (items.empty())
    return Value::undefined(last ? "the last item of an empty sequence" : "the first item of an empty sequence");
  return last ? items.back() : items.front();
}

Value list(const Call &call) {
  call.bind({});
  return call.runtime.list(call.items());
}

Value string(const Call &call) {
  call.bind({});
  return call.runtime.text(call.operand());
}

Value integerFilter(const Call &call) {
  const auto given = call.bind({"default"});
  if (const auto integer = call.value.integer())
    return Value(*integer);
  if (const auto number = call.value.number(); number && std::abs(*number) < 9e18)
    return Value(static_cast<int64_t>(*number));
  if (const Text *text = call.value.text()) {
    const Extent rest = stripped(text->bytes);
    int64_t value = 0;
    const char *end = text->bytes.data() + rest.end;
    const auto [stop, error] = std::from_chars(text->bytes.data() + rest.begin, end, value);
    if (error == std::errc() && stop == end && rest.begin < rest.end)
      return Value(value);
  }
  return given[0] ? *given[0] : Value(int64_t{0});
}

Value replace(const Call &call) {
  const auto given = call.bind({"old", "new", "count"}, 2);
  const Value *count = given[2] && !given[2]->isNone() ? given[2] : nullptr;
  return call.runtime.text(replaceAll(call.runtime, call.operand(), toText(call.runtime, *given[0]),
                                      toText(call.runtime, *given[1]), call.integer(count, -1)));
}

Value tojson(const Call &call) {
  const auto given = call.bind({"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style{.ascii = call.flag(given[0]), .sortKeys = call.flag(given[3])};
  if (given[1] && !given[1]->isNone()) {
    style.itemSeparator = Text::ofTemplate(",");
    if (const Text *unit = given[1]->text()) {
      style.indent = *unit;
    } else {
      const int64_t spaces = std::max<int64_t>(call.integer(given[1], 0), 0);
      if (spaces > 1000)
        call.runtime.fail(TW_INVALID, call.what + ": indent is " + std::to_string(spaces) + ", wanted at most 1000");
      style.indent = Text::ofTemplate(std::string(static_cast<size_t>(spaces), ' '));
    }
  }
  if (given[2] && !given[2]->isNone()) {
    const auto separators = needItems(call.runtime, *given[2], "argument 'separators' of " + call.what);
    if (separators.size() != 2)
      call.runtime.fail(TW_INVALID, call.what + ": separators are " + std::to_string(separators.size()) +
                                        ", wanted 2: between items, and behind a key");
    style.itemSeparator = needText(call.runtime, separators[0], "a separator of " + call.what);
    style.keySeparator = needText(call.runtime, separators[1], "a separator of " + call.what);
  }
  return call.runtime.text(toJson(call.runtime, call.value, style));
}

Value reverse(const Call &call) {
  call.bind({});
  auto items = call.items();
  std::reverse(items.begin(), items.end());
  return call.value.text() ? call.runtime.text(joinAll(call.runtime, Text(), items))
                           : call.runtime.list(std::move(items));
}

Value itemsFilter(const Call &call) {
  call.bind({});
  if (call.value.isUndefined())
    return call.runtime.list({});
  if (!call.value.dict())
    call.runtime.fail(TW_INVALID, call.what + " wants a dict, got " + typeWithArticle(call.value));
  return callMethod(call.runtime, call.value, "items", {});
}

/// What `sort` and `unique` compare: strings without regard to case, unless asked.
Value sortKey(const Call &call, const Value &item, const Value *attribute, bool caseSensitive) {
  Value key = attribute ? attributeOf(call.runtime, item, *attribute) : item;
  if (!caseSensitive && key.text())
    return call.runtime.text(changeCase(call.runtime, *key.text(), Case::Lower, call.what));
  return key;
}

Value sortFilter(const Call &call) {
  const auto given = call.bind({"reverse", "case_sensitive", "attribute"});
  struct Keyed {
    Value key;
    Value item;
    size_t place; // equal keys keep their order
  };
  std::vector<Keyed> keyed;
  for (const Value &item : call.items())
    keyed.push_back({sortKey(call, item, given[2], call.flag(given[1])), item, keyed.size()});
  const std::string_view op = call.flag(given[0]) ? ">" : "<";
  // A heap stays within its bounds whatever the comparison says, and NaN says odd things.
  auto before = [&](const Keyed &a, const Keyed &b) {
    if (compare(call.runtime, op, a.key, b.key))
      return true;
    return !compare(call.runtime, op, b.key, a.key) && a.place < b.place;
  };
  std::make_heap(keyed.begin(), keyed.end(), before);
  std::sort_heap(keyed.begin(), keyed.end(), before);
  std::vector<Value> sorted;
  for (Keyed &entry : keyed)
    sorted.push_back(std::move(entry.item));
  return call.runtime.list(std::move(sorted));
}

Value dictsort(const Call &call) {
  const Value entries = itemsFilter(call);
  const Arguments byKey{{}, {{"attribute", Value(int64_t{0})}}};
  return applyFilter(call.runtime, "sort", entries, byKey);
}

Value unique(const Call &call) {
  const auto given = call.bind({"case_sensitive", "attribute"});
  std::vector<Value> keys, kept;
  for (const Value &item : call.items()) {
    Value key = sortKey(call, item, given[1], call.flag(given[0]));
    if (std::any_of(keys.begin(), keys.end(),
                    [&](const Value &other) { return compare(call.runtime, "==", key, other); }))
      continue;
    keys.push_back(std::move(key));
    kept.push_back(item);
  }
  return call.runtime.list(std::move(kept));
}

/// A filter or test named by the first of the remaining arguments, with the others as its own.
struct Named {
  std::string name;
  Arguments arguments;
};
Named named(const Call &call, size_t first) {
  Named result;
  result.name = needText(call.runtime, call.arguments.positional[first], "an argument of " + call.what).bytes;
  result.arguments.positional.assign(call.arguments.positional.begin() + first + 1, call.arguments.positional.end());
  result.arguments.keywords = call.arguments.keywords;
  return result;
}

Value map(const Call &call) {
  std::vector<Value> mapped;
  if (!call.arguments.positional.empty()) {
    const Named filter = named(call, 0);
    for (const Value &item : call.items())
      mapped.push_back(applyFilter(call.runtime, filter.name, item, filter.arguments));
    return call.runtime.list(std::move(mapped));
  }
  const auto given = call.bind({"attribute", "default"}, 1);
  for (const Value &item : call.items()) {
    Value found = attributeOf(call.runtime, item, *given[0]);
    mapped.push_back(found.isUndefined() && given[1] ? *given[1] : std::move(found));
  }
  return call.runtime.list(std::move(mapped));
}

template <bool byAttribute, bool wanted> Value choose(const Call &call) {
  const auto &positional = call.arguments.positional;
  if (byAttribute && positional.empty())
    call.runtime.fail(TW_INVALID, call.what + " lacks the attribute's name");
  std::vector<Value> kept;
  for (const Value &item : call.items()) {
    const Value subject = byAttribute ? attributeOf(call.runtime, item, positional[0]) : item;
    bool holds = false;
    if (positional.size() > byAttribute) {
      const Named test = named(call, byAttribute);
      holds = applyTest(call.runtime, test.name, subject, test.arguments);
    } else {
      holds = isTrue(subject);
    }
    if (holds == wanted)
      kept.push_back(item);
  }
  return call.runtime.list(std::move(kept));
}

Value indentFilter(const Call &call) {
  const auto given = call.bind({"width", "first", "blank"});
  Text margin;
  if (given[0] && given[0]->text()) {
    margin = *given[0]->text();
  } else {
    const int64_t width = std::max<int64_t>(call.integer(given[0], 4), 0);
    call.runtime.checkBytes(static_cast<size_t>(width));
    margin = Text::ofTemplate(std::string(static_cast<size_t>(width), ' '));
  }
  const Text &text = needText(call.runtime, call.value, "the operand of " + call.what);
  Text out;
  if (call.flag(given[1]))
    out.append(margin);
  for (size_t begin = 0; begin <= text.bytes.size();) {
    call.runtime.charge();
    const size_t end = std::min(text.bytes.find('\n', begin), text.bytes.size());
    // Blank lines stay as they are, unless asked.
    if (begin > 0 && (end > begin || call.flag(given[2])))
      out.append(margin);
    out.append(text, begin, std::min(end + 1, text.bytes.size()));
    call.runtime.checkBytes(out.bytes.size());
    begin = end + 1;
  }
  return call.runtime.text(std::move(out));
}

Value safe(const Call &call) {
  call.bind({});
  return call.value;
}

Value absolute(const Call &call) {
  call.bind({});
  return call.value.number() && *call.value.number() >= 0 ? call.value : negate(call.runtime, call.value);
}

template <bool largest> Value extreme(const Call &call) {
  call.bind({});
  const auto items = call.items();
  if (items.empty())
    return Value::undefined("the extreme of an empty sequence");
  const Value *best = &items.front();
  for (const Value &item : items)
    if (compare(call.runtime, largest ? ">" : "<", item, *best))
      best = &item;
  return *best;
}

constexpr std::pair<std::string_view, Value (*)(const Call &)> kFilters[] = {
    {"abs", absolute},
    {"capitalize", caseFilter<Case::Capital>},
    {"count", length},
    {"d", defaultFilter},
    {"default", defaultFilter},
    {"dictsort", dictsort},
    {"first", endItem<false>},
    {"indent", indentFilter},
    {"int", integerFilter},
    {"items", itemsFilter},
    {"join", join},
    {"last", endItem<true>},
    {"length", length},
    {"list", list},
    {"lower", caseFilter<Case::Lower>},
    {"map", map},
    {"max", extreme<true>},
    {"min", extreme<false>},
    {"reject", choose<false, false>},
    {"rejectattr", choose<true, false>},
    {"replace", replace},
    {"reverse", reverse},
    {"safe", safe},
    {"select", choose<false, true>},
    {"selectattr", choose<true, true>},
    {"sort", sortFilter},
    {"string", string},
    {"tojson", tojson},
    {"trim", trim},
    {"unique", unique},
    {"upper", caseFilter<Case::Upper>},
};

} // namespace

Value applyFilter(Runtime &runtime, std::string_view name, const Value &value, const Arguments &arguments) {
  runtime.charge();
  for (const auto &[known, filter] : kFilters)
    if (known == name)
      return filter(Call{runtime, value, arguments, "filter '" + std::string(name) + "'"});
  runtime.fail(TW_UNSUPPORTED, "filter '" + std::string(name) + "' is not supported");
}

} // namespace tilewright::jinja
