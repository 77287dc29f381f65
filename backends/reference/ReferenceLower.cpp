// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Passes.h"

#include "ir/check/Check.h"
#include "ir/interfaces/Decompose.h"
#include "ir/tw/Tw.h"

using namespace mlir;

namespace tilewright::reference {

namespace {

struct ReferenceLower : PassWrapper<ReferenceLower, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReferenceLower)

  StringRef getArgument() const final { return "reference-lower"; }
  StringRef getDescription() const final { return "Replace technique ops by the core ops that define them"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<tw::TwDialect>(); }
  void runOnOperation() final {
    if (failed(lowerToCoreOps(getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult lowerToCoreOps(ModuleOp module) {
  for (unsigned round = 0; round <= maxDecompositions; ++round) {
    SmallVector<ReferenceLowering> ops;
    module.walk([&](ReferenceLowering op) { ops.push_back(op); });
    if (ops.empty())
      return success();
    if (round == maxDecompositions)
      return ops.front()->emitOpError("still stands after ")
             << maxDecompositions << " rounds of reference lowerings; they do not end in core ops";
    for (ReferenceLowering op : ops)
      if (failed(decompose(op)))
        return failure();
  }
  return success();
}

std::unique_ptr<Pass> createReferenceLowerPass() { return std::make_unique<ReferenceLower>(); }

} // namespace tilewright::reference
