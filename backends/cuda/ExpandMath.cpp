// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuda-expand-math: functions of `math` become instructions and arithmetic, as a kernel can call no library.
//
// exp2 on f32 is ex2.approx (PTX ISA: relative error below 2^-22; denormal results are 0). exp is ex2 of x * log2(e),
// the product's rounding error added back (relative error below 4e-7 where the result is a normal number). sin and cos:
// backends/api/ExpandSine.h. The others are upstream's polynomial approximations. What is then left and has no
// instruction is an error.
#include "backends/api/ExpandSine.h"
#include "backends/cuda/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tilewright;

namespace {

Value ex2(PatternRewriter &rewriter, Location loc, Value x) {
  return LLVM::CallIntrinsicOp::create(rewriter, loc, x.getType(), rewriter.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"),
                                       x)
      .getResults();
}

struct ExpandExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    rewriter.replaceOp(op, ex2(rewriter, op.getLoc(), op.getOperand()));
    return success();
  }
};

struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Location loc = op.getLoc();
    auto f32 = [&](float value) -> Value {
      return arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(value));
    };
    auto within = [&](arith::CmpFPredicate predicate, Value bound, Value x) -> Value {
      Value beyond = arith::CmpFOp::create(rewriter, loc, predicate, bound, x);
      return arith::SelectOp::create(rewriter, loc, beyond, bound, x);
    };
    // Clamped first, so that infinity does not meet itself in the error term; NaN stays.
    Value x = within(arith::CmpFPredicate::OGT, f32(-104.0f), op.getOperand());
    x = within(arith::CmpFPredicate::OLT, f32(89.0f), x);
    Value high = arith::MulFOp::create(rewriter, loc, x, f32(1.44269502f));
    Value error = math::FmaOp::create(rewriter, loc, x, f32(1.44269502f), arith::NegFOp::create(rewriter, loc, high));
    Value low = math::FmaOp::create(rewriter, loc, x, f32(1.92596303e-8f), error);
    // 2^(high + low) = 2^high * (1 + low ln 2).
    Value factor = math::FmaOp::create(rewriter, loc, low, f32(0.693147182f), f32(1.0f));
    Value power = ex2(rewriter, loc, high);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, power, factor);
    return success();
  }
};

class CudaExpandMath : public PassWrapper<CudaExpandMath, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CudaExpandMath)
  StringRef getArgument() const override { return "cuda-expand-math"; }
  StringRef getDescription() const override { return "Expand math functions into instructions and arithmetic"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp2, ExpandExp>(&getContext(), /*benefit=*/2);
    populateSineExpansion(patterns);
    populateMathPolynomialApproximationPatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled).enableFolding(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    WalkResult result = getOperation().walk([](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()) || hasInstruction(op))
        return WalkResult::advance();
      op->emitOpError("on ") << op->getResult(0).getType() << " has no form on the GPU";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static bool hasInstruction(Operation *op) {
    return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp,
               math::RoundEvenOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op);
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCudaExpandMathPass() { return std::make_unique<CudaExpandMath>(); }
