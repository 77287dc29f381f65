// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-bufferize: One-Shot Bufferize of a kernel. Arguments are used in place; each tile buffer is one stack allocation
// at the function's entry, whatever loop it stands in: its size is static and no value of it survives a round of its
// loop (One-Shot refuses to yield a buffer that is allocated inside).
#include "backends/cpu/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace {

class CpuBufferize : public PassWrapper<CpuBufferize, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuBufferize)
  StringRef getArgument() const override { return "cpu-bufferize"; }
  StringRef getDescription() const override { return "Turn a kernel's tensors into memory, tile buffers on the stack"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<bufferization::BufferizationDialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    bufferization::OneShotBufferizationOptions options;
    options.bufferAlignment = 64;
    options.allocationFn = [&](OpBuilder &builder, Location loc, MemRefType type, ValueRange dynamic,
                               unsigned alignment) -> FailureOr<Value> {
      if (!type.hasStaticShape()) {
        emitError(loc) << "a tile buffer has the dynamic type " << type << "; tiles of a kernel are static";
        return failure();
      }
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&func.getBody().front());
      return memref::AllocaOp::create(builder, loc, type, builder.getI64IntegerAttr(alignment)).getResult();
    };
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotBufferize(func, options, state)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuBufferizePass() { return std::make_unique<CpuBufferize>(); }
