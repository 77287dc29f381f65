// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Types.h"
#include "frontend/import/tokenizer/JsonReader.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tilewright::tokenizer {

graph::TokenizerStepT &addStep(StepList &steps, StringRef name) {
  steps.push_back(std::make_unique<graph::TokenizerStepT>());
  steps.back()->name = name.str();
  return *steps.back();
}

Pattern readPattern(Fields &fields, Problems &problems) {
  Pattern pattern;
  const json::Object *object = fields.optionalObject("pattern");
  if (!object) {
    problems.bad(fields.place("pattern"), "wanted an object with 'String' or 'Regex'");
    return pattern;
  }
  Fields inner(*object, fields.place("pattern"), problems);
  std::optional<std::string> text = inner.optionalString("String"), regex = inner.optionalString("Regex");
  if (text.has_value() == regex.has_value() || (text ? *text : *regex).empty())
    problems.bad(inner.place(), "wanted either 'String' or 'Regex', not empty");
  pattern.regex = regex.has_value();
  pattern.text = regex ? *regex : text.value_or("");
  return pattern;
}

int32_t readPrependScheme(Fields &fields, Problems &problems) {
  fields.ignore("str_rep"); // the replacement once more
  std::optional<bool> prefix = fields.optionalBool("add_prefix_space");
  std::string scheme = fields.optionalString("prepend_scheme").value_or(prefix.value_or(true) ? "always" : "never");
  int32_t number = StringSwitch<int32_t>(scheme).Case("never", 0).Case("first", 1).Case("always", 2).Default(-1);
  if (number < 0)
    problems.unsupported(fields.place("prepend_scheme"), quoted(scheme) + " is not supported");
  return number;
}

void forEachPart(const json::Object &value, std::string place, StringRef key, Problems &problems,
                 function_ref<void(StringRef, Fields &)> part, unsigned depth) {
  Fields fields(value, place, problems);
  std::string type = fields.string("type");
  if (type != "Sequence")
    return part(type, fields);
  if (depth == 16)
    return problems.unsupported(place, "more than 16 sequences within one another");
  const json::Array *list = fields.array(key);
  for (size_t i = 0; list && i < list->size(); ++i) {
    std::string entry = fields.place(key) + "[" + std::to_string(i) + "]";
    if (const json::Object *object = (*list)[i].getAsObject())
      forEachPart(*object, entry, key, problems, part, depth + 1);
    else
      problems.bad(entry, "wanted an object");
  }
}

} // namespace tilewright::tokenizer
