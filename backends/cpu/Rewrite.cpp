// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/Rewrite.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tilewright {

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
  return settled(applyPatternsGreedily(op, std::move(patterns), withBudget().enableFolding(fold)), op, what);
}

LogicalResult rewriteWithBudget(ArrayRef<Operation *> ops, RewritePatternSet &&patterns, Operation *op,
                                StringRef what) {
  GreedyRewriteConfig config = withBudget().setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  return settled(applyOpPatternsGreedily(ops, std::move(patterns), config), op, what);
}

void populateCanonicalization(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() != linalg::LinalgDialect::getDialectNamespace() &&
        name.getStringRef() != vector::InsertOp::getOperationName())
      name.getCanonicalizationPatterns(patterns, context);
}

} // namespace tilewright
