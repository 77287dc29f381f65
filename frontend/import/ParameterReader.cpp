// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/ParameterReader.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <bit>
#include <cmath>

using namespace llvm;

namespace tilewright {

std::string keyOf(const Parameter &parameter, const ModelSource &source) {
  const std::vector<std::string> &keys = parameter.keys[source.kind()];
  if (auto present = find_if(keys, [&](const std::string &key) { return source.has(key); }); present != keys.end())
    return *present;
  // Of a form of settings that is there, that form's.
  auto hasTable = [&](StringRef key) {
    StringRef table = key.rsplit('.').first;
    return table != key && source.has(table) && !source.isNull(table);
  };
  if (auto near = find_if(keys, hasTable); near != keys.end())
    return *near;
  if (source.kind() == SourceKind::Gguf && !parameter.tensor.empty())
    return parameter.tensor;
  return !keys.empty() ? keys.front() : !parameter.countKey.empty() ? parameter.countKey : parameter.name;
}

static bool isSame(const Value &a, const Value &b) {
  return a.isNumber() && b.isNumber() ? a.asDouble() == b.asDouble() : a == b;
}

std::string describe(const Family &family, const Parameter &parameter, const ModelSource &source) {
  const std::optional<json::Value> &byDefault = parameter.byDefault[source.kind()];
  if (!parameter.keys[source.kind()].empty() || !byDefault || !byDefault->getAsString())
    return keyOf(parameter, source);
  StringRef text = *byDefault->getAsString();
  text.consume_front("=");
  std::string expression;
  SmallVector<std::string> keys;
  const char *copied = text.begin();
  for (StringRef name : namesIn(text)) {
    expression.append(copied, name.begin());
    copied = name.end();
    const Parameter *used = family.findParameter(name);
    const std::string shown = used ? describe(family, *used, source) : name.str();
    expression += shown;
    if (used && !is_contained(keys, shown))
      keys.push_back(shown);
  }
  expression.append(copied, text.end());
  if (keys.empty())
    return keyOf(parameter, source);
  return text.contains('?') ? join(keys, ", ") : expression;
}

/// As the user wrote it.
static std::string spellFound(const Parameter &parameter, const Value &value) {
  if (parameter.kind == ParameterKind::Bool)
    return value.isTrue() ? "true" : "false";
  return spell(value);
}

Error ParameterReader::fail(const Parameter &parameter, const Twine &found, const Twine &wanted) const {
  return badInput(source.place(keyOf(parameter, source)) + ": found " + found + ", wanted " + wanted);
}

Error ParameterReader::read(const Parameter &parameter) {
  Expected<Value> value = find(parameter);
  if (!value)
    return value.takeError();
  if (parameter.kind == ParameterKind::Float && value->isNumber())
    value = Value(value->asDouble());
  if (Error error = check(parameter, *value))
    return error;
  scope.set(parameter.name, std::move(*value));
  return Error::success();
}

Error ParameterReader::checkRead(const Family &family, const Parameter &parameter) const {
  ArrayRef<std::string> when = parameter.when[source.kind()];
  if (when.empty())
    return Error::success();
  const Parameter *decides = family.findParameter(when.front());
  if (!decides)
    return badInput("family " + quoted(family.name) + ": parameter " + quoted(parameter.name) +
                    ": found no parameter " + quoted(when.front()) + " that it is read beside");
  const Value &decided = *scope.find(decides->name), &value = *scope.find(parameter.name);
  when = when.drop_front();
  if (any_of(when, [&](const std::string &read) { return decided == Value(read); }))
    return Error::success();
  for (const std::optional<json::Value> &idle : {parameter.byDefault[source.kind()], parameter.neutral}) {
    if (!idle)
      continue;
    Expected<Value> without = defaultValue(parameter, idle);
    if (!without)
      return without.takeError();
    if (isSame(value, *without))
      return Error::success();
  }
  std::string kinds = join(map_range(when, [](const std::string &read) { return quoted(read); }), " or ");
  return fail(parameter, spellFound(parameter, value),
              "none: it is read where " + describe(family, *decides, source) + " is " + kinds + ", and that is " +
                  spell(decided));
}

Expected<Value> ParameterReader::numbersOf(const SourceTensor &tensor) const {
  constexpr int64_t most = 1 << 16;
  if (tensor.element != "f32" || tensor.shape.size() != 1 || tensor.shape[0] > most)
    return badInput(source.path() + ": tensor " + quoted(tensor.name) + ": found " + tensor.storage + " of " +
                    Twine(tensor.shape.size()) + " dimensions, wanted a row of at most " + Twine(most) + " F32");
  ArrayRef<uint8_t> bytes = source.bytes(tensor);
  ValueList numbers;
  for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float))
    numbers.emplace_back(static_cast<double>(std::bit_cast<float>(support::endian::read32le(bytes.data() + at))));
  return Value(std::move(numbers));
}

