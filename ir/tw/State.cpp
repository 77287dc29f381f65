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

/// (C2) in the callers of functions that change a state which they are given. Calls are looked for once, so that the
/// check is linear in them: an entry calls a layer for each of a model's layers.
class CallerCheck {
public:
  explicit CallerCheck(Operation *symbolTable) {
    symbolTable->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != symbolTable && op->hasTrait<OpTrait::SymbolTable>())
        return WalkResult::skip();
      if (auto call = dyn_cast<func::CallOp>(op))
        callsOf[call.getCalleeAttr().getAttr()].push_back(call);
      return WalkResult::advance();
    });
  }

  /// `state`, an argument of a function, is changed by it.
  LogicalResult run(BlockArgument state) {
    auto function = dyn_cast<func::FuncOp>(state.getOwner()->getParentOp());
    if (!function || !state.getOwner()->isEntryBlock() || !seen.insert(state).second)
      return success();
    auto calls = callsOf.find(function.getSymNameAttr());
    if (calls == callsOf.end())
      return success();
    for (func::CallOp call : calls->second) {
      // A call with too few operands is the call's own error.
      if (call.getNumOperands() <= state.getArgNumber())
        continue;
      OpOperand &operand = call->getOpOperand(state.getArgNumber());
      if (failed(checkNoUseAfter(operand.get(), operand)))
        return failure();
      if (auto argument = dyn_cast<BlockArgument>(operand.get()); argument && failed(run(argument)))
        return failure();
    }
    return success();
  }

private:
  DenseMap<StringAttr, SmallVector<func::CallOp>> callsOf; ///< by callee
  llvm::DenseSet<Value> seen;
};

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
  auto argument = dyn_cast<BlockArgument>(getState());
  Operation *symbolTable = SymbolTable::getNearestSymbolTable(*this);
  return argument && symbolTable ? CallerCheck(symbolTable).run(argument) : success();
}

} // namespace tilewright::tw
