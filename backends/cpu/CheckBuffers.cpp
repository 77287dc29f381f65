// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-check-buffers: what cpu-bufferize promises.
#include "backends/cpu/Passes.h"
#include "passes/api/Receipts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace {

// The stack a kernel may use; threads of the runtime have at least 1 MiB.
constexpr int64_t kStackCap = 256 * 1024;

class CpuCheckBuffers : public PassWrapper<CpuCheckBuffers, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuCheckBuffers)
  CpuCheckBuffers() = default;
  CpuCheckBuffers(const CpuCheckBuffers &other) : PassWrapper(other) { cap = other.cap.getValue(); }
  explicit CpuCheckBuffers(int64_t given) {
    if (given)
      cap = given;
  }
  StringRef getArgument() const override { return "cpu-check-buffers"; }
  StringRef getDescription() const override { return "Check what cpu-bufferize promises"; }

  void runOnOperation() override {
    int64_t stack = 0;
    bool tensors = false;
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (isa<memref::AllocOp>(op))
        return op->emitOpError("allocates on the heap; a kernel's buffers stand on the stack");
      if (isa<memref::CopyOp>(op))
        return op->emitOpError(
            "copies a tile buffer: a value is used after the buffer it stands in was overwritten, or a "
            "tile is computed apart from its destination");
      if (auto alloca = dyn_cast<memref::AllocaOp>(op)) {
        if (op->getParentOfType<LoopLikeOpInterface>())
          return op->emitOpError("allocates stack in a loop");
        MemRefType type = alloca.getType();
        stack += llvm::alignTo(type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8), 64);
      }
      for (Type type : op->getResultTypes())
        tensors |= isa<TensorType>(type);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (tensors) {
      getOperation().emitError("has tensors left after bufferisation");
      return signalPassFailure();
    }
    if (stack > cap) {
      getOperation().emitError("needs ") << stack << " bytes of stack for its tile buffers, allowed are "
                                         << cap.getValue();
      return signalPassFailure();
    }
    tilewright::receipt::held(getOperation(), getArgument(),
                              {"no heap allocation", "no copy of a buffer", "no stack allocation in a loop",
                               "no tensor is left after bufferisation", "the stack stays below its cap"});
  }

private:
  Option<int64_t> cap{*this, "stack-cap", llvm::cl::desc("Bytes of stack a kernel may use"), llvm::cl::init(kStackCap)};
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuCheckBuffersPass(int64_t cap) {
  return std::make_unique<CpuCheckBuffers>(cap);
}
