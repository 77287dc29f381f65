// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of elementwise ops: one linalg.generic with a scalar body.
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

Value sigmoid(OpBuilder &b, Location loc, Value x) {
  Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(x.getType(), 1.0));
  Value e = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, x));
  return arith::DivFOp::create(b, loc, one, arith::AddFOp::create(b, loc, one, e));
}

Value compare(OpBuilder &b, Location loc, StringRef kind, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType())) {
    auto predicate = llvm::StringSwitch<arith::CmpFPredicate>(kind)
                         .Case("eq", arith::CmpFPredicate::OEQ)
                         .Case("ne", arith::CmpFPredicate::UNE)
                         .Case("lt", arith::CmpFPredicate::OLT)
                         .Case("le", arith::CmpFPredicate::OLE)
                         .Case("gt", arith::CmpFPredicate::OGT)
                         .Default(arith::CmpFPredicate::OGE);
    return arith::CmpFOp::create(b, loc, predicate, lhs, rhs);
  }
  auto predicate = llvm::StringSwitch<arith::CmpIPredicate>(kind)
                       .Case("eq", arith::CmpIPredicate::eq)
                       .Case("ne", arith::CmpIPredicate::ne)
                       .Case("lt", arith::CmpIPredicate::slt)
                       .Case("le", arith::CmpIPredicate::sle)
                       .Case("gt", arith::CmpIPredicate::sgt)
                       .Default(arith::CmpIPredicate::sge);
  return arith::CmpIOp::create(b, loc, predicate, lhs, rhs);
}

/// Float to integer: truncates, saturates, NaN gives 0. arith.fptosi is undefined outside the range, so the operand is
/// clamped first and the upper end chosen afterwards (the largest integer need not be a float of this type).
Value floatToInt(OpBuilder &b, Location loc, Value x, IntegerType to) {
  Type from = x.getType();
  APInt low = APInt::getSignedMinValue(to.getWidth()), high = APInt::getSignedMaxValue(to.getWidth());
  auto floatOf = [&](double v) { return arith::ConstantOp::create(b, loc, b.getFloatAttr(from, v)); };
  auto intOf = [&](APInt v) { return arith::ConstantOp::create(b, loc, b.getIntegerAttr(to, v)); };
  double bound = std::ldexp(1.0, to.getWidth() - 1);
  Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, floatOf(bound));
  Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, floatOf(-bound));
  Value ordered = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, x, x);
  Value outside = arith::OrIOp::create(b, loc, above, below);
  Value zero = floatOf(0.0);
  Value inside = arith::SelectOp::create(b, loc, outside, zero, x);
  inside = arith::SelectOp::create(b, loc, ordered, inside, zero);
  Value y = arith::FPToSIOp::create(b, loc, to, inside);
  y = arith::SelectOp::create(b, loc, above, intOf(high), y);
  return arith::SelectOp::create(b, loc, below, intOf(low), y);
}

/// Null where no scalar form exists.
Value cast(OpBuilder &b, Location loc, Value x, Type to) {
  Type from = x.getType();
  if (from == to)
    return x;
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat) {
    if (fromFloat.getWidth() < toFloat.getWidth())
      return arith::ExtFOp::create(b, loc, to, x);
    // No instruction goes from f64 to 16 bits, or between two types of 16 bits.
    if (toFloat.getWidth() < 32 && fromFloat.getWidth() > 32)
      x = arith::TruncFOp::create(b, loc, b.getF32Type(), x);
    if (fromFloat.getWidth() == toFloat.getWidth())
      x = arith::ExtFOp::create(b, loc, b.getF32Type(), x);
    return arith::TruncFOp::create(b, loc, to, x);
  }
  if (toFloat && toFloat.getWidth() < 32)
    return arith::TruncFOp::create(b, loc, to, cast(b, loc, x, b.getF32Type()));
  if (toFloat)
    return from.isInteger(1) ? arith::UIToFPOp::create(b, loc, to, x).getResult()
                             : arith::SIToFPOp::create(b, loc, to, x).getResult();
  auto toInt = dyn_cast<IntegerType>(to);
  if (!toInt)
    return {};
  if (toInt.getWidth() == 1) {
    if (fromFloat) {
      Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(from, 0.0));
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, x, zero);
    }
    Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(from, 0));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, zero);
  }
  if (fromFloat && fromFloat.getWidth() < 32)
    return floatToInt(b, loc, arith::ExtFOp::create(b, loc, b.getF32Type(), x), toInt);
  if (fromFloat)
    return floatToInt(b, loc, x, toInt);
  unsigned width = llvm::cast<IntegerType>(from).getWidth();
  if (width == 1)
    return arith::ExtUIOp::create(b, loc, to, x);
  if (width < toInt.getWidth())
    return arith::ExtSIOp::create(b, loc, to, x);
  // Narrowing saturates, like the conversion from float.
  auto intOf = [&](APInt v) { return arith::ConstantOp::create(b, loc, b.getIntegerAttr(from, v.sext(width))); };
  Value low = intOf(APInt::getSignedMinValue(toInt.getWidth())),
        high = intOf(APInt::getSignedMaxValue(toInt.getWidth()));
  Value clamped = arith::MinSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, x, low), high);
  return arith::TruncIOp::create(b, loc, to, clamped);
}

