// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/tokenizer/Fields.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tilewright::tokenizer {

/// More than these say nothing new.
static constexpr size_t kMostProblems = 20;

void Problems::bad(StringRef place, const Twine &message) {
  anyBad = true;
  unsupported(place, message);
}

void Problems::unsupported(StringRef place, const Twine &message) { list.push_back((place + ": " + message).str()); }

Error Problems::take() {
  if (list.empty())
    return Error::success();
  std::string text = file;
  if (list.size() == 1) {
    text += ": " + list.front();
  } else {
    for (const std::string &problem : ArrayRef(list).take_front(kMostProblems))
      text += "\n  " + problem;
    if (list.size() > kMostProblems)
      text += "\n  and " + std::to_string(list.size() - kMostProblems) + " more";
  }
  list.clear();
  return anyBad ? badInput(text) : tilewright::unsupported(text);
}

Fields::~Fields() {
  if (all)
    return;
  std::vector<std::string> unknown;
  for (const auto &[key, value] : object)
    if (!asked.contains(key))
      unknown.push_back(StringRef(key).str());
  llvm::sort(unknown);
  for (const std::string &key : unknown)
    problems.unsupported(where.empty() ? "top level" : where, "member " + quoted(key) + " is not understood");
}

const json::Value *Fields::any(StringRef key) {
  asked.insert(key);
  const json::Value *value = object.get(key);
  return value && value->kind() == json::Value::Null ? nullptr : value;
}

void Fields::wrongType(StringRef key, const json::Value &found, StringRef wanted) {
  constexpr StringRef names[] = {"null", "a bool", "a number", "a string", "a list", "an object"};
  problems.bad(place(key), "found " + names[static_cast<size_t>(found.kind())] + ", wanted " + wanted);
}

const json::Object *Fields::optionalObject(StringRef key) {
  const json::Value *value = any(key);
  if (value && !value->getAsObject())
    wrongType(key, *value, "an object");
  return value ? value->getAsObject() : nullptr;
}

const json::Array *Fields::optionalArray(StringRef key) {
  const json::Value *value = any(key);
  if (value && !value->getAsArray())
    wrongType(key, *value, "a list");
  return value ? value->getAsArray() : nullptr;
}

const json::Array *Fields::array(StringRef key) {
  if (!any(key))
    problems.bad(place(key), "not found, wanted a list");
  return optionalArray(key);
}

std::optional<std::string> Fields::optionalString(StringRef key) {
  const json::Value *value = any(key);
  if (!value)
    return std::nullopt;
  if (std::optional<StringRef> text = value->getAsString())
    return text->str();
  wrongType(key, *value, "a string");
  return std::nullopt;
}

std::string Fields::string(StringRef key) {
  if (!any(key))
    problems.bad(place(key), "not found, wanted a string");
  return optionalString(key).value_or("");
}

std::optional<bool> Fields::optionalBool(StringRef key) {
  const json::Value *value = any(key);
  if (value && !value->getAsBoolean())
    wrongType(key, *value, "a bool");
  return value ? value->getAsBoolean() : std::nullopt;
}

std::optional<int64_t> Fields::optionalInteger(StringRef key) {
  const json::Value *value = any(key);
  if (value && !value->getAsInteger())
    wrongType(key, *value, "an integer");
  return value ? value->getAsInteger() : std::nullopt;
}

} // namespace tilewright::tokenizer
