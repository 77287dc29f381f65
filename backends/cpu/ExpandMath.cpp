// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-expand-math: functions of `math` on f32 become arithmetic on whole vectors, as calls would not link.
//
// exp2: x = k + f with k the nearest integer, 2^f by a polynomial of degree 5 on [-0.5, 0.5] (relative error of the
// polynomial 9.2e-8, a minimax fit of the relative error with p(0) = 1), times 2^k put together as bits. Below -126.5
// the result is 0, at 127.5 and above +inf; NaN stays NaN. exp: exp2 of x * log2(e), the product's rounding error added
// back (relative error below 4e-7 where the result is a normal number). sin and cos: backends/api/ExpandSine.h. The
// others are upstream's polynomial approximations. Functions of f64 are computed in f32 and have its range and
// accuracy; of sin and cos, whole turns are taken from the argument in f64 before.
#include "backends/api/ExpandSine.h"
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numbers>

using namespace mlir;
using namespace tilewright;

namespace {

class Builder {
public:
  Builder(PatternRewriter &rewriter, Location loc, Type type) : rewriter(rewriter), loc(loc), type(type) {}

  Value f32(float value) { return createScalarOrSplatConstant(rewriter, loc, type, APFloat(value)); }
  Value i32(int32_t value) { return createScalarOrSplatConstant(rewriter, loc, integer(), value); }
  Value add(Value a, Value b) { return arith::AddFOp::create(rewriter, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(rewriter, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(rewriter, loc, a, b); }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(rewriter, loc, a, b, c); }
  /// max(bound, x) and min(bound, x) that keep a NaN in x; one instruction each.
  Value atLeast(Value bound, Value x) {
    return arith::SelectOp::create(rewriter, loc, compare(arith::CmpFPredicate::OGT, bound, x), bound, x);
  }
  Value atMost(Value bound, Value x) {
    return arith::SelectOp::create(rewriter, loc, compare(arith::CmpFPredicate::OLT, bound, x), bound, x);
  }
  /// 2^k where k stands in the low bits of `magic`, already biased.
  Value power(Value magic) {
    Value bits = arith::BitcastOp::create(rewriter, loc, integer(), magic);
    return arith::BitcastOp::create(rewriter, loc, type, arith::ShLIOp::create(rewriter, loc, bits, i32(23)));
  }

  /// 2^(x + low), |low| tiny or null.
  Value exp2(Value x, Value low) {
    x = atMost(f32(128.0f), atLeast(f32(-127.0f), x));
    // 1.5 * 2^23 rounds to an integer; 127 more makes its low bits the biased exponent.
    Value magic = f32(12582912.0f + 127.0f);
    Value shifted = add(x, magic);
    Value f = sub(x, sub(shifted, magic));
    if (low)
      f = add(f, low);
    Value p = f32(1.32647285e-3f);
    for (float c : {9.67151392e-3f, 5.55073358e-2f, 2.40222424e-1f, 6.93147004e-1f, 1.0f})
      p = fma(p, f, f32(c));
    return mul(p, power(shifted));
  }

private:
  Type integer() {
    Type i32 = rewriter.getI32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(i32);
    return i32;
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(rewriter, loc, predicate, a, b);
  }

  PatternRewriter &rewriter;
  Location loc;
  Type type;
};

struct ExpandExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    rewriter.replaceOp(op, Builder(rewriter, op.getLoc(), op.getType()).exp2(op.getOperand(), nullptr));
    return success();
  }
};

struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Builder b(rewriter, op.getLoc(), op.getType());
    // Clamped first, so that infinity does not meet itself in the error term.
    Value x = b.atMost(b.f32(89.0f), b.atLeast(b.f32(-104.0f), op.getOperand()));
    Value high = b.mul(x, b.f32(1.44269502f));
    Value error = b.fma(x, b.f32(1.44269502f), b.sub(b.f32(0.0f), high));
    Value low = b.fma(x, b.f32(1.92596303e-8f), error);
    rewriter.replaceOp(op, b.exp2(high, low));
    return success();
  }
};

/// f(x) of f64 as f of f32; an angle without its whole turns.
template <typename Op> struct NarrowF64 : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF64())
      return failure();
    Location loc = op.getLoc();
    Value x = op->getOperand(0);
    if (std::is_same_v<Op, math::SinOp> || std::is_same_v<Op, math::CosOp>) {
      auto constant = [&](double value) { return createScalarOrSplatConstant(rewriter, loc, type, APFloat(value)); };
      Value turns = arith::MulFOp::create(rewriter, loc, x, constant(0.5 * std::numbers::inv_pi));
      Value whole = math::RoundEvenOp::create(rewriter, loc, turns);
      x = arith::MulFOp::create(rewriter, loc, arith::SubFOp::create(rewriter, loc, turns, whole),
                                constant(2 * std::numbers::pi));
    }
    Type f32 = rewriter.getF32Type(), narrow = f32;
    if (auto vector = dyn_cast<VectorType>(type))
      narrow = vector.clone(f32);
    Value y = Op::create(rewriter, loc, arith::TruncFOp::create(rewriter, loc, narrow, x));
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, type, y);
    return success();
  }
};

class CpuExpandMath : public PassWrapper<CpuExpandMath, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuExpandMath)
  StringRef getArgument() const override { return "cpu-expand-math"; }
  StringRef getDescription() const override { return "Expand math functions into vector arithmetic"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp2, ExpandExp>(&getContext(), /*benefit=*/2);
    patterns.add<NarrowF64<math::Exp2Op>, NarrowF64<math::ExpOp>, NarrowF64<math::LogOp>, NarrowF64<math::TanhOp>,
                 NarrowF64<math::ErfOp>, NarrowF64<math::SinOp>, NarrowF64<math::CosOp>>(&getContext(), /*benefit=*/3);
    populateSineExpansion(patterns);
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(rewriteWithBudget(getOperation(), std::move(patterns), getArgument())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuExpandMathPass() { return std::make_unique<CpuExpandMath>(); }
