// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of swiglu.glu on a tile.
#include "plugins/swiglu/Swiglu.h"

#include "ir/interfaces/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <numbers>

namespace tilewright::swiglu {

using namespace mlir;

/// `x` cut to at most `bound`; NaN stays.
static Value atMost(TileBuilder &s, Value x, double bound) {
  return s.select(s.compare(arith::CmpFPredicate::OGT, x, s.f32(bound)), s.f32(bound), x);
}
static Value atLeast(TileBuilder &s, Value x, double bound) {
  return s.select(s.compare(arith::CmpFPredicate::OLT, x, s.f32(bound)), s.f32(bound), x);
}

/// 1 / (1 + exp(-x))
static Value sigmoid(TileBuilder &s, Value x) {
  Value power = math::ExpOp::create(s.b, s.loc, s.sub(s.f32(0.0), x));
  return s.div(s.f32(1.0), s.add(power, s.f32(1.0)));
}

static Value activate(TileBuilder &s, StringRef activation, double alpha, Value g) {
  if (activation == "silu")
    return s.mul(g, sigmoid(s, alpha == 1.0 ? g : s.mul(g, s.f32(alpha))));
  if (activation == "gelu") {
    Value erf = math::ErfOp::create(s.b, s.loc, s.mul(g, s.f32(std::numbers::sqrt2 / 2)));
    return s.mul(s.mul(g, s.f32(0.5)), s.add(erf, s.f32(1.0)));
  }
  if (activation == "gelu_tanh") {
    Value cubed = s.mul(s.mul(g, g), g);
    Value inside = s.mul(s.add(g, s.mul(cubed, s.f32(0.044715))), s.f32(std::sqrt(2 / std::numbers::pi)));
    Value tanh = math::TanhOp::create(s.b, s.loc, inside);
    return s.mul(s.mul(g, s.f32(0.5)), s.add(tanh, s.f32(1.0)));
  }
  if (activation == "relu")
    return atLeast(s, g, 0.0);
  return sigmoid(s, g);
}

FailureOr<SmallVector<Value>> GluOp::lowerTile(OpBuilder &builder) {
  RankedTensorType type = getType();
  if (!type.hasStaticShape() || type.getElementTypeBitWidth() > 32)
    return emitOpError("has no kernel form for a tile of type ")
           << type << ", wanted a static shape of f32 or narrower";
  TileBuilder t(builder, getLoc());
  Type element = type.getElementType();
  double alpha = getAlpha().convertToDouble(), offset = getUpOffset().convertToDouble();
  Value y = t.elementwise(
      {getGate(), getUp()}, t.empty(type.getShape(), element), [&](TileBuilder &s, ValueRange a) -> Value {
        Value g = s.toF32(a[0]), u = s.toF32(a[1]);
        if (std::optional<APFloat> limit = getLimit()) {
          double bound = limit->convertToDouble();
          g = atMost(s, g, bound);
          u = atLeast(s, atMost(s, u, bound), -bound);
        }
        Value activated = activate(s, getActivation(), alpha, g);
        if (offset != 0.0)
          u = s.add(u, s.f32(offset));
        Value product = s.mul(activated, u);
        return element.isF32() ? product : arith::TruncFOp::create(s.b, s.loc, element, product).getResult();
      });
  return SmallVector<Value>{y};
}

} // namespace tilewright::swiglu
