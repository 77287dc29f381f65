// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/Decompose.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright {

namespace {

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

} // namespace

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

} // namespace tilewright
