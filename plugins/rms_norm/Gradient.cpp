// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of the norms. With r = the divisor's inverse per row, n = the normalised row and h = (gradient of n) = dy
// * weight:
//   dx = r * (h - n * mean(h * n))                          norm, epsilon inside the root
//   dx = r * (h - n * mean(h * n) * (r * root)^-1), root = sqrt(mean(x^2))     norm, epsilon outside of it
//   dx = r * (h - mean(h) - n * mean(h * n))                layer_norm
// The inner arithmetic is in f32 or wider, as in the reference.
#include "plugins/rms_norm/RmsNorm.h"

#include "ir/tw/Build.h"

namespace tilewright::rms_norm {

using namespace mlir;

namespace {

/// Short words for code on rows [rows..., E].
struct Rows {
  Rows(OpBuilder &builder, Operation *op)
      : b(op->getLoc(), builder), element(tw::tensorType(op->getOperand(0)).getElementType()),
        inner(tw::wideFloat(element)), last(tw::tensorType(op->getOperand(0)).getRank() - 1),
        rows(llvm::to_vector(llvm::seq<int64_t>(0, last))) {}

  Value wide(Value x) { return tw::castTo(b, x, inner); }
  Value mul(Value x, Value y) { return tw::MulOp::create(b, x, y); }
  Value add(Value x, Value y) { return tw::AddOp::create(b, x, y); }
  Value sub(Value x, Value y) { return tw::SubOp::create(b, x, y); }
  Value mean(Value x) { return tw::reduce(b, "mean", x, {last}); } // [rows...]
  Value perRow(Value x, Value like) { return tw::broadcast(b, x, like, rows); }
  Value perColumn(Value x, Value like) { return tw::broadcast(b, x, like, {last}); }
  /// The gradient of a parameter [E] that each row had a part in.
  Value ofParameter(Value x, Value parameter) {
    Value sum = rows.empty() ? x : tw::reduce(b, "sum", x, rows);
    return tw::castTo(b, sum, tw::tensorType(parameter).getElementType());
  }

  ImplicitLocOpBuilder b;
  Type element, inner;
  int64_t last;
  SmallVector<int64_t> rows;
};

} // namespace

FailureOr<SmallVector<Value>> NormOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  Rows r(builder, *this);
  double epsilon = getEpsilon().convertToDouble();
  Value x = r.wide(getInput()), dy = r.wide(gradients.front());
  Value meanSquare = r.mean(r.mul(x, x));
  Value inverse, correction; // r; the factor of n * mean(h * n)
  if (getEpsilonOutside()) {
    Value root = tw::SqrtOp::create(r.b, meanSquare);
    Value divisor = r.add(root, tw::splat(r.b, epsilon, root));
    inverse = tw::DivOp::create(r.b, tw::splat(r.b, 1.0, divisor), divisor);
    correction = tw::DivOp::create(r.b, divisor, root);
  } else {
    inverse = tw::RsqrtOp::create(r.b, r.add(meanSquare, tw::splat(r.b, epsilon, meanSquare)));
  }
  Value n = r.mul(x, r.perRow(inverse, x)), h = dy;
  SmallVector<Value> result(1);
  if (Value weight = getWeight()) {
    Value g = r.wide(weight);
    if (getUnitOffset())
      g = r.add(g, tw::splat(r.b, 1.0, g));
    h = r.mul(dy, r.perColumn(g, dy));
    result.push_back(r.ofParameter(r.mul(dy, n), weight));
  }
  if (Value bias = getBias())
    result.push_back(r.ofParameter(dy, bias));

  Value along = r.mean(r.mul(h, n));
  if (correction)
    along = r.mul(along, correction);
  Value dx = r.mul(r.sub(h, r.mul(n, r.perRow(along, n))), r.perRow(inverse, n));
  result[0] = tw::castTo(r.b, dx, r.element);
  return result;
}

FailureOr<SmallVector<Value>> LayerNormOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  Rows r(builder, *this);
  Value x = r.wide(getInput()), dy = r.wide(gradients.front());
  Value d = r.sub(x, r.perRow(r.mean(x), x));
  Value variance = r.mean(r.mul(d, d));
  Value inverse = tw::RsqrtOp::create(r.b, r.add(variance, tw::splat(r.b, getEpsilon().convertToDouble(), variance)));
  Value n = r.mul(d, r.perRow(inverse, d)), h = dy;
  SmallVector<Value> result(1);
  if (Value weight = getWeight()) {
    h = r.mul(dy, r.perColumn(r.wide(weight), dy));
    result.push_back(r.ofParameter(r.mul(dy, n), weight));
  }
  if (Value bias = getBias())
    result.push_back(r.ofParameter(dy, bias));
  Value across = r.sub(r.sub(h, r.perRow(r.mean(h), h)), r.mul(n, r.perRow(r.mean(r.mul(h, n)), n)));
  result[0] = tw::castTo(r.b, r.mul(across, r.perRow(inverse, n)), r.element);
  return result;
}

} // namespace tilewright::rms_norm
