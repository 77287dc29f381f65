// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/SpecializeShapes.h"

#include "ir/interfaces/Verify.h"
#include "ir/tw/Shapes.h"
#include "ir/tw/Tw.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

using Shape = SmallVector<int64_t>;

Shape shapeOfValue(Value value) { return Shape(cast<RankedTensorType>(value.getType()).getShape()); }

Shape reducedShape(ReduceOp op) {
  Shape shape;
  for (auto [d, extent] : llvm::enumerate(op.getInput().getType().getShape()))
    if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(d)))
      shape.push_back(extent);
  return shape;
}

/// The dynamic dimension from the number of elements.
Shape reshapedShape(ReshapeOp op) {
  Shape shape(op.getType().getShape());
  int64_t elements = op.getInput().getType().getNumElements(), others = 1;
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent))
      others *= extent;
  for (int64_t &extent : shape)
    if (ShapedType::isDynamic(extent))
      extent = others == 0 ? 0 : elements / others;
  return shape;
}

Shape slicedShape(SliceOp op) {
  Shape shape = shapeOfValue(op.getInput());
  int64_t &extent = shape[op.getDim()];
  extent = op.getSize() >= 0 ? op.getSize() : std::max<int64_t>(0, extent - op.getStart());
  return shape;
}

Shape joinedShape(ConcatOp op) {
  Shape shape = shapeOfValue(op.getInputs().front());
  for (Value input : op.getInputs().drop_front())
    shape[op.getDim()] += shapeOfValue(input)[op.getDim()];
  return shape;
}

Shape productShape(BatchMatmulOp op) {
  Shape shape = shapeOfValue(op.getLhs());
  int64_t rank = shape.size();
  shape[rank - 1] = op.getRhs().getType().getDimSize(op.getTransposeB() ? rank - 2 : rank - 1);
  return shape;
}

/// Shape of the only result of a core op; none for other ops.
std::optional<Shape> coreShape(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Shape>>(op)
      .Case([](IotaOp iota) { return shapeOfValue(iota.getLike()); })
      .Case([](BroadcastOp broadcast) { return shapeOfValue(broadcast.getLike()); })
      .Case([](ReduceOp reduce) { return reducedShape(reduce); })
      .Case([](ReshapeOp reshape) { return reshapedShape(reshape); })
      .Case([](TransposeOp transpose) {
        Shape shape;
        for (int64_t p : transpose.getPerm())
          shape.push_back(transpose.getInput().getType().getDimSize(p));
        return shape;
      })
      .Case([](SliceOp slice) { return slicedShape(slice); })
      .Case([](ConcatOp concat) { return joinedShape(concat); })
      .Case([](GatherOp gather) { return Shape(gather.getGatheredShape()); })
      .Case([](BatchMatmulOp product) { return productShape(product); })
      .Case([](SoftmaxOp softmax) { return shapeOfValue(softmax.getInput()); })
      .Default([](Operation *other) -> std::optional<Shape> {
        if (other->hasTrait<OpTrait::SameOperandsAndResultShape>() && other->getNumResults() == 1)
          return shapeOfValue(other->getOperand(0));
        return std::nullopt;
      });
}

/// All results of attention.
void deriveAttention(AttentionOp op) {
  AttentionOp::Sizes s = op.getSizes();
  auto become = [](Value value, ArrayRef<int64_t> shape) {
    value.setType(cast<RankedTensorType>(value.getType()).clone(shape));
  };
  if (op.isRagged())
    become(op.getResult(), {s.queries, s.heads, s.valueDim});
  else if (op.getLayout() == "bhtd")
    become(op.getResult(), {s.batch, s.heads, s.queries, s.valueDim});
  else
    become(op.getResult(), {s.batch, s.queries, s.heads, s.valueDim});
  if (Value lse = op.getLse())
    become(lse, {s.batch, s.heads, s.queries});
  if (Value weights = op.getWeights())
    become(weights, {s.batch, s.heads, s.queries, s.keys});
}

struct Created : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.push_back(op); }
  SmallVector<Operation *> ops;
};

LogicalResult derive(Operation *op);

/// Result types of what the op's reference lowering makes. The ops that are made for it are erased again.
LogicalResult deriveByReference(ReferenceLowering op) {
  Created created;
  OpBuilder b(op->getContext(), &created);
  b.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> values = op.lowerToReference(b);
  // Of other types than the op's results: those are still to be derived.
  LogicalResult done = failed(values) ? failure() : verifyGiven(op, "ReferenceLowering", *values);
  for (Operation *made : created.ops)
    if (succeeded(done))
      done = derive(made);
  if (succeeded(done))
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *values))
      result.setType(value.getType());
  for (Operation *made : llvm::reverse(created.ops))
    made->erase();
  if (failed(done))
    return op->emitOpError("has a result whose shape cannot be derived from those of its operands");
  return success();
}

LogicalResult derive(Operation *op) {
  auto isStatic = [](Type type) {
    auto shaped = dyn_cast<RankedTensorType>(type);
    return !shaped || shaped.hasStaticShape();
  };
  if (llvm::all_of(op->getResultTypes(), isStatic))
    return success();
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    deriveAttention(attention);
    return success();
  }
  if (std::optional<Shape> shape = coreShape(op)) {
    Value result = op->getResult(0);
    result.setType(cast<RankedTensorType>(result.getType()).clone(*shape));
    return success();
  }
  if (auto infer = dyn_cast<InferTypeOpInterface>(op)) {
    SmallVector<Type> types;
    if (failed(infer.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(), op->getAttrDictionary(),
                                      op->getPropertiesStorage(), op->getRegions(), types)) ||
        types.size() != op->getNumResults() || !llvm::all_of(types, isStatic))
      return op->emitOpError("has a result whose shape cannot be derived from those of its operands");
    for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
      result.setType(type);
    return success();
  }
  if (auto reference = dyn_cast<ReferenceLowering>(op))
    return deriveByReference(reference);
  return op->emitOpError("has a dynamic shape and no rule that derives it: wanted InferTypeOpInterface or a reference "
                         "lowering");
}

} // namespace

LogicalResult specializeShapes(func::FuncOp function, ArrayRef<SmallVector<int64_t>> shapes) {
  if (shapes.size() != function.getNumArguments())
    return function.emitError("has ") << function.getNumArguments() << " arguments, but " << shapes.size()
                                      << " shapes are given";
  for (auto [argument, shape] : llvm::zip_equal(function.getArguments(), shapes)) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !shapesAgree(type.getShape(), shape))
      return function.emitError("argument ") << argument.getArgNumber() << " of type " << argument.getType()
                                             << " is given the shape " << shapeText(shape);
    argument.setType(type.clone(shape));
  }
  for (Operation &op : function.front().without_terminator())
    if (failed(derive(&op)))
      return failure();
  function.setType(FunctionType::get(function.getContext(), function.front().getArgumentTypes(),
                                     function.front().getTerminator()->getOperandTypes()));
  return verify(function);
}

} // namespace tilewright::tw
