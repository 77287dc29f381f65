// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/Rewrite.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilewright {

/// LLVM 22 takes a shape_cast of a broadcast for a broadcast wherever the types would allow one: 5x1x4 to 5x5x1x4 to
/// 5x5x4 repeats along the first extent, 5x1x4 to 5x5x4 along the second.
static const std::string wrongPatterns[] = {"(anonymous namespace)::ShapeCastBroadcastFolder"};

namespace {

/// What upstream's pattern is for, where the two broadcasts read the same elements.
struct ShapeCastOfBroadcast : OpRewritePattern<vector::ShapeCastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ShapeCastOp cast, PatternRewriter &rewriter) const override {
    auto broadcast = cast.getSource().getDefiningOp<vector::BroadcastOp>();
    if (!broadcast)
      return failure();
    VectorType type = cast.getResultVectorType();
    if (auto source = dyn_cast<VectorType>(broadcast.getSourceType()))
      if (vector::isBroadcastableTo(source, type) != vector::BroadcastableToResult::Success || type.isScalable() ||
          steps(source, broadcast.getResultVectorType()) != steps(source, type))
        return failure();
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(cast, type, broadcast.getSource());
    return success();
  }

  /// By extent of `type`, the fewest of them that do: how many elements of `source` one step goes on; 0 repeats.
  static SmallVector<std::pair<int64_t, int64_t>> steps(VectorType source, VectorType type) {
    SmallVector<std::pair<int64_t, int64_t>> inner; // the innermost first
    int64_t step = 1;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      const int64_t extent = type.getDimSize(type.getRank() - 1 - i);
      const int64_t given = i < source.getRank() ? source.getDimSize(source.getRank() - 1 - i) : 1;
      const int64_t own = given == 1 ? 0 : step;
      step *= given;
      if (extent == 1)
        continue;
      if (!inner.empty() && own == inner.back().first * inner.back().second)
        inner.back().first *= extent;
      else
        inner.push_back({extent, own});
    }
    return inner;
  }
};

} // namespace

// Far above what any kernel needs (measured: below 20 000), reached in seconds by a set that loops.
static constexpr int64_t kRewriteBudget = 500'000;

static GreedyRewriteConfig withBudget() {
  GreedyRewriteConfig config;
  return config.setMaxNumRewrites(kRewriteBudget)
      .setMaxIterations(20)
      .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
}

static LogicalResult settled(LogicalResult result, Operation *op, StringRef what) {
  if (failed(result))
    return op->emitError() << what << " did not settle within " << kRewriteBudget << " rewrites or 20 rounds";
  return success();
}

LogicalResult rewriteWithBudget(Operation *op, RewritePatternSet &&patterns, StringRef what, bool fold) {
  return settled(applyPatternsGreedily(op, FrozenRewritePatternSet(std::move(patterns), wrongPatterns),
                                       withBudget().enableFolding(fold)),
                 op, what);
}

LogicalResult rewriteWithBudget(ArrayRef<Operation *> ops, RewritePatternSet &&patterns, Operation *op,
                                StringRef what) {
  GreedyRewriteConfig config = withBudget().setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  return settled(applyOpPatternsGreedily(ops, FrozenRewritePatternSet(std::move(patterns), wrongPatterns), config), op,
                 what);
}

void populateCanonicalization(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() != linalg::LinalgDialect::getDialectNamespace() &&
        name.getStringRef() != vector::InsertOp::getOperationName())
      name.getCanonicalizationPatterns(patterns, context);
  patterns.add<ShapeCastOfBroadcast>(context);
}

void populateShapeCastFolding(RewritePatternSet &patterns) {
  vector::ShapeCastOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  patterns.add<ShapeCastOfBroadcast>(patterns.getContext());
}

std::unique_ptr<Pass> createCanonicalizer() {
  GreedyRewriteConfig asByDefault;
  asByDefault.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  return createCanonicalizerPass(asByDefault, wrongPatterns);
}

} // namespace tilewright
