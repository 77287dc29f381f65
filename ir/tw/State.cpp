// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tw.append and the linearity of states: after an op that changes a state, the old value may not be used.
#include "ir/tw/Tw.h"

#include "ir/tw/Shapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

/// (C2): no use of `state` stands behind `change`, an op that changes it. A use in another region counts where the ops
/// around it do.
LogicalResult checkNoUseAfter(Value state, OpOperand &change) {
  Operation *op = change.getOwner();
  for (OpOperand &use : state.getUses()) {
    if (&use == &change)
      continue;
    Operation *user = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (user && user != op && user->isBeforeInBlock(op))
      continue;
    InFlightDiagnostic error =
        use.getOwner()->emitOpError("uses a state after an op has changed it; a state is not copied");
    error.attachNote(op->getLoc()) << "changed here";
    return error;
  }
  return success();
}

/// (C2) in the callers: `state`, an argument of a function, is changed by it.
LogicalResult checkCallers(BlockArgument state, llvm::DenseSet<Value> &seen) {
  auto function = dyn_cast<func::FuncOp>(state.getOwner()->getParentOp());
  if (!function || !state.getOwner()->isEntryBlock() || !seen.insert(state).second)
    return success();
  Operation *module = SymbolTable::getNearestSymbolTable(function);
  std::optional<SymbolTable::UseRange> uses = module ? SymbolTable::getSymbolUses(function, module) : std::nullopt;
  if (!uses)
    return success();
  for (SymbolTable::SymbolUse use : *uses) {
    auto call = dyn_cast<func::CallOp>(use.getUser());
    // A call with too few operands is the call's own error.
    if (!call || call.getNumOperands() <= state.getArgNumber())
      continue;
    OpOperand &operand = call->getOpOperand(state.getArgNumber());
    if (failed(checkNoUseAfter(operand.get(), operand)))
      return failure();
    if (auto argument = dyn_cast<BlockArgument>(operand.get()); argument && failed(checkCallers(argument, seen)))
      return failure();
  }
  return success();
}

} // namespace

LogicalResult AppendOp::verify() {
  ArrayRef<RankedTensorType> buffers = getState().getType().getBuffers();
  // (C1)
  if (getValues().size() != buffers.size())
    return emitOpError("has ") << getValues().size() << " values, wanted one per buffer of the state, "
                               << buffers.size();
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    auto value = cast<RankedTensorType>(getValues()[i].getType());
    if (value.getElementType() != buffer.getElementType() || !shapesAgree(value.getShape(), buffer.getShape()))
      return emitOpError("value ") << i << " is " << value << ", wanted the buffer's type " << buffer
                                   << " but for the number of rows";
  }
  if (getRowStart().getType().getRank() != 1)
    return emitOpError("row_start has rank ") << getRowStart().getType().getRank() << ", wanted 1";
  // (C2)
  return checkNoUseAfter(getState(), getStateMutable());
}

LogicalResult AppendOp::verifySymbolUses(SymbolTableCollection &) {
  llvm::DenseSet<Value> seen;
  auto argument = dyn_cast<BlockArgument>(getState());
  return argument ? checkCallers(argument, seen) : success();
}

} // namespace tilewright::tw
