// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-check-vectors: before LLVM no op is left whose generic lowering would be slow or wrong.
#include "backends/cpu/Passes.h"
#include "passes/api/Receipts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace {

class CpuCheckVectors : public PassWrapper<CpuCheckVectors, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuCheckVectors)
  StringRef getArgument() const override { return "cpu-check-vectors"; }
  StringRef getDescription() const override { return "Check that only 1-D vector ops are left"; }

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (isa<vector::ContractionOp>(op))
        return op->emitOpError(
            "has no instruction on this level: wanted an accumulator whose innermost dimension is the "
            "right operand's (f32), or packed quads of one signed and one unsigned byte operand (i8), "
            "or packed pairs (bf16)");
      if (isa<vector::TransferReadOp, vector::TransferWriteOp, vector::MultiDimReductionOp, vector::GatherOp>(op))
        return op->emitOpError("is left before LLVM: it has no 1-D form");
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    tilewright::receipt::held(getOperation(), getArgument(),
                              {"no contraction is left before LLVM",
                               "no transfer, gather or multi-dimensional reduction is left before LLVM"});
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuCheckVectorsPass() { return std::make_unique<CpuCheckVectors>(); }
