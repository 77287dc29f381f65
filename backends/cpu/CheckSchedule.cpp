// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-check-schedule: what cpu-schedule-tiles promises.
#include "backends/cpu/LevelOption.h"
#include "backends/cpu/Passes.h"
#include "ir/tile/Tile.h"
#include "passes/api/Receipts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

namespace {

class CpuCheckSchedule : public CpuLevelPass<CpuCheckSchedule> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuCheckSchedule)
  using CpuLevelPass::CpuLevelPass;
  StringRef getArgument() const override { return "cpu-check-schedule"; }
  StringRef getDescription() const override { return "Check what cpu-schedule-tiles promises"; }

  void runOnOperation() override {
    // A block of accumulators, or a row that had no smaller form.
    int64_t limit = level->vectorBytes * level->vectorRegisters;
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (isa<linalg::LinalgOp, tile::LoadFieldOp, tile::LoadBitsOp>(op))
        return op->emitOpError("is left after scheduling: it has no vector form");
      for (Type type : op->getResultTypes())
        if (auto vector = dyn_cast<VectorType>(type); vector && bytes(vector) > limit && !isVirtual(op))
          return op->emitOpError("makes ") << vector << ", " << bytes(vector) << " bytes; level '" << level->name
                                           << "' holds at most " << limit << " in its registers";
      if (auto contract = dyn_cast<vector::ContractionOp>(op))
        return checkLoop(contract);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    receipt::held(getOperation(), getArgument(),
                  {"no linalg op is left after the schedule", "no vector is wider than the level's registers",
                   "accumulators of reduction loops are iter_args"});
  }

private:
  /// A value that no instruction makes: repeated numbers, and widenings that are part of a contraction's instruction.
  static bool isVirtual(Operation *op) {
    return isa<vector::BroadcastOp, arith::ConstantOp>(op) ||
           (isa<arith::ExtSIOp, arith::ExtUIOp, arith::ExtFOp>(op) &&
            llvm::all_of(op->getUsers(), llvm::IsaPred<vector::ContractionOp>));
  }

  static int64_t bytes(VectorType type) {
    unsigned bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
    return type.getNumElements() * static_cast<int64_t>(llvm::divideCeil(bits, 8));
  }

  /// In the innermost loop around a contraction accumulators are loop-carried vectors, never memory.
  static WalkResult checkLoop(vector::ContractionOp contract) {
    auto loop = contract->getParentOfType<scf::ForOp>();
    if (!loop)
      return WalkResult::advance();
    bool innermost = true;
    loop.getBody()->walk([&](LoopLikeOpInterface) { innermost = false; });
    if (!innermost || isRowLoop(loop, contract))
      return WalkResult::advance();
    if (!isReadInLoop(contract.getAcc(), loop))
      return WalkResult::advance();
    for (Operation &op : *loop.getBody())
      if (isa<vector::TransferWriteOp>(op))
        return op.emitOpError(
            "stands in the reduction loop of a contraction: its accumulator is not carried in registers");
    return WalkResult::advance();
  }

  /// Whether the accumulator `value` comes from memory in each round, perhaps by way of other contractions.
  static bool isReadInLoop(Value value, scf::ForOp loop) {
    Operation *op = value.getDefiningOp();
    if (!op || loop.isDefinedOutsideOfLoop(value))
      return false;
    if (auto before = dyn_cast<vector::ContractionOp>(op))
      return isReadInLoop(before.getAcc(), loop);
    return isa<vector::TransferReadOp>(op) ||
           llvm::any_of(op->getOperands(), [&](Value operand) { return isReadInLoop(operand, loop); });
  }

  /// A loop over tiles of the result (its counter selects what is written) rather than over a reduction.
  static bool isRowLoop(scf::ForOp loop, vector::ContractionOp contract) {
    for (Operation &op : *loop.getBody())
      if (auto write = dyn_cast<vector::TransferWriteOp>(op))
        for (Value index : write.getIndices())
          if (!loop.isDefinedOutsideOfLoop(index))
            return true;
    return false;
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuCheckSchedulePass(const CpuLevel *level) {
  return std::make_unique<CpuCheckSchedule>(level);
}
