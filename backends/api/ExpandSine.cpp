// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sin x: x = k pi/2 + r with |r| at most pi/4; sin r or cos r by a polynomial, chosen and signed by the quarter turn k.
// cos x = sin (x + pi/2): the next quarter turn, with the same r. pi/2 is taken off in three parts of 24 bits, by fused
// multiply-adds, of which the first is exact. Polynomials: S. L. Moshier, Cephes, sinf.c.
#include "backends/api/ExpandSine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace tilewright {

namespace {

template <typename Op> struct ExpandSine : OpRewritePattern<Op> {
  explicit ExpandSine(MLIRContext *context) : OpRewritePattern<Op>(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto number = [&](float value) { return createScalarOrSplatConstant(b, b.getLoc(), type, APFloat(value)); };
    auto fma = [&](Value x, Value y, Value z) -> Value { return math::FmaOp::create(b, x, y, z); };
    auto mul = [&](Value x, Value y) -> Value { return arith::MulFOp::create(b, x, y); };
    auto floor = [&](Value x) -> Value { return math::FloorOp::create(b, x); };
    // c[0] + c[1] x + ...
    auto polynomial = [&](Value x, ArrayRef<float> c) {
      Value sum = number(c.back());
      for (float coefficient : llvm::reverse(c.drop_back()))
        sum = fma(sum, x, number(coefficient));
      return sum;
    };
    Value x = op.getOperand();
    Value k = floor(fma(x, number(0.636619772f), number(0.5f)));
    Value r = x;
    for (float part : {1.57079637f, -4.37113883e-8f, -1.71512451e-15f})
      r = fma(k, number(-part), r);
    Value square = mul(r, r);
    Value sine = fma(mul(r, square), polynomial(square, {-1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f}), r);
    Value cosine = fma(mul(square, square),
                       polynomial(square, {4.166664568298827e-2f, -1.388731625493765e-3f, 2.443315711809948e-5f}),
                       fma(square, number(-0.5f), number(1.0f)));
    Value turn = k;
    if constexpr (std::is_same_v<Op, math::CosOp>)
      turn = arith::AddFOp::create(b, k, number(1.0f));
    // Of the quarter turns 0 to 3 the odd ones take the cosine, and those from 2 on are negative. NaN is none of them.
    Value half = mul(turn, number(0.5f)), whole = mul(half, number(0.5f));
    Value isOdd = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, half, floor(half));
    Value isBehind = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, arith::SubFOp::create(b, whole, floor(whole)),
                                           number(0.5f));
    Value result = arith::SelectOp::create(b, isOdd, cosine, sine);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isBehind, arith::NegFOp::create(b, result), result);
    return success();
  }
};

} // namespace

void populateSineExpansion(RewritePatternSet &patterns) {
  patterns.add<ExpandSine<math::SinOp>, ExpandSine<math::CosOp>>(patterns.getContext());
}

} // namespace tilewright
