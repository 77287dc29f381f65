// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivative of rms_norm.norm. With r = the divisor's inverse per row, n = x * r and h = (gradient of n) = dy * weight:
//   dx = r * (h - n * mean(h * n))                          epsilon inside the root
//   dx = r * (h - n * mean(h * n) * (r * root)^-1), root = sqrt(mean(x^2))     epsilon outside of it
// The inner arithmetic is in f32 or wider, as in the reference.
#include "plugins/rms_norm/RmsNorm.h"

#include "ir/tw/Build.h"

namespace tilewright::rms_norm {

using namespace mlir;

FailureOr<SmallVector<Value>> NormOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  RankedTensorType type = getInput().getType();
  int64_t last = type.getRank() - 1;
  SmallVector<int64_t> rows = llvm::to_vector(llvm::seq<int64_t>(0, last));
  Type element = type.getElementType(), inner = element.getIntOrFloatBitWidth() < 32 ? b.getF32Type() : element;
  double epsilon = getEpsilon().convertToDouble();
  auto mul = [&](Value x, Value y) -> Value { return tw::MulOp::create(b, x, y); };
  auto add = [&](Value x, Value y) -> Value { return tw::AddOp::create(b, x, y); };
  auto perRow = [&](Value x, Value like) { return tw::broadcast(b, x, like, rows); };
  auto sumOverRows = [&](Value x) { return rows.empty() ? x : tw::reduce(b, "sum", x, rows); };

  Value x = tw::castTo(b, getInput(), inner), dy = tw::castTo(b, gradients.front(), inner);
  Value meanSquare = tw::reduce(b, "mean", mul(x, x), {last}); // [rows...]
  Value inverse, correction;                                   // r; the factor of n * mean(h * n)
  if (getEpsilonOutside()) {
    Value root = tw::SqrtOp::create(b, meanSquare);
    Value divisor = add(root, tw::splat(b, epsilon, root));
    inverse = tw::DivOp::create(b, tw::splat(b, 1.0, divisor), divisor);
    correction = tw::DivOp::create(b, divisor, root);
  } else {
    inverse = tw::RsqrtOp::create(b, add(meanSquare, tw::splat(b, epsilon, meanSquare)));
  }
  Value n = mul(x, perRow(inverse, x)), h = dy;
  SmallVector<Value> result(1);
  if (Value weight = getWeight()) {
    Value g = tw::castTo(b, weight, inner);
    if (getUnitOffset())
      g = add(g, tw::splat(b, 1.0, g));
    h = mul(dy, tw::broadcast(b, g, dy, {last}));
    result.push_back(tw::castTo(b, sumOverRows(mul(dy, n)), tw::tensorType(weight).getElementType()));
  }
  if (Value bias = getBias())
    result.push_back(tw::castTo(b, sumOverRows(dy), tw::tensorType(bias).getElementType()));

  Value along = tw::reduce(b, "mean", mul(h, n), {last}); // [rows...]
  if (correction)
    along = mul(along, correction);
  Value dx = mul(tw::SubOp::create(b, h, mul(n, perRow(along, n))), perRow(inverse, n));
  result[0] = tw::castTo(b, dx, element);
  return result;
}

} // namespace tilewright::rms_norm
