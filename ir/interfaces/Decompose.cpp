// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/Decompose.h"

#include "ir/interfaces/ValueTags.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright {

namespace {

struct Created : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.push_back(op); }
  SmallVector<Operation *> ops;
};

/// Neither a tag nor the name of a value.
Location withoutMetadata(Location location) {
  location = withoutTag(location);
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
  for (Operation *made : created.ops)
    made->setLoc(withoutMetadata(made->getLoc()));
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
    Operation *made = value.getDefiningOp();
    if (!llvm::is_contained(created.ops, made))
      continue;
    made->setLoc(op->getLoc());
    made->setAttr("tw.origin", b.getStringAttr(op->getName().getStringRef()));
    // Which result of the decomposed op this is; an op decomposed before it had only this one left.
    if (Attribute outer = op->getAttr("tw.origin_result"))
      made->setAttr("tw.origin_result", outer);
    else if (op->getNumResults() > 1)
      made->setAttr("tw.origin_result", b.getI64IntegerAttr(result.getResultNumber()));
  }
  op->replaceAllUsesWith(*values);
  op->erase();
  return success();
}

LogicalResult decomposeAll(Operation *root, llvm::function_ref<bool(ReferenceLowering)> wanted) {
  for (unsigned round = 0;; ++round) {
    SmallVector<ReferenceLowering> ops;
    root->walk([&](ReferenceLowering op) {
      if (wanted(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return success();
    if (round == maxDecompositions)
      return ops.front()->emitOpError("still stands after ")
             << maxDecompositions << " rounds of reference lowerings; they do not end in core ops";
    for (ReferenceLowering op : ops)
      if (failed(decompose(op)))
        return failure();
  }
}

} // namespace tilewright
