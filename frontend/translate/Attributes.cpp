// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/translate/Parts.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright::translate {

llvm::Expected<Attribute> attributeOf(const graph::Attr &attr, MLIRContext &context) {
  Builder b(&context);
  switch (attr.value_type()) {
  case graph::AttrValue::IntAttr:
    return b.getI64IntegerAttr(attr.value_as_IntAttr()->value());
  case graph::AttrValue::FloatAttr:
    return b.getF64FloatAttr(attr.value_as_FloatAttr()->value());
  case graph::AttrValue::BoolAttr:
    return b.getBoolAttr(attr.value_as_BoolAttr()->value());
  case graph::AttrValue::StringAttr:
    return b.getStringAttr(text(attr.value_as_StringAttr()->value()));
  case graph::AttrValue::IntsAttr:
    return b.getDenseI64ArrayAttr(llvm::to_vector(numbers(attr.value_as_IntsAttr()->value())));
  case graph::AttrValue::FloatsAttr:
    return b.getDenseF64ArrayAttr(llvm::to_vector(numbers(attr.value_as_FloatsAttr()->value())));
  case graph::AttrValue::StringsAttr: {
    SmallVector<Attribute> strings;
    if (const auto *list = attr.value_as_StringsAttr()->value())
      for (const flatbuffers::String *string : *list)
        strings.push_back(b.getStringAttr(text(string)));
    return b.getArrayAttr(strings);
  }
  case graph::AttrValue::NONE:
    break;
  }
  return badInput("it has no value");
}

llvm::Expected<Attribute> elementsOf(Attribute numbers, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return unsupported("its type is not a static tensor of numbers");
  SmallVector<double> floats;
  SmallVector<int64_t> integers;
  if (auto list = dyn_cast<DenseF64ArrayAttr>(numbers))
    floats.assign(list.asArrayRef().begin(), list.asArrayRef().end());
  else if (auto list = dyn_cast<DenseI64ArrayAttr>(numbers))
    integers.assign(list.asArrayRef().begin(), list.asArrayRef().end());
  else if (auto one = dyn_cast<FloatAttr>(numbers))
    floats.push_back(one.getValueAsDouble());
  else if (auto one = dyn_cast<IntegerAttr>(numbers))
    integers.push_back(one.getInt());
  int64_t count = floats.size() + integers.size();
  if (count != 1 && count != tensor.getNumElements())
    return badInput("it has " + llvm::Twine(count) + " numbers, wanted " + llvm::Twine(tensor.getNumElements()) +
                    " or one");

  SmallVector<Attribute> elements;
  Type element = tensor.getElementType();
  auto integerType = dyn_cast<IntegerType>(element);
  for (double v : floats) {
    if (integerType)
      return badInput("it has floats, wanted integers");
    elements.push_back(FloatAttr::get(element, v));
  }
  for (int64_t v : integers) {
    if (!integerType) {
      elements.push_back(FloatAttr::get(element, static_cast<double>(v)));
      continue;
    }
    // i1 is 0 or 1; wider ones are signed.
    unsigned width = integerType.getWidth();
    bool fits = width == 1 ? v == 0 || v == 1 : width >= 64 || llvm::isIntN(width, v);
    if (!fits)
      return badInput("it has " + llvm::Twine(v) + ", which does not fit into i" + llvm::Twine(width));
    elements.push_back(IntegerAttr::get(element, APInt(width, v, /*isSigned=*/width > 1)));
  }
  return DenseElementsAttr::get(tensor, elements);
}

namespace {

template <typename T> graph::AttrValueUnion graphValue(T value) {
  graph::AttrValueUnion any;
  any.Set(std::move(value));
  return any;
}

graph::AttrValueUnion integersValue(SmallVector<int64_t> values) {
  graph::IntsAttrT list;
  list.value.assign(values.begin(), values.end());
  return graphValue(std::move(list));
}

graph::AttrValueUnion floatsValue(SmallVector<double> values) {
  graph::FloatsAttrT list;
  list.value.assign(values.begin(), values.end());
  return graphValue(std::move(list));
}

/// The numbers of a constant, one for a splat.
llvm::Expected<graph::AttrValueUnion> elementsValue(DenseElementsAttr elements) {
  int64_t count = elements.isSplat() ? 1 : elements.getNumElements();
  auto first = [&](auto range) { return llvm::make_range(range.begin(), std::next(range.begin(), count)); };
  if (isa<FloatType>(elements.getElementType())) {
    SmallVector<double> values;
    for (APFloat v : first(elements.getValues<APFloat>())) {
      bool lost;
      v.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      values.push_back(v.convertToDouble());
    }
    return floatsValue(std::move(values));
  }
  SmallVector<int64_t> values;
  for (const APInt &v : first(elements.getValues<APInt>()))
    values.push_back(v.getBitWidth() == 1 ? v.getZExtValue() : v.getSExtValue());
  return integersValue(std::move(values));
}

} // namespace

llvm::Expected<graph::AttrValueUnion> graphAttributeOf(Attribute attribute) {
  if (auto value = dyn_cast<BoolAttr>(attribute)) {
    graph::BoolAttrT one;
    one.value = value.getValue();
    return graphValue(std::move(one));
  }
  if (auto value = dyn_cast<IntegerAttr>(attribute); value && value.getType().isInteger(64)) {
    graph::IntAttrT one;
    one.value = value.getInt();
    return graphValue(std::move(one));
  }
  if (auto value = dyn_cast<FloatAttr>(attribute); value && value.getType().isF64()) {
    graph::FloatAttrT one;
    one.value = value.getValueAsDouble();
    return graphValue(std::move(one));
  }
  if (auto value = dyn_cast<StringAttr>(attribute)) {
    graph::StringAttrT one;
    one.value = value.getValue().str();
    return graphValue(std::move(one));
  }
  if (auto value = dyn_cast<DenseI64ArrayAttr>(attribute))
    return integersValue(llvm::to_vector(value.asArrayRef()));
  if (auto value = dyn_cast<DenseF64ArrayAttr>(attribute))
    return floatsValue(llvm::to_vector(value.asArrayRef()));
  if (auto value = dyn_cast<DenseIntOrFPElementsAttr>(attribute))
    return elementsValue(value);
  if (auto value = dyn_cast<ArrayAttr>(attribute);
      value && llvm::all_of(value, [](Attribute a) { return isa<StringAttr>(a); })) {
    graph::StringsAttrT list;
    for (Attribute string : value)
      list.value.push_back(cast<StringAttr>(string).getValue().str());
    return graphValue(std::move(list));
  }
  std::string found;
  llvm::raw_string_ostream(found) << attribute;
  return unsupported(found + " has no form in a graph file");
}

} // namespace tilewright::translate
