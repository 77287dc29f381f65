// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-bools-to-bytes: memory of i1 becomes memory of i8. A boolean takes a byte in memory, but LLVM packs the elements
// of a vector of i1 to bits when it is stored.
#include "backends/cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace {

Type bytesOf(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !memref.getElementType().isInteger(1))
    return {};
  return MemRefType::Builder(memref).setElementType(IntegerType::get(type.getContext(), 8)).operator MemRefType();
}

class CpuBoolsToBytes : public PassWrapper<CpuBoolsToBytes, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuBoolsToBytes)
  StringRef getArgument() const override { return "cpu-bools-to-bytes"; }
  StringRef getDescription() const override { return "Keep booleans as bytes in memory"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, memref::MemRefDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<Operation *> accesses;
    auto retype = [](Value value) {
      if (Type bytes = bytesOf(value.getType()))
        value.setType(bytes);
    };
    WalkResult walked = function.walk([&](Operation *op) -> WalkResult {
      bool touches = llvm::any_of(op->getOperandTypes(), [](Type type) { return static_cast<bool>(bytesOf(type)); });
      if (touches && isa<vector::TransferReadOp, vector::TransferWriteOp, memref::LoadOp, memref::StoreOp>(op))
        accesses.push_back(op);
      else if (touches && !isa<ViewLikeOpInterface>(op))
        return op->emitOpError("works on memory of i1 in a way that has no form on bytes");
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    // Views and allocations follow their operands.
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        retype(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            retype(argument);
    });
    function.setFunctionType(
        FunctionType::get(&getContext(), function.front().getArgumentTypes(), function.getFunctionType().getResults()));
    for (Operation *op : accesses)
      rewrite(op);
  }

private:
  static void rewrite(Operation *op) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto like = [](Type type, Type element) -> Type {
      if (auto vector = dyn_cast<VectorType>(type))
        return vector.clone(element);
      return element;
    };
    Type i8 = b.getI8Type(), i1 = b.getI1Type();
    Value padding = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
    if (isa<vector::TransferReadOp, memref::LoadOp>(op)) {
      Value bytes;
      Value result = op->getResult(0);
      if (auto read = dyn_cast<vector::TransferReadOp>(op))
        bytes = vector::TransferReadOp::create(b, loc, like(read.getType(), i8), read.getBase(), read.getIndices(),
                                               read.getPermutationMapAttr(), padding, read.getMask(),
                                               read.getInBoundsAttr());
      else
        bytes = memref::LoadOp::create(b, loc, op->getOperand(0), cast<memref::LoadOp>(op).getIndices());
      result.replaceAllUsesWith(arith::TruncIOp::create(b, loc, like(result.getType(), i1), bytes));
    } else if (auto write = dyn_cast<vector::TransferWriteOp>(op)) {
      Value bytes = arith::ExtUIOp::create(b, loc, like(write.getVector().getType(), i8), write.getVector());
      vector::TransferWriteOp::create(b, loc, bytes, write.getBase(), write.getIndices(), write.getPermutationMapAttr(),
                                      write.getMask(), write.getInBoundsAttr());
    } else {
      auto storeOp = cast<memref::StoreOp>(op);
      Value byte = arith::ExtUIOp::create(b, loc, i8, storeOp.getValue());
      memref::StoreOp::create(b, loc, byte, storeOp.getMemref(), storeOp.getIndices());
    }
    op->erase();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuBoolsToBytesPass() { return std::make_unique<CpuBoolsToBytes>(); }
