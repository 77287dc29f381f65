// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuda-kernel-entry: the entry of each public kernel, which calls the kernel's body NAME.body for one chunk.
//
// Its parameters are those of the kernel without the range of chunks: the address of a memref, an index as i64, a
// scalar as it is; and, last, the first chunk (i64) of the launch. Block b of the grid works on chunk first + b.
#include "backends/cuda/Layouts.h"
#include "backends/cuda/Passes.h"

#include "backends/api/KernelSignature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilewright;

namespace {

class CudaKernelEntry : public PassWrapper<CudaKernelEntry, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CudaKernelEntry)
  StringRef getArgument() const override { return "cuda-kernel-entry"; }
  StringRef getDescription() const override { return "Add the entries that a launch calls"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (func.isPublic() && !func.isExternal())
        kernels.push_back(func);
    for (func::FuncOp kernel : kernels)
      if (failed(addEntry(kernel)))
        return signalPassFailure();
  }

private:
  static LogicalResult addEntry(func::FuncOp kernel) {
    FailureOr<KernelSignature> signature = KernelSignature::of(kernel);
    if (failed(signature))
      return failure();
    auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttr);
    if (!warps)
      return kernel.emitError("has no attribute '") << kWarpsAttr << "': cuda-stage-tiles did not run";
    Location loc = kernel.getLoc();
    OpBuilder builder(kernel);
    Type i64 = builder.getI64Type();
    SmallVector<Type> types;
    for (Type type : kernel.getArgumentTypes().drop_back(2))
      types.push_back(isa<MemRefType>(type) ? Type(LLVM::LLVMPointerType::get(builder.getContext()))
                      : type.isIndex()      ? i64
                                            : type);
    types.push_back(i64);
    std::string name = kernel.getName().str();
    auto entry = func::FuncOp::create(builder, loc, name, builder.getFunctionType(types, {}));
    entry->setAttr(kWarpsAttr, warps);
    kernel.setName(name + ".body");
    kernel.setPrivate();
    kernel->removeAttr(kWarpsAttr);
    Block *block = entry.addEntryBlock();
    builder.setInsertionPointToStart(block);
    auto asIndex = [&](Value value) -> Value {
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
    };
    SmallVector<Value> arguments;
    for (unsigned i = 0; i < signature->size(); ++i) {
      Value argument = block->getArgument(i);
      Type type = kernel.getArgument(i).getType();
      if (isa<MemRefType>(type)) {
        FailureOr<Value> buffer = signature->buffer(
            builder, i, argument, [&](unsigned symbol) -> Value { return block->getArgument(symbol); });
        if (failed(buffer))
          return failure();
        argument = *buffer;
      } else if (type.isIndex()) {
        argument = asIndex(argument);
      }
      arguments.push_back(argument);
    }
    Value chunk = asIndex(block->getArguments().back());
    chunk = arith::AddIOp::create(builder, loc, chunk, gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
    arguments.push_back(chunk);
    arguments.push_back(arith::AddIOp::create(builder, loc, chunk, arith::ConstantIndexOp::create(builder, loc, 1)));
    func::CallOp::create(builder, loc, kernel, arguments);
    func::ReturnOp::create(builder, loc);
    signature->removeAttributes();
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCudaKernelEntryPass() { return std::make_unique<CudaKernelEntry>(); }
