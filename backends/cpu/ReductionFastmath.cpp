// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-reduction-fastmath: how the numbers of one register row are reduced.
//
// * Sums may be reassociated (`reassoc`, nothing else): in order they would be one addition after another.
// * `maxnumf` and `minnumf` become a tree of compare-and-select, one instruction a step. Where NaN is among the numbers
//   the result is NaN or the largest of some of them, never undefined (an `nnan` flag would make it so); a kernel whose
//   output depends on it must carry NaN by another path, as the sum of exp2(x - max) does.
// * `maximumf` and `minimumf` keep NaN: the tree also compares each number with itself. Of absolute values the largest
//   is taken as integers, which order the same way and put NaN above infinity.
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

namespace {

using vector::CombiningKind;

/// One step of a maximum (or minimum): `a` where it is beyond `b`, else `b`. With `keepNaN` a NaN in either wins.
Value step(PatternRewriter &rewriter, Location loc, Value a, Value b, bool isMax, bool keepNaN) {
  auto predicate = isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  Value beyond = arith::CmpFOp::create(rewriter, loc, predicate, a, b);
  Value best = arith::SelectOp::create(rewriter, loc, beyond, a, b); // b where either is NaN
  if (!keepNaN)
    return best;
  Value isNaN = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, a, a);
  return arith::SelectOp::create(rewriter, loc, isNaN, a, best);
}

Value half(PatternRewriter &rewriter, Location loc, Value vector, int64_t begin, int64_t size) {
  return vector::ExtractStridedSliceOp::create(rewriter, loc, vector, ArrayRef<int64_t>{begin}, ArrayRef<int64_t>{size},
                                               ArrayRef<int64_t>{1});
}

/// Lanes [size, 2 * size) moved to the front, other lanes as they are: a step inside one register.
Value upperLanes(PatternRewriter &rewriter, Location loc, Value vector, int64_t size) {
  SmallVector<int64_t> lanes;
  for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements(); ++i)
    lanes.push_back(i < size ? i + size : i);
  return vector::ShuffleOp::create(rewriter, loc, vector, vector, lanes);
}

struct ExpandMaximum : OpRewritePattern<vector::ReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ReductionOp op, PatternRewriter &rewriter) const override {
    CombiningKind kind = op.getKind();
    bool isMax = kind == CombiningKind::MAXNUMF || kind == CombiningKind::MAXIMUMF;
    bool keepNaN = kind == CombiningKind::MAXIMUMF || kind == CombiningKind::MINIMUMF;
    if (!isMax && kind != CombiningKind::MINNUMF && kind != CombiningKind::MINIMUMF)
      return failure();
    Location loc = op.getLoc();
    Value vector = op.getVector();
    if (isMax && keepNaN && vector.getDefiningOp<math::AbsFOp>()) {
      Value result = reduceAbsolute(rewriter, loc, vector);
      if (op.getAcc())
        result = step(rewriter, loc, result, op.getAcc(), isMax, keepNaN);
      rewriter.replaceOp(op, result);
      return success();
    }
    int64_t size = cast<VectorType>(vector.getType()).getNumElements();
    Value rest = op.getAcc();
    auto combine = [&](Value value) { rest = rest ? step(rewriter, loc, value, rest, isMax, keepNaN) : value; };
    // Halve while a half is whole registers, then inside the last one; an odd lane goes to the end.
    while (size > 1) {
      if (size % 2) {
        combine(vector::ExtractOp::create(rewriter, loc, vector, size - 1));
        vector = half(rewriter, loc, vector, 0, --size);
        continue;
      }
      size /= 2;
      if (size >= 4) {
        vector = step(rewriter, loc, half(rewriter, loc, vector, 0, size), half(rewriter, loc, vector, size, size),
                      isMax, keepNaN);
        continue;
      }
      Value upper = upperLanes(rewriter, loc, vector, size);
      vector = step(rewriter, loc, vector, upper, isMax, keepNaN);
      if (size > 1 && size % 2) {
        vector = half(rewriter, loc, vector, 0, size);
      }
    }
    combine(vector::ExtractOp::create(rewriter, loc, vector, 0));
    rewriter.replaceOp(op, rest);
    return success();
  }

  static Value reduceAbsolute(PatternRewriter &rewriter, Location loc, Value vector) {
    auto type = cast<VectorType>(vector.getType());
    Type integer = rewriter.getIntegerType(type.getElementTypeBitWidth());
    Value bits = arith::BitcastOp::create(rewriter, loc, type.clone(integer), vector);
    Value largest = vector::ReductionOp::create(rewriter, loc, CombiningKind::MAXUI, bits);
    return arith::BitcastOp::create(rewriter, loc, type.getElementType(), largest);
  }
};

struct ReassociateSum : OpRewritePattern<vector::ReductionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::ReductionOp op, PatternRewriter &rewriter) const override {
    bool sum = op.getKind() == CombiningKind::ADD || op.getKind() == CombiningKind::MUL;
    if (!sum || !isa<FloatType>(op.getType()) ||
        arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::reassoc))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setFastmath(op.getFastmath() | arith::FastMathFlags::reassoc); });
    return success();
  }
};

class CpuReductionFastmath : public PassWrapper<CpuReductionFastmath, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuReductionFastmath)
  StringRef getArgument() const override { return "cpu-reduction-fastmath"; }
  StringRef getDescription() const override { return "Reduce register rows as trees that keep NaN as promised"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandMaximum, ReassociateSum>(&getContext());
    if (failed(rewriteWithBudget(getOperation(), std::move(patterns), getArgument())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuReductionFastmathPass() { return std::make_unique<CpuReductionFastmath>(); }
