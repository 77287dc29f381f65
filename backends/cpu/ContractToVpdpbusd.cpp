// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-contract-to-vpdpbusd: a contraction of unsigned and signed bytes in quads becomes `vpdpbusd`, which adds four
// products to each of 16 i32 lanes without saturating.
#include "backends/cpu/ContractSteps.h"
#include "backends/cpu/LevelOption.h"
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilewright;

namespace {

struct ToVpdpbusd : OpRewritePattern<vector::ContractionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::ContractionOp op, PatternRewriter &rewriter) const override {
    constexpr int64_t lanes = 16;
    std::optional<ContractOperands> operands = analyzeContract(op);
    if (!operands || operands->dims.form != ContractionForm::I8x4 || operands->rowLanes % lanes != 0 ||
        operands->leftUnsigned == operands->rightUnsigned)
      return failure();
    Location loc = op.getLoc();
    auto bytes = VectorType::get({4 * lanes}, rewriter.getI8Type());
    auto accType = VectorType::get({lanes}, rewriter.getI32Type());
    LeftItems left(rewriter, *operands);
    RightRows right(rewriter, loc, *operands);
    auto intrinsic = rewriter.getStringAttr("llvm.x86.avx512.vpdpbusd.512");
    Value result = expandContract(rewriter, op, *operands, [&](Value row, ArrayRef<int64_t> l, ArrayRef<int64_t> r) {
      Value item = splatItem(rewriter, loc, left.get(l), lanes, bytes);
      return updateInChunks(rewriter, loc, row, lanes, [&](int64_t lane, Value acc) {
        Value weights = right.get(r, lane, lanes);
        // The second operand is the unsigned one.
        Value a = operands->rightUnsigned ? weights : item, b = operands->rightUnsigned ? item : weights;
        return LLVM::CallIntrinsicOp::create(rewriter, loc, accType, intrinsic, ValueRange{acc, a, b}).getResult(0);
      });
    });
    rewriter.replaceOp(op, result);
    return success();
  }
};

class CpuContractToVpdpbusd : public CpuLevelPass<CpuContractToVpdpbusd> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuContractToVpdpbusd)
  using CpuLevelPass::CpuLevelPass;
  StringRef getArgument() const override { return "cpu-contract-to-vpdpbusd"; }
  StringRef getDescription() const override { return "Expand byte contractions into vpdpbusd"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<memref::MemRefDialect, vector::VectorDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    if (!level->dotProductI8)
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<ToVpdpbusd>(&getContext());
    if (failed(rewriteWithBudget(getOperation(), std::move(patterns), getArgument())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuContractToVpdpbusdPass(const CpuLevel *level) {
  return std::make_unique<CpuContractToVpdpbusd>(level);
}
