// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tilewright {

GoldenCase::GoldenCase(ImplicitLocOpBuilder &builder, StringRef name, llvm::json::Object attributes, Types inputs,
                       Types outputs)
    : b(builder), caseName(name), attributes(std::move(attributes)), inputTypes(std::move(inputs)),
      outputTypes(std::move(outputs)) {}

void GoldenCase::unsupported(const llvm::Twine &why) {
  if (!reason)
    reason = why.str();
}

const llvm::json::Value *GoldenCase::attribute(StringRef key) {
  asked.insert(key);
  const llvm::json::Value *value = attributes.get(key);
  return value && value->kind() != llvm::json::Value::Null ? value : nullptr;
}

template <typename T>
T GoldenCase::attributeAs(StringRef key, std::optional<T> fallback, StringRef wanted,
                          llvm::function_ref<std::optional<T>(const llvm::json::Value &)> read) {
  const llvm::json::Value *value = attribute(key);
  std::optional<T> found = value ? read(*value) : fallback;
  if (!found && value)
    unsupported(llvm::formatv("attribute {0} = {1}, wanted {2}", key, *value, wanted).str());
  else if (!found)
    unsupported(llvm::formatv("attribute {0} is missing, wanted {1}", key, wanted).str());
  return found.value_or(T());
}

bool GoldenCase::has(StringRef key) { return attribute(key); }

double GoldenCase::number(StringRef key, std::optional<double> fallback) {
  return attributeAs<double>(key, fallback, "a number", [](auto &value) { return value.getAsNumber(); });
}

int64_t GoldenCase::integer(StringRef key, std::optional<int64_t> fallback) {
  return attributeAs<int64_t>(key, fallback, "a whole number", [](auto &value) { return value.getAsInteger(); });
}

bool GoldenCase::flag(StringRef key, std::optional<bool> fallback) {
  return attributeAs<bool>(key, fallback, "true or false", [](auto &value) { return value.getAsBoolean(); });
}

std::vector<double> GoldenCase::numbers(StringRef key) {
  using Numbers = std::vector<double>;
  return attributeAs<Numbers>(key, std::nullopt, "a list of numbers", [](auto &value) -> std::optional<Numbers> {
    Numbers found;
    const llvm::json::Array *array = value.getAsArray();
    for (size_t i = 0; array && i < array->size(); ++i)
      if (std::optional<double> element = (*array)[i].getAsNumber())
        found.push_back(*element);
    return array && found.size() == array->size() ? std::optional(found) : std::nullopt;
  });
}

std::string GoldenCase::oneOf(StringRef key, ArrayRef<StringRef> choices, std::optional<StringRef> fallback) {
  std::optional<std::string> otherwise = fallback ? std::optional(fallback->str()) : std::nullopt;
  return attributeAs<std::string>(key, otherwise, llvm::join(choices, " or "),
                                  [&](auto &value) -> std::optional<std::string> {
                                    std::optional<StringRef> text = value.getAsString();
                                    if (!text || !llvm::is_contained(choices, *text))
                                      return std::nullopt;
                                    return text->str();
                                  });
}

void GoldenCase::ignore(ArrayRef<StringRef> keys) {
  for (StringRef key : keys)
    asked.insert(key);
}

bool GoldenCase::inputs(ArrayRef<Input> required, ArrayRef<Input> optional) {
  for (const auto &[key, value] : attributes)
    if (!asked.contains(StringRef(key)))
      unsupported(llvm::formatv("attribute {0} = {1}", StringRef(key), value).str());
  SmallVector<Input> known(required);
  known.append(optional.begin(), optional.end());
  for (const auto &[name, type] : inputTypes) {
    const Input *input = llvm::find_if(known, [&](const Input &input) { return input.name == name; });
    if (input == known.end())
      unsupported("input " + name);
    else if (input->rank && *input->rank != type.getRank())
      unsupported(llvm::formatv("input {0} has rank {1}, wanted {2}", name, type.getRank(), *input->rank).str());
  }
  for (const Input &input : required)
    if (llvm::none_of(inputTypes, [&](const auto &entry) { return entry.first == input.name; }))
      unsupported("input " + input.name + " is missing");
  if (reason)
    return false;

  SmallVector<Type> types = llvm::map_to_vector(inputTypes, [](const auto &entry) -> Type { return entry.second; });
  main = func::FuncOp::create(b, "main", b.getFunctionType(types, {}));
  Block *block = main.addEntryBlock();
  b.setInsertionPointToStart(block);
  for (auto [entry, argument] : llvm::zip_equal(inputTypes, block->getArguments())) {
    argumentNames.push_back(entry.first);
    values[entry.first] = argument;
  }
  return true;
}

RankedTensorType GoldenCase::outputType(StringRef output) const {
  for (const auto &[name, type] : outputTypes)
    if (name == output)
      return type;
  return {};
}

void GoldenCase::output(StringRef name, Value value) { given[name] = value; }

func::FuncOp GoldenCase::finish() {
  SmallVector<Value> operands;
  for (const auto &[name, type] : outputTypes) {
    Value value = given.lookup(name);
    if (!value) {
      unsupported("output " + name);
      continue;
    }
    if (cast<RankedTensorType>(value.getType()).getShape() != type.getShape())
      unsupported(llvm::formatv("output {0} is built as {1}, wanted {2}", name, value.getType(), Type(type)).str());
    operands.push_back(value);
    resultNames.push_back(name);
  }
  if (!main || reason)
    return {};
  func::ReturnOp::create(b, operands);
  main.setFunctionType(b.getFunctionType(main.getArgumentTypes(), ValueRange(operands).getTypes()));
  return main;
}

void GoldenRegistry::add(StringRef technique, GoldenBuilder builder) {
  if (!builders.try_emplace(technique, std::move(builder)).second)
    twice.push_back(technique.str());
}

const GoldenBuilder *GoldenRegistry::find(StringRef technique) const {
  auto found = builders.find(technique);
  return found == builders.end() ? nullptr : &found->second;
}

} // namespace tilewright
