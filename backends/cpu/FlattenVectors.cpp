// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-flatten-vectors: elementwise work on vectors like 4x16x4xi8, whose rows are narrower than a register, moves to
// flat vectors (256xi8). LLVM's conversion would otherwise work row by row, four bytes at a time.
#include "backends/cpu/LevelOption.h"
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"

using namespace mlir;
using namespace tilewright;

namespace {

struct FlattenElementwise : RewritePattern {
  FlattenElementwise(MLIRContext *context, unsigned vectorBytes)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context), vectorBytes(vectorBytes) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1 || op->getNumOperands() == 0)
      return failure();
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type || type.getRank() < 2 || type.isScalable())
      return failure();
    int64_t width = 0;
    for (Type each : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
      auto vector = dyn_cast<VectorType>(each);
      if (!vector || vector.getShape() != type.getShape())
        return failure();
      width = std::max<int64_t>(width, vector.getElementType().isIndex() ? 64 : vector.getElementTypeBitWidth());
    }
    if (type.getShape().back() * width >= vectorBytes * 8)
      return failure();
    Location loc = op->getLoc();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(vector::ShapeCastOp::create(rewriter, loc, flat(operand.getType()), operand));
    Operation *flatOp = rewriter.create(loc, op->getName().getIdentifier(), operands, flat(type), op->getAttrs());
    rewriter.replaceOpWithNewOp<vector::ShapeCastOp>(op, type, flatOp->getResult(0));
    return success();
  }

  static VectorType flat(Type type) {
    auto vector = cast<VectorType>(type);
    return VectorType::get({vector.getNumElements()}, vector.getElementType());
  }

  unsigned vectorBytes;
};

class CpuFlattenVectors : public CpuLevelPass<CpuFlattenVectors> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuFlattenVectors)
  using CpuLevelPass::CpuLevelPass;
  StringRef getArgument() const override { return "cpu-flatten-vectors"; }
  StringRef getDescription() const override { return "Work on flat vectors where rows are narrower than a register"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<memref::MemRefDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    if (failed(flattenTransfers()) || failed(flattenElementwise()))
      signalPassFailure();
  }

private:
  /// A transfer of one element has nothing to flatten, and upstream's patterns must not see it: of its shape,
  /// vector::isContiguousSlice drops the leading ones and then another extent, which is not there (LLVM 22).
  LogicalResult flattenTransfers() {
    SmallVector<Operation *> transfers;
    getOperation()->walk([&](VectorTransferOpInterface transfer) {
      if (transfer.getVectorType().getNumElements() > 1)
        transfers.push_back(transfer);
    });
    RewritePatternSet patterns(&getContext());
    vector::populateFlattenVectorTransferPatterns(patterns, level->vectorBytes * 8);
    return rewriteWithBudget(transfers, std::move(patterns), getOperation(), getArgument());
  }

  LogicalResult flattenElementwise() {
    RewritePatternSet patterns(&getContext());
    patterns.add<FlattenElementwise>(&getContext(), level->vectorBytes);
    vector::populateDropUnitDimWithShapeCastPatterns(patterns);
    populateShapeCastFolding(patterns);
    return rewriteWithBudget(getOperation(), std::move(patterns), getArgument());
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuFlattenVectorsPass(const CpuLevel *level) {
  return std::make_unique<CpuFlattenVectors>(level);
}
