// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/Forms.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tilewright {

namespace {

StringRef nameOf(const json::Value &entry) {
  const json::Object *object = entry.getAsObject();
  return object ? object->getString("name").value_or("") : "";
}

void overlay(json::Object &under, json::Object over);

/// Entries of `over` replace those of an equal name, where they stand; others follow.
void overlay(json::Array &under, json::Array over) {
  for (json::Value &entry : over) {
    StringRef name = nameOf(entry);
    auto same = find_if(under, [&](const json::Value &e) { return !name.empty() && nameOf(e) == name; });
    if (same == under.end())
      under.push_back(std::move(entry));
    else
      *same = std::move(entry);
  }
}

void overlay(json::Object &under, json::Object over) {
  for (auto &[key, value] : over) {
    json::Value *present = under.get(key);
    if (!present)
      under.insert({key, std::move(value)});
    else if (present->getAsObject() && value.getAsObject())
      overlay(*present->getAsObject(), std::move(*value.getAsObject()));
    else if (present->getAsArray() && value.getAsArray())
      overlay(*present->getAsArray(), std::move(*value.getAsArray()));
    else
      *present = std::move(value);
  }
}

/// Takes the macros of `from` out of it, over those of an equal name.
void moveMacros(json::Object &into, json::Object &from) {
  if (json::Object *macros = from.getObject("macros"))
    for (auto &[name, body] : *macros)
      into[name] = std::move(body);
  from.erase("macros");
}

class Macros {
public:
  Macros(const json::Object &macros, StringRef file) : macros(macros), file(file) {}

  /// Replaces each {"macro": ...} of a list of ops by that macro's ops.
  Error expand(json::Array &ops) {
    auto leave = scope_exit([&] { --depth; });
    if (++depth > maxDepth)
      return badInput(file + ": macros use one another deeper than " + Twine(maxDepth));
    json::Array out;
    for (json::Value &op : ops) {
      json::Object *object = op.getAsObject();
      std::optional<StringRef> name = object ? object->getString("macro") : std::nullopt;
      if (!name) {
        if (json::Array *inner = object ? object->getArray("each_layer") : nullptr)
          if (Error error = expand(*inner))
            return error;
        out.push_back(std::move(op));
        continue;
      }
      const json::Array *body = macros.getArray(*name);
      if (!body)
        return badInput(file + ": unknown macro " + quoted(*name));
      json::Value copy = json::Array(*body);
      if (Error error = substitute(copy, *object))
        return error;
      if (Error error = expand(*copy.getAsArray()))
        return error;
      for (json::Value &made : *copy.getAsArray()) {
        if (json::Object *madeOp = made.getAsObject())
          addCondition(*madeOp, object->getString("if"));
        out.push_back(std::move(made));
      }
    }
    ops = std::move(out);
    return Error::success();
  }

private:
  static constexpr int maxDepth = 8;

  static void addCondition(json::Object &op, std::optional<StringRef> condition) {
    if (!condition)
      return;
    std::optional<StringRef> own = op.getString("if");
    std::string both = own ? ("(" + *condition + ") && (" + *own + ")").str() : condition->str();
    op["if"] = std::move(both);
  }

  /// Replaces $key in all strings by the entry `key` of `values`.
  Error substitute(json::Value &value, const json::Object &values) const {
    if (std::optional<StringRef> text = value.getAsString()) {
      std::string out;
      StringRef rest = *text;
      for (size_t at; (at = rest.find('$')) != StringRef::npos;) {
        out += rest.take_front(at);
        rest = rest.drop_front(at + 1);
        StringRef key = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
        std::optional<StringRef> given = values.getString(key);
        if (!given)
          return badInput(file + ": macro " + quoted(*values.getString("macro")) + ": wanted " + quoted(key));
        out += *given;
        rest = rest.drop_front(key.size());
      }
      value = out + rest.str();
      return Error::success();
    }
    if (json::Array *array = value.getAsArray())
      for (json::Value &element : *array)
        if (Error error = substitute(element, values))
          return error;
    if (json::Object *object = value.getAsObject())
      for (auto &[key, entry] : *object)
        if (Error error = substitute(entry, values))
          return error;
    return Error::success();
  }

  const json::Object &macros;
  StringRef file;
  int depth = 0;
};

Expected<json::Value> parseText(StringRef text, const Twine &file) {
  Expected<json::Value> document = json::parse(text);
  if (!document)
    return badInput(file + ": " + toString(document.takeError()));
  return document;
}

} // namespace

Expected<json::Value> mergeForms(StringRef text, StringRef file, const StringMap<std::string> &forms) {
  Expected<json::Value> document = parseText(text, file);
  json::Object *family = document ? document->getAsObject() : nullptr;
  if (!family)
    return document;
  json::Object merged, macros;
  const json::Array none, *names = family->getArray("forms");
  for (const json::Value &entry : names ? *names : none) {
    StringRef name = entry.getAsString().value_or("");
    auto form = forms.find(name);
    if (form == forms.end())
      return badInput(file + ": unknown form " + quoted(name));
    Expected<json::Value> content = parseText(form->second, "forms/" + name + ".json");
    if (!content)
      return content.takeError();
    if (json::Object *object = content->getAsObject()) {
      moveMacros(macros, *object);
      overlay(merged, std::move(*object));
    }
  }
  moveMacros(macros, *family);
  overlay(merged, std::move(*family));
  Macros expander(macros, file);
  if (json::Array *functions = merged.getArray("functions"))
    for (json::Value &function : *functions)
      if (json::Array *body = function.getAsObject() ? function.getAsObject()->getArray("body") : nullptr)
        if (Error error = expander.expand(*body))
          return error;
  return json::Value(std::move(merged));
}

} // namespace tilewright
