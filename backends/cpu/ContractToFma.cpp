// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-contract-to-fma: an f32 contraction becomes, for each k, one fused multiply-add of a broadcast left number and a
// right row for each row of the accumulator block.
#include "backends/cpu/ContractSteps.h"
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilewright;

namespace {

struct ToFma : OpRewritePattern<vector::ContractionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::ContractionOp op, PatternRewriter &rewriter) const override {
    std::optional<ContractOperands> operands = analyzeContract(op);
    if (!operands || operands->dims.form != ContractionForm::Plain)
      return failure();
    Location loc = op.getLoc();
    LeftItems left(rewriter, *operands);
    RightRows right(rewriter, loc, *operands);
    Value result = expandContract(rewriter, op, *operands, [&](Value row, ArrayRef<int64_t> l, ArrayRef<int64_t> r) {
      Value splat = vector::BroadcastOp::create(rewriter, loc, row.getType(), left.get(l));
      return vector::FMAOp::create(rewriter, loc, splat, right.get(r, 0, operands->rowLanes), row).getResult();
    });
    rewriter.replaceOp(op, result);
    return success();
  }
};

class CpuContractToFma : public PassWrapper<CpuContractToFma, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuContractToFma)
  StringRef getArgument() const override { return "cpu-contract-to-fma"; }
  StringRef getDescription() const override { return "Expand f32 contractions into fused multiply-adds"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<memref::MemRefDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ToFma>(&getContext());
    if (failed(rewriteWithBudget(getOperation(), std::move(patterns), getArgument())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuContractToFmaPass() { return std::make_unique<CpuContractToFma>(); }
