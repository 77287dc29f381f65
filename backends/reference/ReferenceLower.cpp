// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Passes.h"

#include "ir/check/Check.h"
#include "ir/tw/Tw.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright::reference {

namespace {

constexpr unsigned kMaxRounds = 16; ///< of decompositions that make ops to decompose

struct Created : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.push_back(op); }
  SmallVector<Operation *> ops;
};

Location withoutMetadata(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused || !fused.getMetadata())
    return location;
  return FusedLoc::get(fused.getLocations(), Attribute(), location.getContext());
}

LogicalResult decompose(ReferenceLowering op) {
  Created created;
  OpBuilder b(op->getContext(), &created);
  b.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> values = op.lowerToReference(b);
  if (failed(values))
    return failure();
  bool fits = values->size() == op->getNumResults();
  for (unsigned i = 0; fits && i < values->size(); ++i)
    fits = (*values)[i].getType() == op->getResult(i).getType();
  if (!fits)
    return op->emitOpError("has a reference lowering whose results are not of its types");
  for (Operation *made : created.ops) {
    if (llvm::any_of(*values, [&](Value value) { return value.getDefiningOp() == made; })) {
      made->setLoc(op->getLoc());
      made->setAttr("tw.origin", b.getStringAttr(op->getName().getStringRef()));
    } else {
      made->setLoc(withoutMetadata(made->getLoc()));
    }
  }
  op->replaceAllUsesWith(*values);
  op->erase();
  return success();
}

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
  for (unsigned round = 0; round <= kMaxRounds; ++round) {
    SmallVector<ReferenceLowering> ops;
    module.walk([&](ReferenceLowering op) { ops.push_back(op); });
    if (ops.empty())
      return success();
    if (round == kMaxRounds)
      return ops.front()->emitOpError("still stands after ")
             << kMaxRounds << " rounds of reference lowerings; they do not end in core ops";
    for (ReferenceLowering op : ops)
      if (failed(decompose(op)))
        return failure();
  }
  return success();
}

std::unique_ptr<Pass> createReferenceLowerPass() { return std::make_unique<ReferenceLower>(); }

} // namespace tilewright::reference
