// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/rms_norm/RmsNorm.h"

#include "ir/tw/Layers.h"

#include <cmath>

#include "plugins/rms_norm/RmsNormDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/rms_norm/RmsNorm.cpp.inc"

namespace tilewright::rms_norm {

using namespace mlir;

void RmsNormDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/rms_norm/RmsNorm.cpp.inc"
      >();
}

namespace {
/// What both norms want of input, parameters and epsilon.
template <typename Op> LogicalResult verifyNorm(Op op) {
  RankedTensorType type = op.getInput().getType();
  if (type.getRank() < 1 || type.isDynamicDim(type.getRank() - 1) || type.getShape().back() < 1) // (C1)
    return op.emitOpError("wants an input whose last dimension is static and at least 1, found ") << type;
  int64_t width = type.getShape().back();
  for (auto [name, value] : {std::pair("weight", op.getWeight()), std::pair("bias", op.getBias())}) { // (C2)
    if (!value)
      continue;
    auto valueType = cast<RankedTensorType>(value.getType());
    if (valueType.getRank() != 1 || valueType.getDimSize(0) != width)
      return op.emitOpError() << "wants a " << name << " of shape [" << width << "], found " << valueType;
  }
  double epsilon = op.getEpsilon().convertToDouble();
  if (!std::isfinite(epsilon) || epsilon < 0) // (C3)
    return op.emitOpError("wants a finite epsilon of at least 0, found ") << epsilon;
  return success();
}

/// One or two row reductions in another order and one reciprocal root: some units in the last place of f32, or of 16
/// bits.
template <typename Op> NumericsBound normBound(Op op, StringRef mode) {
  bool narrow = op.getInput().getType().getElementTypeBitWidth() < 32;
  return {0.0, narrow ? 1e-2 : mode == "precise" ? 1e-5 : 1e-4};
}

/// Rows are independent; a row is never cut.
template <typename Op> LoopMap normLoops(Op op) {
  int64_t rank = op.getInput().getType().getRank();
  LoopMap map;
  map.loops = rank - 1;
  map.operands.push_back(leadingLoops(rank, rank - 1));
  for (size_t i = 1; i < op->getNumOperands(); ++i)
    map.operands.push_back({LoopDim::whole()});
  map.results.push_back(leadingLoops(rank, rank - 1));
  return map;
}
} // namespace

LogicalResult NormOp::verify() {
  if (failed(verifyNorm(*this)))
    return failure();
  if (getUnitOffset() && !getWeight()) // (C4)
    return emitOpError("has unit_offset but no weight to offset");
  return success();
}

FailureOr<SmallVector<Value>> NormOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  RankedTensorType type = getInput().getType();
  int64_t last = type.getRank() - 1;
  Type element = type.getElementType();
  Type inner = tw::wideFloat(element);
  SmallVector<int64_t> rows = llvm::to_vector(llvm::seq<int64_t>(0, last));
  double epsilon = getEpsilon().convertToDouble();

  Value x = tw::castTo(b, getInput(), inner);
  Value meanSquare = tw::reduce(b, "mean", tw::MulOp::create(b, x, x), {last}); // [rows...]
  Value y;
  if (getEpsilonOutside()) {
    Value root = tw::SqrtOp::create(b, meanSquare);
    Value divisor = tw::AddOp::create(b, root, tw::splat(b, epsilon, root));
    y = tw::DivOp::create(b, x, tw::broadcast(b, divisor, x, rows));
  } else {
    Value sum = tw::AddOp::create(b, meanSquare, tw::splat(b, epsilon, meanSquare));
    Value inverse = tw::RsqrtOp::create(b, sum);
    y = tw::MulOp::create(b, x, tw::broadcast(b, inverse, x, rows));
  }

  if (Value weight = getWeight()) {
    // Rounding before or after the weight is what tells 16-bit models of the two conventions apart.
    if (!getUnitOffset())
      y = tw::castTo(b, y, element);
    Type product = cast<RankedTensorType>(y.getType()).getElementType();
    Value g = tw::castTo(b, weight, product);
    if (getUnitOffset())
      g = tw::AddOp::create(b, g, tw::splat(b, 1.0, g));
    y = tw::MulOp::create(b, y, tw::broadcast(b, g, y, {last}));
  }
  y = tw::castTo(b, y, element);
  if (Value bias = getBias())
    y = tw::AddOp::create(b, y, tw::broadcast(b, tw::castTo(b, bias, element), y, {last}));
  return SmallVector<Value>{y};
}

StringRef NormOp::getFusionKind() { return "norm"; }

NumericsBound NormOp::getNumericsBound(StringRef mode) { return normBound(*this, mode); }

FailureOr<LoopMap> NormOp::getLoopMap() { return normLoops(*this); }

LogicalResult LayerNormOp::verify() { return verifyNorm(*this); }

FailureOr<SmallVector<Value>> LayerNormOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  return SmallVector<Value>{tw::layerNorm(b, getInput(), getWeight(), getBias(), getEpsilon().convertToDouble())};
}

StringRef LayerNormOp::getFusionKind() { return "norm"; }

NumericsBound LayerNormOp::getNumericsBound(StringRef mode) { return normBound(*this, mode); }

FailureOr<LoopMap> LayerNormOp::getLoopMap() { return normLoops(*this); }

} // namespace tilewright::rms_norm
