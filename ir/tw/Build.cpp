// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Build.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

namespace tilewright::tw {

using mlir::ImplicitLocOpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

RankedTensorType tensorType(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

mlir::FloatType wideFloat(mlir::Type element) {
  auto type = llvm::cast<mlir::FloatType>(element);
  return type.getWidth() < 32 ? mlir::FloatType(mlir::Float32Type::get(element.getContext())) : type;
}

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

Value unsqueeze(ImplicitLocOpBuilder &builder, Value input, int64_t dim) {
  llvm::SmallVector<int64_t> shape(tensorType(input).getShape());
  shape.insert(shape.begin() + dim, 1);
  return reshape(builder, input, shape);
}

Value pick(ImplicitLocOpBuilder &builder, Value input, int64_t index) {
  return reshape(builder, slice(builder, input, 0, index, 1), tensorType(input).getShape().drop_front());
}

Value atPlaces(ImplicitLocOpBuilder &builder, Value places, llvm::ArrayRef<double> row,
               llvm::ArrayRef<int64_t> rowShape) {
  RankedTensorType type = tensorType(places);
  llvm::SmallVector<int64_t> table(rowShape), shape(type.getShape());
  table.insert(table.begin(), 1);
  llvm::append_range(shape, rowShape);
  auto tableType = RankedTensorType::get(table, builder.getF64Type());
  Value only = ConstantOp::create(builder, tableType, mlir::DenseElementsAttr::get(tableType, row));
  // No number differs from itself: the index of the only row, at each place.
  Value zeros = CompareOp::create(builder, type.clone(builder.getI1Type()), "ne", places, places);
  return GatherOp::create(builder, tableType.clone(shape), only, castTo(builder, zeros, builder.getI32Type()));
}

static std::optional<double> splatNumber(Value value, int depth) {
  mlir::DenseElementsAttr attribute;
  if (mlir::matchPattern(value, mlir::m_Constant(&attribute))) {
    if (!attribute.isSplat())
      return std::nullopt;
    if (llvm::isa<mlir::FloatType>(attribute.getElementType()))
      return attribute.getSplatValue<llvm::APFloat>().convertToDouble();
    if (attribute.getElementType().isInteger(1))
      return attribute.getSplatValue<bool>();
    if (attribute.getElementType().isInteger())
      return static_cast<double>(attribute.getSplatValue<llvm::APInt>().getSExtValue());
    return std::nullopt;
  }
  mlir::Operation *op = value.getDefiningOp();
  if (!op || depth > 16 ||
      !llvm::isa<BroadcastOp, ReshapeOp, TransposeOp, CastOp, SqrtOp, RsqrtOp, NegOp, ExpOp, AddOp, SubOp, MulOp,
                 DivOp>(op))
    return std::nullopt;
  std::optional<double> x = splatNumber(op->getOperand(0), depth + 1), y;
  if (!x)
    return std::nullopt;
  if (llvm::isa<BroadcastOp, ReshapeOp, TransposeOp>(op))
    return x;
  if (llvm::isa<CastOp>(op)) // casts to integers cut
    return llvm::isa<mlir::FloatType>(tensorType(value).getElementType()) ? x : std::nullopt;
  if (llvm::isa<SqrtOp>(op))
    return std::sqrt(*x);
  if (llvm::isa<RsqrtOp>(op))
    return 1 / std::sqrt(*x);
  if (llvm::isa<NegOp>(op))
    return -*x;
  if (llvm::isa<ExpOp>(op))
    return std::exp(*x);
  if (!(y = splatNumber(op->getOperand(1), depth + 1)))
    return std::nullopt;
  return llvm::isa<AddOp>(op) ? *x + *y : llvm::isa<SubOp>(op) ? *x - *y : llvm::isa<MulOp>(op) ? *x * *y : *x / *y;
}

std::optional<double> splatConstant(Value value) { return splatNumber(value, 0); }

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
