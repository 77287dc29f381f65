// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/Decompose.h"

#include "ir/interfaces/ValueTags.h"
#include "ir/interfaces/Verify.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright {

namespace {

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
  OpBuilder b(op);
  Operation *before = op->getPrevNode();
  FailureOr<SmallVector<Value>> values = op.lowerToReference(b);
  if (failed(values) || failed(verifyGivenTypes(op, "ReferenceLowering", *values)))
    return failure();
  // What stands there now, not what the builder was told: a lowering may take back an op that it made.
  llvm::SmallPtrSet<Operation *, 8> created;
  for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front(); made != op;
       made = made->getNextNode()) {
    created.insert(made);
    made->walk([](Operation *each) { each->setLoc(withoutMetadata(each->getLoc())); });
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
    Operation *made = value.getDefiningOp();
    if (!created.contains(made))
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
