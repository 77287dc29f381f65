// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of linear maps and matrix products.
#include "ir/tw/Build.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

/// `x` [..., E] as rows [N, E].
Value rows(ImplicitLocOpBuilder &b, Value x) {
  RankedTensorType type = tensorType(x);
  if (type.getRank() == 2)
    return x;
  int64_t n = 1;
  for (int64_t d : type.getShape().drop_back())
    n = ShapedType::isDynamic(d) || ShapedType::isDynamic(n) ? ShapedType::kDynamic : n * d;
  return reshape(b, x, {n, type.getShape().back()});
}

Value product(ImplicitLocOpBuilder &b, Value lhs, Value rhs, bool transposeRhs = false) {
  SmallVector<int64_t> shape(tensorType(lhs).getShape());
  int64_t rank = shape.size();
  shape.back() = tensorType(rhs).getDimSize(transposeRhs ? rank - 2 : rank - 1);
  return BatchMatmulOp::create(b, tensorType(lhs).clone(shape), lhs, rhs, transposeRhs);
}

Value swapLast(ImplicitLocOpBuilder &b, Value x) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(x).getRank()));
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return transpose(b, x, perm);
}

/// A weight [out, in] as plain rows of `element`. A storage type's rows are decoded by gathering all of them.
Value plainWeight(ImplicitLocOpBuilder &b, Value weight, Type element) {
  RankedTensorType type = tensorType(weight);
  if (isa<FloatType>(type.getElementType()))
    return castTo(b, weight, element);
  auto ids = RankedTensorType::get({type.getDimSize(0)}, b.getI32Type());
  Value zero = ConstantOp::create(b, ids, DenseElementsAttr::get(ids, b.getI32IntegerAttr(0)));
  Value all = IotaOp::create(b, ids, zero, 0);
  return castTo(b, GatherOp::create(b, type.clone(b.getF32Type()), weight, all), element);
}

} // namespace

FailureOr<SmallVector<Value>> LinearOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Value g = gradients.front(), x = getInput();
  Type element = tensorType(g).getElementType(), weightElement = tensorType(getWeight()).getElementType();
  if (!tensorType(getWeight()).hasStaticShape() && !isa<FloatType>(weightElement))
    return emitOpError("has no gradient: its weight ") << getWeight().getType() << " has a dynamic number of rows";

  // dx = g W, as a linear map by the transposed weight.
  Value transposed = swapLast(b, plainWeight(b, getWeight(), element)); // [in, out]
  Value toInput = LinearOp::create(b, tensorType(x).clone(element), g, transposed, Value());
  SmallVector<Value> result = {castTo(b, toInput, tensorType(x).getElementType()), Value()};

  Value gRows = rows(b, g); // [N, out]
  if (isa<FloatType>(weightElement)) {
    Value toWeight = product(b, swapLast(b, gRows), rows(b, castTo(b, x, element))); // [out, in]
    result[1] = castTo(b, toWeight, weightElement);
  }
  if (getBias())
    result.push_back(castTo(b, reduce(b, "sum", gRows, {0}), tensorType(getBias()).getElementType()));
  return result;
}

FailureOr<SmallVector<Value>> BatchMatmulOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Value g = gradients.front(); // [..., m, n]
  Value toLhs = product(b, g, getRhs(), /*transposeRhs=*/!getTransposeB());
  Value toRhs = getTransposeB() ? product(b, swapLast(b, g), getLhs())  // [..., n, k]
                                : product(b, swapLast(b, getLhs()), g); // [..., k, n]
  return SmallVector<Value>{toLhs, toRhs};
}

} // namespace tilewright::tw
