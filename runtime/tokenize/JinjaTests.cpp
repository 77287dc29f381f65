// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tests of the template language: `value is name`.
#include "runtime/tokenize/JinjaRuntime.h"

namespace tilewright::jinja {

bool applyTest(Runtime &runtime, std::string_view name, const Value &value, const Arguments &arguments) {
  const std::string what = "test '" + std::string(name) + "'";
  auto other = [&]() -> const Value & { return *arguments.bind(runtime, what, {"other"}, 1)[0]; };
  auto plain = [&](bool result) {
    arguments.bind(runtime, what, {});
    return result;
  };
  auto integer = [&](const Value &operand) { return needInteger(runtime, operand, "an operand of " + what); };

  if (name == "defined")
    return plain(!value.isUndefined());
  if (name == "undefined")
    return plain(value.isUndefined());
  if (name == "none")
    return plain(value.isNone());
  if (name == "true" || name == "false")
    return plain(value.get<bool>() && *value.get<bool>() == (name == "true"));
  if (name == "boolean")
    return plain(value.get<bool>());
  if (name == "integer")
    return plain(value.get<int64_t>());
  if (name == "float")
    return plain(value.get<double>());
  if (name == "number")
    return plain(value.number().has_value());
  if (name == "string")
    return plain(value.text());
  if (name == "mapping")
    return plain(value.dict());
  if (name == "iterable" || name == "sequence")
    return plain(value.text() || value.list() || value.dict() || value.isUndefined());
  if (name == "callable")
    return plain(value.get<Function>() || value.get<const MacroNode *>());
  if (name == "odd" || name == "even")
    return plain((integer(value) % 2 != 0) == (name == "odd"));
  if (name == "divisibleby") {
    const int64_t divisor = integer(other());
    if (divisor == 0)
      runtime.fail(TW_INVALID, what + " got 0");
    return divisor == -1 || integer(value) % divisor == 0;
  }
  if (name == "in")
    return compare(runtime, "in", value, other());
  static constexpr std::pair<std::string_view, std::string_view> comparisons[] = {
      {"==", "=="}, {"eq", "=="}, {"equalto", "=="},    {"!=", "!="}, {"ne", "!="},
      {"<", "<"},   {"lt", "<"},  {"lessthan", "<"},    {"<=", "<="}, {"le", "<="},
      {">", ">"},   {"gt", ">"},  {"greaterthan", ">"}, {">=", ">="}, {"ge", ">="}};
  for (const auto &[alias, op] : comparisons)
    if (alias == name)
      return compare(runtime, op, value, other());
  runtime.fail(TW_UNSUPPORTED, what + " is not supported");
}

} // namespace tilewright::jinja
