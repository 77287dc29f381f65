// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-round-bf16: f32 to bf16, to nearest even, as integer arithmetic where the level has no instruction for it: LLVM
// would call a function of the compiler's runtime for each number. NaN stays NaN (made quiet).
#include "backends/cpu/LevelOption.h"
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace tilewright;

namespace {

struct RoundBf16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    if (!getElementTypeOrSelf(op.getType()).isBF16() || !getElementTypeOrSelf(x.getType()).isF32())
      return failure();
    Location loc = op.getLoc();
    auto like = [&](Type element) -> Type {
      if (auto vector = dyn_cast<VectorType>(x.getType()))
        return vector.clone(element);
      return element;
    };
    Type i32 = like(rewriter.getI32Type());
    auto constant = [&](int32_t value) { return createScalarOrSplatConstant(rewriter, loc, i32, value); };
    Value bits = arith::BitcastOp::create(rewriter, loc, i32, x);
    Value sixteen = constant(16);
    Value last =
        arith::AndIOp::create(rewriter, loc, arith::ShRUIOp::create(rewriter, loc, bits, sixteen), constant(1));
    Value rounded =
        arith::AddIOp::create(rewriter, loc, arith::AddIOp::create(rewriter, loc, bits, constant(0x7fff)), last);
    Value quiet = arith::OrIOp::create(rewriter, loc, bits, constant(0x400000));
    Value isNaN = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, x, x);
    Value chosen = arith::SelectOp::create(rewriter, loc, isNaN, quiet, rounded);
    Value high = arith::TruncIOp::create(rewriter, loc, like(rewriter.getI16Type()),
                                         arith::ShRUIOp::create(rewriter, loc, chosen, sixteen));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), high);
    return success();
  }
};

class CpuRoundBf16 : public CpuLevelPass<CpuRoundBf16> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuRoundBf16)
  using CpuLevelPass::CpuLevelPass;
  StringRef getArgument() const override { return "cpu-round-bf16"; }
  StringRef getDescription() const override { return "Round f32 to bf16 with integer arithmetic"; }
  void runOnOperation() override {
    if (level->dotProductBf16)
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<RoundBf16>(&getContext());
    if (failed(rewriteWithBudget(getOperation(), std::move(patterns), getArgument())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuRoundBf16Pass(const CpuLevel *level) {
  return std::make_unique<CpuRoundBf16>(level);
}
