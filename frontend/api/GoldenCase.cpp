// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"

#include "ir/tw/Shapes.h"

#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace tilewright {

void GoldenFacts::unsupported(const llvm::Twine &why) {
  if (!reason)
    reason = why.str();
}

void GoldenFacts::wrong(const llvm::Twine &why) {
  if (!fault)
    fault = why.str();
}

static RankedTensorType typeOf(const GoldenFacts::Types &types, StringRef name) {
  for (const auto &[other, type] : types)
    if (other == name)
      return type;
  return {};
}

RankedTensorType GoldenFacts::explanationType(StringRef name) const { return typeOf(contents.explanations, name); }

const GoldenTensor *GoldenFacts::stored(StringRef input) const {
  auto found = contents.values.find(input);
  return found == contents.values.end() ? nullptr : &found->second;
}

ArrayRef<int64_t> GoldenFacts::sizes(StringRef input) const {
  RankedTensorType type = typeOf(contents.inputs, input);
  return type ? type.getShape() : ArrayRef<int64_t>();
}

bool GoldenFacts::holds(StringRef input, bool isFloat, ArrayRef<int64_t> wanted) {
  RankedTensorType type = typeOf(contents.inputs, input);
  if (type && isa<FloatType>(type.getElementType()) == isFloat &&
      succeeded(verifyCompatibleShape(type.getShape(), wanted)))
    return true;
  constexpr StringLiteral kinds[] = {"integers", "floats"};
  if (type)
    unsupported(llvm::formatv("input {0} holds {1} {2}, wanted {3} {4}", input, tw::shapeText(type.getShape()),
                              kinds[isa<FloatType>(type.getElementType())], tw::shapeText(wanted), kinds[isFloat])
                    .str());
  else
    unsupported("input " + input + " is missing");
  return false;
}

double GoldenFacts::defaultScale(int64_t width) {
  if (width == 0)
    unsupported("the head dimension D is 0, of which no scale 1/sqrt(D) can be made");
  return 1 / std::sqrt(static_cast<double>(width));
}

const llvm::json::Value *GoldenFacts::attribute(StringRef key) {
  asked.insert(key);
  const llvm::json::Object *object = &contents.attributes;
  for (size_t dot; object && (dot = key.find('.')) != StringRef::npos; key = key.substr(dot + 1))
    object = object->getObject(key.take_front(dot));
  const llvm::json::Value *value = object ? object->get(key) : nullptr;
  return value && value->kind() != llvm::json::Value::Null ? value : nullptr;
}

template <typename T>
T GoldenFacts::attributeAs(StringRef key, std::optional<T> fallback, StringRef wanted,
                           llvm::function_ref<std::optional<T>(const llvm::json::Value &)> read) {
  const llvm::json::Value *value = attribute(key);
  std::optional<T> found = value ? read(*value) : fallback;
  if (!found && value)
    unsupported(llvm::formatv("attribute {0} = {1}, wanted {2}", key, *value, wanted).str());
  else if (!found)
    unsupported(llvm::formatv("attribute {0} is missing, wanted {1}", key, wanted).str());
  return found.value_or(T());
}

bool GoldenFacts::has(StringRef key) { return attribute(key); }

double GoldenFacts::number(StringRef key, std::optional<double> fallback) {
  return attributeAs<double>(key, fallback, "a number", [](auto &value) { return value.getAsNumber(); });
}

int64_t GoldenFacts::integer(StringRef key, std::optional<int64_t> fallback) {
  return attributeAs<int64_t>(key, fallback, "a whole number", [](auto &value) { return value.getAsInteger(); });
}

int64_t GoldenFacts::count(StringRef key, int64_t least, std::optional<int64_t> fallback, int64_t most) {
  return attributeAs<int64_t>(key, fallback, llvm::formatv("a whole number from {0} to {1}", least, most).str(),
                              [&](auto &value) {
                                std::optional<int64_t> number = value.getAsInteger();
                                return number && *number >= least && *number <= most ? number : std::nullopt;
                              });
}

bool GoldenFacts::flag(StringRef key, std::optional<bool> fallback) {
  return attributeAs<bool>(key, fallback, "true or false", [](auto &value) { return value.getAsBoolean(); });
}