Expected<Value> ParameterReader::find(const Parameter &parameter) const {
  if (source.kind() == SourceKind::Gguf && !parameter.tensor.empty())
    if (const SourceTensor *tensor = source.findTensor(parameter.tensor))
      return numbersOf(*tensor);
  if (!parameter.countKey.empty() && source.kind() == SourceKind::Gguf) {
    Expected<int64_t> count = source.count(parameter.countKey);
    return count ? Expected<Value>(*count) : count.takeError();
  }
  std::optional<Value> found;
  std::string foundAt;
  bool isNull = false;
  for (const std::string &key : parameter.keys[source.kind()]) {
    if (!source.has(key))
      continue;
    if (source.isNull(key)) {
      isNull = true;
      continue;
    }
    Expected<Value> value = source.get(key, parameter.kind);
    if (!value)
      return value.takeError();
    if (found && *found != *value)
      return badInput(source.place(key) + ": found " + spellFound(parameter, *value) + ", but " + quoted(foundAt) +
                      " is " + spellFound(parameter, *found) + "; wanted one value");
    found = std::move(*value);
    foundAt = key;
  }
  if (found)
    return std::move(*found);
  return defaultValue(parameter,
                      isNull && parameter.whenNull ? parameter.whenNull : parameter.byDefault[source.kind()]);
}

Expected<Value> ParameterReader::defaultValue(const Parameter &parameter,
                                              const std::optional<json::Value> &json) const {
  std::string place = source.place(keyOf(parameter, source));
  if (!json)
    return badInput(place + ": not found, wanted " + spell(parameter.kind));
  std::optional<StringRef> text = json->getAsString();
  bool isExpression = text && (text->consume_front("=") || parameter.kind != ParameterKind::String);
  if (!isExpression)
    if (std::optional<Value> value = valueOf(*json))
      return std::move(*value);
  Expected<Value> value = evaluate(text.value_or(""), scope);
  if (!value)
    return badInput(place + ": not found, and its default has no value: " + toString(value.takeError()));
  return value;
}

/// "0 or 1: anything else ..."
static std::string allowedText(ArrayRef<json::Value> allowed) {
  std::string text;
  raw_string_ostream os(text);
  interleave(allowed, os, [&](const json::Value &value) { os << value; }, " or ");
  os << ": anything else is not supported by this family";
  return text;
}

Error ParameterReader::check(const Parameter &parameter, const Value &value) const {
  std::string found = spellFound(parameter, value);
  if (value.isNumber()) {
    double number = value.asDouble();
    auto limit = [&](double bound) {
      return spell(parameter.kind == ParameterKind::Int ? Value(static_cast<int64_t>(bound)) : Value(bound));
    };
    if (!std::isfinite(number))
      return fail(parameter, found, "a finite number");
    if (parameter.min && number < *parameter.min)
      return fail(parameter, found, "at least " + limit(*parameter.min));
    if (parameter.max && number > *parameter.max)
      return fail(parameter, found, "at most " + limit(*parameter.max));
    if (parameter.above && number <= *parameter.above)
      return fail(parameter, found, "more than " + limit(*parameter.above));
  }
  ArrayRef<json::Value> allowed = parameter.allowed[source.kind()];
  if (allowed.empty())
    return Error::success();
  auto isAllowed = [&](const Value &one) {
    return any_of(allowed, [&](const json::Value &each) {
      std::optional<Value> literal = valueOf(each);
      return literal && isSame(*literal, one);
    });
  };
  if (const ValueList *list = std::get_if<ValueList>(&value)) {
    for (const Value &element : *list)
      if (!isAllowed(element))
        return fail(parameter, spell(element) + " in it", allowedText(allowed));
    return Error::success();
  }
  return isAllowed(value) ? Error::success() : fail(parameter, found, allowedText(allowed));
}

} // namespace tilewright
