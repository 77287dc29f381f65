// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/Memory.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace tilewright {

Value bufferRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

SmallVector<MemoryAccess> accessesOf(Operation *op) {
  SmallVector<MemoryAccess> accesses;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<MemRefType>(operand.get().getType())) {
        bool init = linalgOp.isDpsInit(&operand);
        accesses.push_back({bufferRoot(operand.get()), !init || linalgOp.payloadUsesValueFromOperand(&operand), init});
      }
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    accesses.push_back({bufferRoot(load.getMemRef()), true, false});
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    accesses.push_back({bufferRoot(store.getMemRef()), false, true});
  } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    accesses.push_back({bufferRoot(copy.getSource()), true, false});
    accesses.push_back({bufferRoot(copy.getTarget()), false, true});
  }
  return accesses;
}

} // namespace tilewright