/// The op on scalars of the element type; null when it is not elementwise.
Value nativeForm(Operation *op, OpBuilder &b, ValueRange in) {
  Location loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AddOp) { return arith::AddFOp::create(b, loc, in[0], in[1]); })
      .Case([&](SubOp) { return arith::SubFOp::create(b, loc, in[0], in[1]); })
      .Case([&](MulOp) { return arith::MulFOp::create(b, loc, in[0], in[1]); })
      .Case([&](DivOp) { return arith::DivFOp::create(b, loc, in[0], in[1]); })
      .Case([&](MaximumOp) { return arith::MaximumFOp::create(b, loc, in[0], in[1]); })
      .Case([&](MinimumOp) { return arith::MinimumFOp::create(b, loc, in[0], in[1]); })
      .Case([&](NegOp) { return arith::NegFOp::create(b, loc, in[0]); })
      .Case([&](AbsOp) { return math::AbsFOp::create(b, loc, in[0]); })
      .Case([&](ExpOp) { return math::ExpOp::create(b, loc, in[0]); })
      .Case([&](LogOp) { return math::LogOp::create(b, loc, in[0]); })
      .Case([&](SqrtOp) { return math::SqrtOp::create(b, loc, in[0]); })
      .Case([&](RsqrtOp) { return math::RsqrtOp::create(b, loc, in[0]); })
      .Case([&](TanhOp) { return math::TanhOp::create(b, loc, in[0]); })
      .Case([&](ErfOp) { return math::ErfOp::create(b, loc, in[0]); })
      .Case([&](SinOp) { return math::SinOp::create(b, loc, in[0]); })
      .Case([&](CosOp) { return math::CosOp::create(b, loc, in[0]); })
      .Case([&](SigmoidOp) { return sigmoid(b, loc, in[0]); })
      .Case([&](CompareOp c) { return compare(b, loc, c.getKind(), in[0], in[1]); })
      .Case([&](SelectOp) { return arith::SelectOp::create(b, loc, in[0], in[1], in[2]); })
      .Case([&](CastOp c) { return cast(b, loc, in[0], c.getResult().getType().getElementType()); })
      .Default([](Operation *) { return Value(); });
}

/// The op on scalars. Floats narrower than f32 are computed in f32 and rounded once, which gives the same numbers for
/// sums, products, quotients and roots.
Value scalarForm(Operation *op, OpBuilder &b, ValueRange in) {
  auto isNarrow = [](Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; };
  if (isa<SelectOp, CastOp>(op) || llvm::none_of(in.getTypes(), isNarrow))
    return nativeForm(op, b, in);
  Location loc = op->getLoc();
  SmallVector<Value> wide = llvm::map_to_vector(in, [&](Value x) -> Value {
    return isNarrow(x.getType()) ? arith::ExtFOp::create(b, loc, b.getF32Type(), x).getResult() : x;
  });
  Value y = nativeForm(op, b, wide);
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return y && isNarrow(element) ? arith::TruncFOp::create(b, loc, element, y).getResult() : y;
}

} // namespace

FailureOr<SmallVector<Value>> lowerElementwiseTile(Operation *op, OpBuilder &b) {
  Location loc = op->getLoc();
  auto type = llvm::cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<OpFoldResult> shape = tensor::getMixedSizes(b, loc, op->getOperand(0));
  Value init = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  SmallVector<AffineMap> maps(op->getNumOperands() + 1, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  bool done = true;
  auto generic = linalg::GenericOp::create(b, loc, init.getType(), op->getOperands(), init, maps, parallel,
                                           [&](OpBuilder &b, Location loc, ValueRange args) {
                                             Value y = scalarForm(op, b, args.drop_back());
                                             done = static_cast<bool>(y);
                                             linalg::YieldOp::create(b, loc, done ? y : args.back());
                                           });
  if (!done) {
    generic.erase();
    return op->emitOpError("has no scalar form to lower a tile with");
  }
  return SmallVector<Value>(generic.getResults());
}

} // namespace tilewright::tw
