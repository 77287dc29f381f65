// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-contract-to-bf16-dot: a contraction of bf16 pairs becomes `vdpbf16ps`. Where the level lacks it, the low and the
// high half of each pair become f32 (a shift, a mask) and two fused multiply-adds.
#include "backends/cpu/ContractSteps.h"
#include "backends/cpu/LevelOption.h"
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// The even (low) or odd (high) bf16 of each pair in `pairs` (i32 or a vector of it), as f32.
Value halfAsF32(PatternRewriter &rewriter, Location loc, Value pairs, bool odd) {
  Type type = pairs.getType();
  auto constant = [&](int64_t value) {
    return createScalarOrSplatConstant(rewriter, loc, type, static_cast<int32_t>(value));
  };
  Value bits = odd ? arith::AndIOp::create(rewriter, loc, pairs, constant(0xffff0000)).getResult()
                   : arith::ShLIOp::create(rewriter, loc, pairs, constant(16)).getResult();
  Type f32 = rewriter.getF32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    f32 = vector.clone(f32);
  return arith::BitcastOp::create(rewriter, loc, f32, bits);
}

struct ToBf16Dot : OpRewritePattern<vector::ContractionOp> {
  ToBf16Dot(MLIRContext *context, bool dot) : OpRewritePattern(context), dot(dot) {}

  LogicalResult matchAndRewrite(vector::ContractionOp op, PatternRewriter &rewriter) const override {
    std::optional<ContractOperands> operands = analyzeContract(op);
    if (!operands || operands->dims.form != ContractionForm::Bf16x2)
      return failure();
    int64_t lanes = dot && operands->rowLanes % 16 == 0 ? 16 : operands->rowLanes;
    Location loc = op.getLoc();
    LeftItems left(rewriter, *operands);
    RightRows right(rewriter, loc, *operands);
    Value result = expandContract(rewriter, op, *operands, [&](Value row, ArrayRef<int64_t> l, ArrayRef<int64_t> r) {
      Value item = left.get(l);
      return updateInChunks(rewriter, loc, row, lanes, [&](int64_t lane, Value acc) -> Value {
        Value weights = right.get(r, lane, lanes);
        if (dot && lanes == 16) {
          auto type = cast<VectorType>(weights.getType());
          return x86vector::DotBF16Op::create(rewriter, loc, acc.getType(), acc,
                                              splatItem(rewriter, loc, item, lanes, type), weights);
        }
        Value pairs =
            vector::BitCastOp::create(rewriter, loc, VectorType::get({lanes}, rewriter.getI32Type()), weights);
        for (bool odd : {false, true}) {
          Value splat = vector::BroadcastOp::create(rewriter, loc, acc.getType(), halfAsF32(rewriter, loc, item, odd));
          acc = vector::FMAOp::create(rewriter, loc, splat, halfAsF32(rewriter, loc, pairs, odd), acc);
        }
        return acc;
      });
    });
    rewriter.replaceOp(op, result);
    return success();
  }

  bool dot;
};

class CpuContractToBf16Dot : public CpuLevelPass<CpuContractToBf16Dot> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuContractToBf16Dot)
  using CpuLevelPass::CpuLevelPass;
  StringRef getArgument() const override { return "cpu-contract-to-bf16-dot"; }
  StringRef getDescription() const override { return "Expand bf16 contractions into vdpbf16ps or f32"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, memref::MemRefDialect, vector::VectorDialect, x86vector::X86VectorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ToBf16Dot>(&getContext(), level->dotProductBf16);
    if (failed(rewriteWithBudget(getOperation(), std::move(patterns), getArgument())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuContractToBf16DotPass(const CpuLevel *level) {
  return std::make_unique<CpuContractToBf16Dot>(level);
}