std::vector<double> GoldenFacts::numbers(StringRef key) {
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

std::string GoldenFacts::oneOf(StringRef key, ArrayRef<StringRef> choices, std::optional<StringRef> fallback) {
  std::optional<std::string> otherwise = fallback ? std::optional(fallback->str()) : std::nullopt;
  return attributeAs<std::string>(key, otherwise, llvm::join(choices, " or "),
                                  [&](auto &value) -> std::optional<std::string> {
                                    std::optional<StringRef> text = value.getAsString();
                                    if (!text || !llvm::is_contained(choices, *text))
                                      return std::nullopt;
                                    return text->str();
                                  });
}

void GoldenFacts::ignore(ArrayRef<StringRef> keys) {
  for (StringRef key : keys)
    asked.insert(key);
}

void GoldenFacts::checkAsked(const llvm::json::Object &object, StringRef name) {
  for (const auto &[key, value] : object) {
    std::string full = (name + StringRef(key)).str();
    if (value.kind() == llvm::json::Value::Null || asked.contains(full))
      continue;
    if (const llvm::json::Object *members = value.getAsObject(); members && !members->empty())
      checkAsked(*members, full + ".");
    else
      unsupported(llvm::formatv("attribute {0} = {1}", full, value).str());
  }
}

bool GoldenFacts::understood(ArrayRef<Input> required, ArrayRef<Input> optional) {
  checkAsked(contents.attributes, "");
  SmallVector<Input> known(required);
  known.append(optional.begin(), optional.end());
  for (const auto &[name, type] : contents.inputs) {
    const Input *input = llvm::find_if(known, [&](const Input &input) { return input.name == name; });
    if (input == known.end())
      unsupported("input " + name);
    else if (input->rank && *input->rank != type.getRank())
      unsupported(llvm::formatv("input {0} has rank {1}, wanted {2}", name, type.getRank(), *input->rank).str());
  }
  for (const Input &input : required)
    if (llvm::none_of(contents.inputs, [&](const auto &entry) { return entry.first == input.name; }))
      unsupported("input " + input.name + " is missing");
  return !reason;
}

bool GoldenCase::inputs(ArrayRef<Input> required, ArrayRef<Input> optional) {
  if (!understood(required, optional))
    return false;
  auto isStored = [&](StringRef name) {
    auto named = [&](const Input &input) { return input.name == name && input.isStored; };
    return llvm::any_of(required, named) || llvm::any_of(optional, named);
  };
  SmallVector<Type> types;
  for (const auto &[name, type] : contents.inputs)
    if (!isStored(name)) {
      argumentNames.push_back(name);
      types.push_back(type);
    }
  main = func::FuncOp::create(b, "main", b.getFunctionType(types, {}));
  Block *block = main.addEntryBlock();
  b.setInsertionPointToStart(block);
  for (auto [name, argument] : llvm::zip_equal(argumentNames, block->getArguments()))
    values[name] = argument;
  return true;
}

Value GoldenCase::weight(StringRef name, RankedTensorType type, std::vector<uint8_t> bytes) {
  weights[name] = std::move(bytes);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(main);
    ml_program::GlobalOp::create(b, name, type, /*is_mutable=*/false, ml_program::ExternAttr::get(b.getContext(), type),
                                 b.getStringAttr("private"));
  }
  return ml_program::GlobalLoadConstOp::create(b, type, SymbolRefAttr::get(b.getContext(), name));
}

const std::vector<uint8_t> *GoldenCase::weightBytes(StringRef name) const {
  auto found = weights.find(name);
  return found == weights.end() ? nullptr : &found->second;
}

RankedTensorType GoldenCase::outputType(StringRef output) const { return typeOf(contents.outputs, output); }

void GoldenCase::output(StringRef name, Value value) { given[name].push_back(value); }

func::FuncOp GoldenCase::finish() {
  SmallVector<Value> operands;
  for (const auto &[name, type] : contents.outputs) {
    if (!given.contains(name))
      unsupported("output " + name);
    for (Value value : given[name]) {
      if (cast<RankedTensorType>(value.getType()).getShape() != type.getShape())
        unsupported(llvm::formatv("output {0} is built as {1}, wanted {2}", name, value.getType(), Type(type)).str());
      operands.push_back(value);
      resultNames.push_back(name);
    }
  }
  if (!main || whyUnsupported())
    return {};
  func::ReturnOp::create(b, operands);
  main.setFunctionType(b.getFunctionType(main.getArgumentTypes(), ValueRange(operands).getTypes()));
  return main;
}

const GoldenTensor *GoldenHostCase::result(StringRef output) const {
  auto found = given.find(output);
  return found == given.end() ? nullptr : &found->second;
}

template <typename Entry> void GoldenRegistry::addTo(llvm::StringMap<Entry> &map, StringRef technique, Entry entry) {
  if (find(technique) || findHost(technique))
    twice.push_back(technique.str());
  else
    map[technique] = std::move(entry);
}

void GoldenRegistry::add(StringRef technique, GoldenBuilder builder) { addTo(builders, technique, std::move(builder)); }

void GoldenRegistry::addHost(StringRef technique, GoldenFunction function) {
  addTo(functions, technique, std::move(function));
}

const GoldenBuilder *GoldenRegistry::find(StringRef technique) const {
  auto found = builders.find(technique);
  return found == builders.end() ? nullptr : &found->second;
}

const GoldenFunction *GoldenRegistry::findHost(StringRef technique) const {
  auto found = functions.find(technique);
  return found == functions.end() ? nullptr : &found->second;
}

} // namespace tilewright
