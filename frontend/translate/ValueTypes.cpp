// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/translate/Parts.h"

#include "ir/tw/Tw.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace tilewright::translate {

namespace {

constexpr unsigned kMaxElementBytes = 256; ///< of an element type's spelling

} // namespace

llvm::Expected<Type> typeOf(const graph::TensorType &type, MLIRContext &context,
                            llvm::function_ref<llvm::Error(StringRef)> missing) {
  StringRef spelling = text(type.element());
  StringRef dialect = elementDialect(spelling);
  if (!dialect.empty() && !context.getOrLoadDialect(dialect))
    return missing(dialect);
  if (spelling.size() > kMaxElementBytes)
    return badInput("element type " + quoted(spelling) + " is longer than " + llvm::Twine(kMaxElementBytes) + " bytes");
  std::string why;
  ScopedDiagnosticHandler quiet(&context, [&](Diagnostic &diagnostic) {
    if (why.empty())
      why = diagnostic.str();
    return success();
  });
  Type element = mlir::parseType(spelling, &context);
  if (!element)
    return badInput("element type " + quoted(spelling) + ": " + why);
  if (!element.isIntOrFloat() && !isa<StorageType>(element))
    return badInput("element type " + quoted(spelling) + " is neither a number nor a storage type");
  SmallVector<int64_t> shape;
  if (type.shape())
    for (const graph::Dim *dim : *type.shape())
      shape.push_back(dim->size() < 0 ? ShapedType::kDynamic : dim->size());
  auto tensor =
      RankedTensorType::getChecked([&] { return emitError(UnknownLoc::get(&context)); }, shape, element, Attribute());
  if (!tensor)
    return badInput("element type " + quoted(spelling) + ": " + why);
  return tensor;
}

llvm::Expected<Type> typeOf(const graph::Value &value, MLIRContext &context,
                            llvm::function_ref<llvm::Error(StringRef)> missing) {
  if (const graph::TensorType *tensor = value.type_as_TensorType())
    return typeOf(*tensor, context, missing);
  SmallVector<RankedTensorType> buffers;
  for (const graph::TensorType *buffer : *value.type_as_StateType()->buffers()) {
    llvm::Expected<Type> type = typeOf(*buffer, context, missing);
    if (!type)
      return type.takeError();
    buffers.push_back(cast<RankedTensorType>(*type));
  }
  std::string why;
  ScopedDiagnosticHandler quiet(&context, [&](Diagnostic &diagnostic) {
    why = diagnostic.str();
    return success();
  });
  StringRef group = text(value.type_as_StateType()->group());
  Type state = tw::StateType::getChecked([&] { return emitError(UnknownLoc::get(&context)); }, &context,
                                         ArrayRef<RankedTensorType>(buffers),
                                         group.empty() ? StringAttr() : StringAttr::get(&context, group));
  if (!state)
    return badInput(why);
  return state;
}

ArrayAttr symbolsOf(const graph::TensorType &type, MLIRContext &context) {
  Builder b(&context);
  SmallVector<Attribute> dims;
  if (type.shape())
    for (const graph::Dim *dim : *type.shape())
      dims.push_back(!text(dim->symbol()).empty() ? Attribute(b.getStringAttr(text(dim->symbol())))
                                                  : b.getI64IntegerAttr(dim->size()));
  return b.getArrayAttr(dims);
}

ArrayAttr symbolsOf(const graph::Value &value, MLIRContext &context) {
  if (const graph::TensorType *tensor = value.type_as_TensorType())
    return symbolsOf(*tensor, context);
  SmallVector<Attribute> buffers;
  for (const graph::TensorType *buffer : *value.type_as_StateType()->buffers())
    buffers.push_back(symbolsOf(*buffer, context));
  return ArrayAttr::get(&context, buffers);
}

llvm::Expected<graph::TensorTypeT> graphTypeOf(RankedTensorType type, ArrayAttr symbols) {
  if (type.getEncoding())
    return unsupported("an encoded tensor type has no form in a graph file");
  graph::TensorTypeT out;
  llvm::raw_string_ostream(out.element) << type.getElementType();
  bool fits = symbols && static_cast<int64_t>(symbols.size()) == type.getRank();
  for (int64_t d = 0; d < type.getRank(); ++d) {
    auto dim = std::make_unique<graph::DimT>();
    dim->size = type.isDynamicDim(d) ? -1 : type.getDimSize(d);
    if (auto name = fits ? dyn_cast<StringAttr>(symbols[d]) : StringAttr(); name && type.isDynamicDim(d))
      dim->symbol = name.getValue().str();
    out.shape.push_back(std::move(dim));
  }
  return out;
}

llvm::Expected<graph::TypeUnion> graphTypeOf(Type type, ArrayAttr symbols) {
  graph::TypeUnion any;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    llvm::Expected<graph::TensorTypeT> out = graphTypeOf(tensor, symbols);
    if (!out)
      return out.takeError();
    any.Set(std::move(*out));
    return any;
  }
  auto state = dyn_cast<tw::StateType>(type);
  if (!state) {
    std::string found;
    llvm::raw_string_ostream(found) << type;
    return unsupported("type " + found + " has no form in a graph file");
  }
  graph::StateTypeT out;
  bool fits = symbols && symbols.size() == state.getBuffers().size();
  for (auto [i, buffer] : llvm::enumerate(state.getBuffers())) {
    llvm::Expected<graph::TensorTypeT> tensor =
        graphTypeOf(buffer, fits ? dyn_cast<ArrayAttr>(symbols[i]) : ArrayAttr());
    if (!tensor)
      return tensor.takeError();
    out.buffers.push_back(std::make_unique<graph::TensorTypeT>(std::move(*tensor)));
  }
  if (state.getGroup())
    out.group = state.getGroup().str();
  any.Set(std::move(out));
  return any;
}

} // namespace tilewright::translate
