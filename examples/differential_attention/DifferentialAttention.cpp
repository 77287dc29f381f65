// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DifferentialAttention.h"

#include "ir/tw/Build.h"

#include <cmath>

#include "DifferentialAttentionDialect.cpp.inc"

#define GET_OP_CLASSES
#include "DifferentialAttention.cpp.inc"

namespace tilewright::differential_attention {

using namespace mlir;

void DifferentialAttentionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "DifferentialAttention.cpp.inc"
      >();
}

LogicalResult CombineOp::verify() {
  RankedTensorType type = getPositive().getType();
  int64_t last = type.getRank() - 1;
  for (int64_t dim : {int64_t(1), last}) // (C1)
    if (last < 2 || type.isDynamicDim(dim) || type.getDimSize(dim) < 1)
      return emitOpError("wants halves of rank 3 or more with static heads (dimension 1) and width (the last), found ")
             << type;
  auto isVector = [](Value value, int64_t size) {
    auto vector = cast<RankedTensorType>(value.getType());
    return vector.getRank() == 1 && vector.getDimSize(0) == size;
  };
  if (!isVector(getLambda(), type.getDimSize(1))) // (C2)
    return emitOpError("wants a lambda of shape [") << type.getDimSize(1) << "], found " << getLambda().getType();
  if (getWeight() && !isVector(getWeight(), type.getDimSize(last))) // (C3)
    return emitOpError("wants a weight of shape [") << type.getDimSize(last) << "], found " << getWeight().getType();
  double epsilon = getEpsilon().convertToDouble(), scale = getScale().convertToDouble();
  if (!std::isfinite(epsilon) || epsilon < 0 || !std::isfinite(scale)) // (C4)
    return emitOpError("wants a finite epsilon of at least 0 and a finite scale, found ")
           << epsilon << " and " << scale;
  return success();
}

namespace {
/// z and what it is normalised by, in core ops; for the reference and the gradient.
struct Difference {
  Value lambda;              // in every element, [N, H, ..., D]
  Value z;                   // [N, H, ..., D]
  Value inverse;             // 1 / root mean square, in every element
  SmallVector<int64_t> rows; // all dimensions but the last
};

Difference difference(ImplicitLocOpBuilder &b, CombineOp op, Type inner) {
  Difference d;
  Value positive = tw::castTo(b, op.getPositive(), inner), negative = tw::castTo(b, op.getNegative(), inner);
  int64_t last = op.getType().getRank() - 1;
  d.rows = llvm::to_vector(llvm::seq<int64_t>(0, last));
  d.lambda = tw::broadcast(b, tw::castTo(b, op.getLambda(), inner), negative, {1});
  d.z = tw::SubOp::create(b, positive, tw::MulOp::create(b, d.lambda, negative));
  Value meanSquare = tw::reduce(b, "mean", tw::MulOp::create(b, d.z, d.z), {last}); // [N, H, ...]
  Value sum = tw::AddOp::create(b, meanSquare, tw::splat(b, op.getEpsilon().convertToDouble(), meanSquare));
  d.inverse = tw::broadcast(b, tw::RsqrtOp::create(b, sum), d.z, d.rows);
  return d;
}

/// scale * weight in every element.
Value gain(ImplicitLocOpBuilder &b, CombineOp op, Value like) {
  Value scale = tw::splat(b, op.getScale().convertToDouble(), like);
  if (!op.getWeight())
    return scale;
  int64_t last = op.getType().getRank() - 1;
  Value weight = tw::castTo(b, op.getWeight(), tw::tensorType(like).getElementType());
  return tw::MulOp::create(b, scale, tw::broadcast(b, weight, like, {last}));
}

/// 16-bit floats are computed in f32.
Type innerType(CombineOp op) {
  Type element = op.getType().getElementType();
  return element.getIntOrFloatBitWidth() < 32 ? Float32Type::get(op.getContext()) : element;
}
} // namespace

FailureOr<SmallVector<Value>> CombineOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Difference d = difference(b, *this, innerType(*this));
  Value y = tw::MulOp::create(b, tw::MulOp::create(b, d.z, d.inverse), gain(b, *this, d.z));
  return SmallVector<Value>{tw::castTo(b, y, getType().getElementType())};
}

// With n = z / rms and h = dy * scale * g: dz = (h - n * mean(h * n)) / rms, and the halves and lambda from z's
// definition.
FailureOr<SmallVector<Value>> CombineOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  auto mul = [&](Value x, Value y) -> Value { return tw::MulOp::create(b, x, y); };
  Type inner = innerType(*this), element = getType().getElementType();
  int64_t last = getType().getRank() - 1;
  Difference d = difference(b, *this, inner);
  Value dy = tw::castTo(b, gradients.front(), inner);
  Value n = mul(d.z, d.inverse), h = mul(dy, gain(b, *this, dy));
  Value along = tw::broadcast(b, tw::reduce(b, "mean", mul(h, n), {last}), n, d.rows);
  Value dz = mul(tw::SubOp::create(b, h, mul(n, along)), d.inverse);

  SmallVector<int64_t> notHeads(d.rows.begin() + 1, d.rows.end()); // every dimension but 1
  notHeads.front() = 0;
  notHeads.push_back(last);
  Value dNegative = tw::NegOp::create(b, mul(d.lambda, dz));
  Value dLambda =
      tw::NegOp::create(b, tw::reduce(b, "sum", mul(dz, tw::castTo(b, getNegative(), inner)), notHeads)); // [H]
  SmallVector<Value> result = {tw::castTo(b, dz, element), tw::castTo(b, dNegative, element),
                               tw::castTo(b, dLambda, tw::tensorType(getLambda()).getElementType())};
  if (Value weight = getWeight()) {
    Value scaled = mul(mul(dy, n), tw::splat(b, getScale().convertToDouble(), dy));
    result.push_back(
        tw::castTo(b, tw::reduce(b, "sum", scaled, d.rows), tw::tensorType(weight).getElementType())); // [D]
  }
  return result;
}

NumericsBound CombineOp::getNumericsBound(StringRef mode) {
  // A difference, a row reduction in another order and one reciprocal root: some units in the last place.
  bool narrow = getType().getElementTypeBitWidth() < 32;
  return {0.0, narrow ? 1e-2 : mode == "precise" ? 1e-5 : 1e-4};
}

// Rows are independent, and so is whatever lies between heads and width; a head is never cut.
FailureOr<LoopMap> CombineOp::getLoopMap() {
  int64_t rank = getType().getRank();
  LoopDims halves(rank, LoopDim::whole());
  LoopMap map;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    if (dim != 1)
      halves[dim] = LoopDim::along(map.loops++);
  map.operands = {halves, halves, {LoopDim::whole()}};
  if (getWeight())
    map.operands.push_back({LoopDim::whole()});
  map.results = {halves};
  return map;
}

} // namespace tilewright::differential_attention
