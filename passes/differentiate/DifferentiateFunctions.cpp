// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/differentiate/Differentiate.h"

#include "ir/tw/Tw.h"

using namespace mlir;

namespace tilewright {

namespace {

struct DifferentiateFunctions : PassWrapper<DifferentiateFunctions, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DifferentiateFunctions)

  StringRef getArgument() const final { return "differentiate-functions"; }
  StringRef getDescription() const final { return "adds the gradient of each function that asks for it"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<tw::TwDialect>(); }

  void runOnOperation() final {
    for (func::FuncOp function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      Attribute attribute = function->getAttr(differentiateAttribute);
      if (!attribute)
        continue;
      auto wrt = dyn_cast<DenseI64ArrayAttr>(attribute);
      if (!wrt) {
        function.emitOpError("wants argument numbers in ")
            << differentiateAttribute << ", array<i64: ...>, found " << attribute;
        return signalPassFailure();
      }
      function->removeAttr(differentiateAttribute);
      if (failed(differentiate(function, wrt)))
        return signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createDifferentiateFunctionsPass() { return std::make_unique<DifferentiateFunctions>(); }

} // namespace tilewright
