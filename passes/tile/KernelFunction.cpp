// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/tile/KernelFunction.h"

#include "ir/interfaces/ValueTags.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright {

AffineExpr stepCount(StepCount count, MLIRContext *context) {
  return getAffineSymbolExpr(static_cast<unsigned>(count), context);
}

KernelFunction::KernelFunction(SymbolTable &symbols, RowSymbols &rows, Location loc, StringRef name)
    : body(loc.getContext()), rows(rows), loc(loc) {
  MLIRContext *context = loc.getContext();
  Type index = IndexType::get(context);
  func = func::FuncOp::create(loc, name, FunctionType::get(context, {index, index}, {}));
  func->setAttr("tw.kernel", UnitAttr::get(context));
  symbols.insert(func);
  body.setInsertionPointToStart(func.addEntryBlock());
  chunks = getAffineConstantExpr(1, context);
}

Value KernelFunction::addArgument(Type type, ArrayAttr source, ArrayAttr dims) {
  SmallVector<NamedAttribute> attributes;
  if (dims)
    attributes.emplace_back(body.getStringAttr("tw.dims"), dims);
  attributes.emplace_back(body.getStringAttr("tw.source"), source);
  if (failed(func.insertArgument(buffers, type, body.getDictionaryAttr(attributes), loc)))
    return {};
  return func.getArgument(buffers++);
}

ArrayAttr KernelFunction::dimsOf(ShapedType type, StringRef rowName) {
  if (type.hasStaticShape())
    return {};
  SmallVector<Attribute> dims;
  for (auto [i, extent] : llvm::enumerate(type.getShape()))
    dims.push_back(ShapedType::isDynamic(extent) ? Attribute(body.getStringAttr(rowName))
                                                 : body.getI64IntegerAttr(extent));
  return body.getArrayAttr(dims);
}

unsigned KernelFunction::operandNumber(Value value) {
  auto *it = llvm::find(inputs, value);
  if (it != inputs.end())
    return it - inputs.begin();
  inputs.push_back(value);
  return inputs.size() - 1;
}

/// A buffer of this tensor type: only the first dimension may be dynamic.
static MemRefType bufferType(Location loc, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isIntOrIndexOrFloat()) {
    emitError(loc) << "a kernel cannot take a value of type " << type << ", wanted a tensor of numbers";
    return {};
  }
  for (int64_t extent : tensor.getShape().drop_front(std::min<int64_t>(1, tensor.getRank())))
    if (ShapedType::isDynamic(extent)) {
      emitError(loc) << "a kernel cannot take a value of type " << type
                     << ", wanted static dimensions but for the first";
      return {};
    }
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

Value KernelFunction::input(Value value) {
  if (Value tensor = inputTensors.lookup(value))
    return tensor;
  MemRefType type = bufferType(value.getLoc(), value.getType());
  if (!type)
    return {};
  auto source = body.getArrayAttr({body.getStringAttr("operand"), body.getI64IntegerAttr(operandNumber(value))});
  Value argument = addArgument(type, source, dimsOf(type, rows.of(value)));
  OpBuilder::InsertionGuard guard(body);
  body.setInsertionPointToStart(&func.front());
  return inputTensors[value] = bufferization::ToTensorOp::create(body, loc, value.getType(), argument,
                                                                 /*restrict=*/true, /*writable=*/false);
}

Value KernelFunction::output(Value value) {
  MemRefType type = bufferType(value.getLoc(), value.getType());
  if (!type)
    return {};
  auto source = body.getArrayAttr({body.getStringAttr("result"), body.getI64IntegerAttr(outputs.size())});
  outputs.push_back(value);
  Value argument = outputArguments[value] = addArgument(type, source, dimsOf(type, rows.of(value)));
  OpBuilder::InsertionGuard guard(body);
  body.setInsertionPointToStart(&func.front());
  return bufferization::ToTensorOp::create(body, loc, value.getType(), argument, /*restrict=*/true, /*writable=*/true);
}

void KernelFunction::finish(Value value, Value tensor) {
  bufferization::MaterializeInDestinationOp::create(body, loc, /*result=*/Type(), tensor, outputArguments.lookup(value),
                                                    /*restrict=*/true, /*writable=*/true);
}

Value KernelFunction::statePool(Value state, unsigned index, MemRefType type) {
  Value &pool = pools[{state, index}];
  if (pool)
    return pool;
  auto source = body.getArrayAttr(
      {body.getStringAttr("state"), body.getI64IntegerAttr(operandNumber(state)), body.getI64IntegerAttr(index)});
  return pool = addArgument(type, source, dimsOf(type, "POOL"));
}

void KernelFunction::stateResult(Value value) { outputs.push_back(value); }

Value KernelFunction::table(StepTable table, bool ofSource) {
  StringRef name, count;
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  switch (table) {
  case StepTable::Tiles:
    name = ofSource ? "source_tiles" : "tiles";
    count = "T";
    shape.push_back(8);
    break;
  case StepTable::Pages:
    name = ofSource ? "source_pages" : "pages";
    count = ofSource ? "SP" : "P";
    break;
  case StepTable::RowSlots:
    name = ofSource ? "source_row_slots" : "row_slots";
    count = "N";
    shape.push_back(2);
    break;
  }
  Value &argument = tables[name];
  if (argument)
    return argument;
  auto type = MemRefType::get(shape, body.getI32Type());
  auto source = body.getArrayAttr({body.getStringAttr("table"), body.getStringAttr(name)});
  return argument = addArgument(type, source, dimsOf(type, count));
}

Value KernelFunction::symbol(StringRef name) {
  Value &argument = counts[name];
  if (argument)
    return argument;
  unsigned at = func.getNumArguments() - 2;
  auto attributes = body.getDictionaryAttr(body.getNamedAttr("tw.symbol", body.getStringAttr(name)));
  if (failed(func.insertArgument(at, body.getIndexType(), attributes, loc)))
    return {};
  return argument = func.getArgument(at);
}

Operation *KernelFunction::dispatch(OpBuilder &builder, llvm::function_ref<Value(Value)> mapped) {
  func::ReturnOp::create(body, loc);
  SmallVector<Value> inputs = llvm::map_to_vector(this->inputs, mapped);
  SmallVector<Type> types;
  for (Value value : outputs)
    types.push_back(value.getType());
  auto map = AffineMap::get(0, 4, chunks);
  return tw::DispatchOp::create(builder, withTagsOf(loc, outputs), types, FlatSymbolRefAttr::get(func.getSymNameAttr()),
                                inputs, AffineMapAttr::get(map));
}

} // namespace tilewright
