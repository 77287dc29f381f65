// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Build.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright::tw {

using mlir::ImplicitLocOpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

RankedTensorType tensorType(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

Value castTo(ImplicitLocOpBuilder &builder, Value value, mlir::Type element) {
  RankedTensorType type = tensorType(value);
  if (type.getElementType() == element)
    return value;
  return CastOp::create(builder, type.clone(element), value);
}

Value splat(ImplicitLocOpBuilder &builder, double value, Value like) {
  RankedTensorType type = tensorType(like);
  auto scalar = RankedTensorType::get({}, type.getElementType());
  auto attribute = mlir::DenseElementsAttr::get(scalar, builder.getFloatAttr(type.getElementType(), value));
  Value constant = ConstantOp::create(builder, scalar, attribute);
  return type.getRank() == 0 ? constant : broadcast(builder, constant, like, {});
}

Value broadcast(ImplicitLocOpBuilder &builder, Value input, Value like, llvm::ArrayRef<int64_t> dims) {
  return BroadcastOp::create(builder, tensorType(like).clone(tensorType(input).getElementType()), input, like, dims);
}

Value reduce(ImplicitLocOpBuilder &builder, llvm::StringRef kind, Value input, llvm::ArrayRef<int64_t> dims) {
  RankedTensorType type = tensorType(input);
  llvm::SmallVector<int64_t> shape;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(dims, i))
      shape.push_back(type.getDimSize(i));
  return ReduceOp::create(builder, RankedTensorType::get(shape, type.getElementType()), kind, input, dims);
}

Value slice(ImplicitLocOpBuilder &builder, Value input, int64_t dim, int64_t start, int64_t size) {
  RankedTensorType type = tensorType(input);
  llvm::SmallVector<int64_t> shape(type.getShape());
  if (size >= 0)
    shape[dim] = size;
  else if (!type.isDynamicDim(dim))
    shape[dim] -= start;
  return SliceOp::create(builder, type.clone(shape), input, dim, start, size);
}

Value transpose(ImplicitLocOpBuilder &builder, Value input, llvm::ArrayRef<int64_t> perm) {
  RankedTensorType type = tensorType(input);
  llvm::SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(type.getDimSize(dim));
  return TransposeOp::create(builder, type.clone(shape), input, perm);
}

Value concat(ImplicitLocOpBuilder &builder, int64_t dim, llvm::ArrayRef<Value> inputs) {
  RankedTensorType type = tensorType(inputs.front());
  llvm::SmallVector<int64_t> shape(type.getShape());
  int64_t size = 0;
  for (Value input : inputs) {
    int64_t part = tensorType(input).getDimSize(dim);
    size = mlir::ShapedType::isDynamic(part) || mlir::ShapedType::isDynamic(size) ? mlir::ShapedType::kDynamic
                                                                                 : size + part;
  }
  shape[dim] = size;
  return ConcatOp::create(builder, type.clone(shape), dim, inputs);
}

Value reshape(ImplicitLocOpBuilder &builder, Value input, llvm::ArrayRef<int64_t> shape) {
  return ReshapeOp::create(builder, tensorType(input).clone(shape), input);
}

std::optional<double> splatConstant(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getInput();
  mlir::DenseElementsAttr attribute;
  if (!mlir::matchPattern(value, mlir::m_Constant(&attribute)) || !attribute.isSplat() ||
      !llvm::isa<mlir::FloatType>(attribute.getElementType()))
    return std::nullopt;
  return attribute.getSplatValue<llvm::APFloat>().convertToDouble();
}

llvm::DenseSet<mlir::Operation *> eraseDead(mlir::Operation *op) {
  llvm::SmallVector<mlir::Operation *> work = {op};
  llvm::DenseSet<mlir::Operation *> gone;
  while (!work.empty()) {
    mlir::Operation *next = work.pop_back_val();
    if (gone.contains(next) || !mlir::isOpTriviallyDead(next))
      continue;
    for (Value operand : next->getOperands())
      if (mlir::Operation *producer = operand.getDefiningOp())
        work.push_back(producer);
    gone.insert(next);
    next->erase();
  }
  return gone;
}

} // namespace tilewright::tw
