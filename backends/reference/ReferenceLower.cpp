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
  return decomposeAll(module, [](ReferenceLowering) { return true; });
}

std::unique_ptr<Pass> createReferenceLowerPass() { return std::make_unique<ReferenceLower>(); }

} // namespace tilewright::reference
