// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-lower-vectors: what is left of multi-dimensional vectors becomes 1-D vectors, loads and stores.
//
// The sets run one after another and never beside canonicalisation where that undoes them (broadcast, transpose and
// shape-cast lowerings do not terminate together with it).
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// transpose [1, 0] of a row repeated N times: a column of numbers, each repeated along its row. The rows become splats
/// of single numbers and no element is shuffled.
struct TransposedRowBroadcast : OpRewritePattern<vector::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::TransposeOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getVector().getDefiningOp<vector::BroadcastOp>();
    if (!broadcast || op.getPermutation() != ArrayRef<int64_t>{1, 0})
      return failure();
    auto row = dyn_cast<VectorType>(broadcast.getSource().getType());
    if (!row || row.getRank() != 1)
      return failure();
    Value column = vector::ShapeCastOp::create(
        rewriter, op.getLoc(), row.cloneWith({{row.getDimSize(0), 1}}, row.getElementType()), broadcast.getSource());
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, op.getType(), column);
    return success();
  }
};

/// A load of several registers whose number is no power of two becomes loads of such numbers, largest first. LLVM 22
/// merges stores of neighbouring pieces of such a load into a wrong one (seen with 48, 80 and 112 floats on AVX-512).
struct SplitUnevenLoad : OpRewritePattern<vector::LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::LoadOp op, PatternRewriter &rewriter) const override {
    constexpr int64_t kRegisterBits = 512; // of the widest level
    VectorType type = op.getVectorType();
    if (type.getRank() != 1 || type.isScalable() || !type.getElementType().isIntOrFloat())
      return failure();
    const int64_t elements = type.getNumElements(), perRegister = kRegisterBits / type.getElementTypeBitWidth();
    if (elements <= perRegister || (elements % perRegister == 0 && llvm::isPowerOf2_64(elements / perRegister)))
      return failure();
    Location loc = op.getLoc();
    Value whole = ub::PoisonOp::create(rewriter, loc, type);
    for (int64_t at = 0; at < elements;) {
      int64_t left = elements - at;
      int64_t size =
          left < perRegister ? left : perRegister * static_cast<int64_t>(llvm::bit_floor(uint64_t(left / perRegister)));
      SmallVector<Value> indices(op.getIndices());
      Value offset = arith::ConstantIndexOp::create(rewriter, loc, at);
      indices.back() = arith::AddIOp::create(rewriter, loc, indices.back(), offset);
      Value part =
          vector::LoadOp::create(rewriter, loc, VectorType::get({size}, type.getElementType()), op.getBase(), indices);
      whole =
          vector::InsertStridedSliceOp::create(rewriter, loc, part, whole, ArrayRef<int64_t>{at}, ArrayRef<int64_t>{1});
      at += size;
    }
    rewriter.replaceOp(op, whole);
    return success();
  }
};

class CpuLowerVectors : public PassWrapper<CpuLowerVectors, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuLowerVectors)
  StringRef getArgument() const override { return "cpu-lower-vectors"; }
  StringRef getDescription() const override { return "Lower multi-dimensional vectors to 1-D ones"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect, ub::UBDialect,
                    vector::VectorDialect>();
  }

  void runOnOperation() override {
    using Populate = llvm::function_ref<void(RewritePatternSet &)>;
    auto apply = [&](StringRef what, Populate populate) {
      RewritePatternSet patterns(&getContext());
      populate(patterns);
      return rewriteWithBudget(getOperation(), std::move(patterns), what);
    };
    bool ok =
        succeeded(apply("dropping unit dimensions",
                        [](RewritePatternSet &patterns) {
                          patterns.add<TransposedRowBroadcast>(patterns.getContext());
                          vector::populateCastAwayVectorLeadingOneDimPatterns(patterns);
                          vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
                          populateCanonicalization(patterns);
                        })) &&
        succeeded(apply("lowering reductions",
                        [](RewritePatternSet &patterns) {
                          vector::populateVectorMultiReductionLoweringPatterns(
                              patterns, vector::VectorMultiReductionLowering::InnerReduction);
                        })) &&
        succeeded(
            apply("lowering broadcasts",
                  [](RewritePatternSet &patterns) { vector::populateVectorBroadcastLoweringPatterns(patterns); })) &&
        succeeded(apply("lowering transposes",
                        [](RewritePatternSet &patterns) {
                          vector::populateVectorTransposeLoweringPatterns(patterns,
                                                                          vector::VectorTransposeLowering::Shuffle1D);
                        })) &&
        succeeded(apply("cleaning up vectors", populateCanonicalization)) &&
        succeeded(apply("unrolling transfers",
                        [](RewritePatternSet &patterns) {
                          populateVectorToSCFConversionPatterns(
                              patterns, VectorTransferToSCFOptions().setTargetRank(1).enableFullUnroll());
                        })) &&
        succeeded(apply("lowering transfers",
                        [](RewritePatternSet &patterns) {
                          vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
                          patterns.add<SplitUnevenLoad>(patterns.getContext());
                        })) &&
        succeeded(apply("cleaning up vectors", populateCanonicalization));
    if (!ok)
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuLowerVectorsPass() { return std::make_unique<CpuLowerVectors>(); }
