// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-lower-to-llvm: upstream's conversions in their order, then the attributes LLVM needs to know about kernels: the
// buffers of different arguments do not overlap, bodies are inlined into their entries, and no loop may become a call
// of a library function.
#include "backends/cpu/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace {

class CpuLowerToLLVM : public PassWrapper<CpuLowerToLLVM, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuLowerToLLVM)
  StringRef getArgument() const override { return "cpu-lower-to-llvm"; }
  StringRef getDescription() const override { return "Convert a module of kernels to the LLVM dialect"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pipeline(ModuleOp::getOperationName());
    build(pipeline);
    pipeline.getDependentDialects(registry);
    registry.insert<LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    // Data pointers among the converted arguments of each body, found while memrefs are still memrefs.
    llvm::StringMap<SmallVector<unsigned>> pointers;
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>()) {
      unsigned position = 0;
      for (Type type : func.getArgumentTypes()) {
        auto memref = dyn_cast<MemRefType>(type);
        if (memref)
          pointers[func.getName()].push_back(position + 1); // after the allocated pointer
        position += memref ? 3 + 2 * memref.getRank() : 1;
      }
    }
    OpPassManager pipeline(ModuleOp::getOperationName());
    build(pipeline);
    if (failed(runPipeline(pipeline, getOperation())))
      return signalPassFailure();

    Builder builder(&getContext());
    for (LLVM::LLVMFuncOp func : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (func.isExternal())
        continue;
      SmallVector<Attribute> passthrough{builder.getStringAttr("no-builtins"), builder.getStringAttr("nounwind")};
      if (func.isPrivate()) {
        func.setLinkage(LLVM::Linkage::Internal);
        passthrough.push_back(builder.getStringAttr("alwaysinline"));
      }
      func.setPassthroughAttr(builder.getArrayAttr(passthrough));
      if (auto found = pointers.find(func.getName()); found != pointers.end())
        for (unsigned index : found->second)
          func.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    }
  }

private:
  static void build(OpPassManager &pm) {
    pm.addPass(memref::createExpandStridedMetadataPass());
    pm.addPass(createLowerAffinePass());
    pm.addPass(arith::createArithExpandOpsPass());
    pm.addPass(createSCFToControlFlowPass());
    pm.addNestedPass<func::FuncOp>(createConvertMathToLLVMPass());
    ConvertVectorToLLVMPassOptions vectors;
    vectors.x86Vector = true;
    vectors.vectorTransposeLowering = vector::VectorTransposeLowering::Shuffle1D;
    pm.addPass(createConvertVectorToLLVMPass(vectors));
    pm.addPass(createConvertToLLVMPass());
    pm.addPass(createReconcileUnrealizedCastsPass());
    pm.addPass(createCSEPass());
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuLowerToLLVMPass() { return std::make_unique<CpuLowerToLLVM>(); }
