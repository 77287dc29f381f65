// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// broken-simplify: two negations are none; and the faults that a pass can have.
#include "tests/conformance/broken/Broken.h"
#include "tests/conformance/broken/Fault.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::broken {

using namespace mlir;

namespace {

struct Simplify : PassWrapper<Simplify, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Simplify)
  StringRef getArgument() const final { return "broken-simplify"; }
  StringRef getDescription() const final { return "Two negations are none"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<tw::TwDialect>(); }

  void runOnOperation() final {
    if (isFault("pass_loops"))
      for (volatile bool more = true; more;) {
      }
    if (isFault("pass_crashes"))
      *static_cast<volatile int *>(nullptr) = 1;
    if (isFault("pass_changes_nothing"))
      return;
    SmallVector<tw::NegOp> outer;
    getOperation().walk([&](tw::NegOp neg) {
      if (neg.getInput().getDefiningOp<tw::NegOp>())
        outer.push_back(neg);
    });
    for (tw::NegOp neg : outer)
      simplify(neg, neg.getInput().getDefiningOp<tw::NegOp>());
    if (isFault("pass_not_idempotent"))
      getOperation().walk([](func::FuncOp function) {
        auto before = function->getAttrOfType<IntegerAttr>("broken.runs");
        function->setAttr("broken.runs", Builder(function).getI64IntegerAttr(before ? before.getInt() + 1 : 1));
      });
  }

  void simplify(tw::NegOp outer, tw::NegOp inner) {
    if (isFault("pass_fails")) {
      outer.emitOpError("is too negative");
      return signalPassFailure();
    }
    if (isFault("pass_leaves_invalid_ir"))
      return inner->moveAfter(outer); // stands behind its use
    if (isFault("pass_changes_result"))
      return outer.replaceAllUsesWith(inner.getResult());
    outer.replaceAllUsesWith(inner.getInput());
    outer.erase();
    if (inner.use_empty())
      inner.erase();
  }
};

} // namespace

std::unique_ptr<Pass> createSimplify() { return std::make_unique<Simplify>(); }

} // namespace tilewright::broken
