// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of the elementwise ops. Where one-sided derivatives differ the choice is PyTorch's: a tie of a maximum or
// minimum shares the gradient, |x| has none at 0.
#include "ir/tw/Build.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numbers>

using namespace mlir;

namespace tilewright::tw {

namespace {

struct Terms {
  ImplicitLocOpBuilder &b;

  Value number(double value, Value like) { return splat(b, value, like); }
  Value neg(Value x) { return NegOp::create(b, x); }
  Value add(Value x, Value y) { return AddOp::create(b, x, y); }
  Value sub(Value x, Value y) { return SubOp::create(b, x, y); }
  Value mul(Value x, Value y) { return MulOp::create(b, x, y); }
  Value div(Value x, Value y) { return DivOp::create(b, x, y); }
  Value scaled(Value x, double factor) { return mul(x, number(factor, x)); }
  Value where(StringRef kind, Value x, Value y, Value yes, Value no) {
    Value condition = CompareOp::create(b, tensorType(x).clone(b.getI1Type()), kind, x, y);
    return SelectOp::create(b, yes.getType(), condition, yes, no);
  }
  /// The part of `g` that goes to `x` of max(x, y) ("gt") or min(x, y) ("lt").
  Value share(StringRef wins, Value x, Value y, Value g) {
    return where(wins, x, y, g, where("eq", x, y, scaled(g, 0.5), number(0.0, g)));
  }
};

} // namespace

FailureOr<SmallVector<Value>> elementwiseGradient(Operation *op, OpBuilder &builder, Value g) {
  ImplicitLocOpBuilder b(op->getLoc(), builder);
  Terms t{b};
  using Gradients = SmallVector<Value>;
  using Result = FailureOr<Gradients>;
  auto unary = [&](auto derivative) {
    Value x = op->getOperand(0), y = op->getResult(0);
    return Result(Gradients{derivative(x, y)});
  };
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](AddOp) { return Gradients{g, g}; })
      .Case([&](SubOp) { return Gradients{g, t.neg(g)}; })
      .Case([&](MulOp mul) { return Gradients{t.mul(g, mul.getRhs()), t.mul(g, mul.getLhs())}; })
      .Case([&](DivOp div) {
        Value toLhs = t.div(g, div.getRhs());
        return Gradients{toLhs, t.neg(t.mul(toLhs, div.getResult()))};
      })
      .Case([&](MaximumOp max) {
        return Gradients{t.share("gt", max.getLhs(), max.getRhs(), g), t.share("gt", max.getRhs(), max.getLhs(), g)};
      })
      .Case([&](MinimumOp min) {
        return Gradients{t.share("lt", min.getLhs(), min.getRhs(), g), t.share("lt", min.getRhs(), min.getLhs(), g)};
      })
      .Case([&](NegOp) { return unary([&](Value, Value) { return t.neg(g); }); })
      .Case([&](AbsOp) {
        return unary([&](Value x, Value) {
          Value zero = t.number(0.0, x);
          return t.where("gt", x, zero, g, t.where("lt", x, zero, t.neg(g), t.number(0.0, g)));
        });
      })
      .Case([&](ExpOp) { return unary([&](Value, Value y) { return t.mul(g, y); }); })
      .Case([&](LogOp) { return unary([&](Value x, Value) { return t.div(g, x); }); })
      .Case([&](SqrtOp) { return unary([&](Value, Value y) { return t.div(t.scaled(g, 0.5), y); }); })
      .Case([&](RsqrtOp) { // -y^3 / 2
        return unary([&](Value, Value y) { return t.mul(t.scaled(g, -0.5), t.mul(y, t.mul(y, y))); });
      })
      .Case(
          [&](TanhOp) { return unary([&](Value, Value y) { return t.mul(g, t.sub(t.number(1.0, y), t.mul(y, y))); }); })
      .Case([&](ErfOp) { // 2 / sqrt(pi) * exp(-x^2)
        return unary([&](Value x, Value) {
          Value bell = ExpOp::create(b, t.neg(t.mul(x, x)));
          return t.mul(g, t.scaled(bell, 2.0 * std::numbers::inv_sqrtpi));
        });
      })
      .Case([&](SinOp) { return unary([&](Value x, Value) { return t.mul(g, CosOp::create(b, x)); }); })
      .Case([&](CosOp) { return unary([&](Value x, Value) { return t.neg(t.mul(g, SinOp::create(b, x))); }); })
      .Case([&](SigmoidOp) {
        return unary([&](Value, Value y) { return t.mul(g, t.mul(y, t.sub(t.number(1.0, y), y))); });
      })
      .Case([&](SelectOp select) {
        Value zero = t.number(0.0, g), condition = select.getCondition();
        return Gradients{Value(), SelectOp::create(b, g.getType(), condition, g, zero),
                         SelectOp::create(b, g.getType(), condition, zero, g)};
      })
      .Case([&](CastOp cast) {
        Type element = cast.getInput().getType().getElementType();
        return Gradients{isa<FloatType>(element) ? castTo(b, g, element) : Value()};
      })
      .Case([&](CompareOp) { return Gradients(2); })
      .Default([](Operation *other) -> Result { return other->emitOpError("is elementwise but has no derivative"); });
}

} // namespace tilewright::tw
