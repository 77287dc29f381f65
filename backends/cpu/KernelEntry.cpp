// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-kernel-entry: the entry `void NAME(void *const *args, int64_t begin, int64_t end)` of each public kernel
// (tw_abi_kernel in runtime/api/abi.h), which calls the kernel's body NAME.body.
//
// args[i] is, for the i-th argument of the kernel without the two trailing ones, the data pointer of a memref, or the
// value of an index or scalar in a 64-bit slot. backends/api/KernelSignature.h says how sizes are found.
#include "backends/cpu/Passes.h"

#include "backends/api/KernelSignature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilewright;

namespace {

class CpuKernelEntry : public PassWrapper<CpuKernelEntry, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuKernelEntry)
  StringRef getArgument() const override { return "cpu-kernel-entry"; }
  StringRef getDescription() const override { return "Add the entries that the runtime calls"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect>();
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
  LogicalResult addEntry(func::FuncOp kernel) {
    FailureOr<KernelSignature> signature = KernelSignature::of(kernel);
    if (failed(signature))
      return failure();
    MLIRContext *context = &getContext();
    Location loc = kernel.getLoc();
    std::string name = kernel.getName().str();
    OpBuilder builder(kernel);
    auto pointer = LLVM::LLVMPointerType::get(context);
    Type i64 = builder.getI64Type();
    auto entry = func::FuncOp::create(builder, loc, name, builder.getFunctionType({pointer, i64, i64}, {}));
    kernel.setName(name + ".body");
    kernel.setPrivate();
    Block *block = entry.addEntryBlock();
    builder.setInsertionPointToStart(block);

    SmallVector<Value> slots;
    for (unsigned i = 0; i < signature->size(); ++i)
      slots.push_back(
          LLVM::GEPOp::create(builder, loc, pointer, i64, block->getArgument(0), ArrayRef<LLVM::GEPArg>(i)));
    SmallVector<Value> arguments;
    for (auto [i, slot] : llvm::enumerate(slots)) {
      Type type = kernel.getArgument(i).getType();
      if (!isa<MemRefType>(type)) {
        arguments.push_back(loadScalar(builder, loc, type, slot));
        continue;
      }
      Value data = LLVM::LoadOp::create(builder, loc, pointer, slot);
      FailureOr<Value> buffer = signature->buffer(builder, i, data, [&](unsigned symbol) -> Value {
        return LLVM::LoadOp::create(builder, loc, i64, slots[symbol]);
      });
      if (failed(buffer))
        return failure();
      arguments.push_back(*buffer);
    }
    for (unsigned i : {1, 2})
      arguments.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), block->getArgument(i)));
    func::CallOp::create(builder, loc, kernel, arguments);
    func::ReturnOp::create(builder, loc);
    signature->removeAttributes();
    return success();
  }

  static Value loadScalar(OpBuilder &builder, Location loc, Type type, Value slot) {
    Type loaded = type.isIndex() ? builder.getI64Type() : type;
    Value value = LLVM::LoadOp::create(builder, loc, loaded, slot);
    if (type.isIndex())
      value = arith::IndexCastOp::create(builder, loc, type, value);
    return value;
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuKernelEntryPass() { return std::make_unique<CpuKernelEntry>(); }
