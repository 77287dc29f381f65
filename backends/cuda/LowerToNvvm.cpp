// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuda-lower-to-nvvm: upstream's conversions in their order, then what LLVM and ptxas need to know about kernels: which
// functions are entries, the threads of their blocks, and that bodies are inlined into them.
#include "backends/cuda/Layouts.h"
#include "backends/cuda/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

namespace {

class CudaLowerToNvvm : public PassWrapper<CudaLowerToNvvm, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CudaLowerToNvvm)
  StringRef getArgument() const override { return "cuda-lower-to-nvvm"; }
  StringRef getDescription() const override { return "Convert a module of kernels to the NVVM and LLVM dialects"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pipeline(ModuleOp::getOperationName());
    build(pipeline);
    pipeline.getDependentDialects(registry);
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  }

  void runOnOperation() override {
    declareShared();
    OpPassManager pipeline(ModuleOp::getOperationName());
    build(pipeline);
    if (failed(runPipeline(pipeline, getOperation())) || failed(convert()))
      return signalPassFailure();
    OpPassManager after(ModuleOp::getOperationName());
    after.addPass(createReconcileUnrealizedCastsPass());
    after.addPass(createCSEPass());
    if (failed(runPipeline(after, getOperation())))
      return signalPassFailure();
    for (LLVM::LLVMFuncOp func : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (!func.isExternal())
        describe(func);
  }

private:
  static void build(OpPassManager &pm) {
    pm.addPass(memref::createExpandStridedMetadataPass());
    pm.addPass(createLowerAffinePass());
    pm.addPass(arith::createArithExpandOpsPass());
    pm.addPass(createSCFToControlFlowPass());
    pm.addNestedPass<func::FuncOp>(createConvertMathToLLVMPass());
  }

  /// Dynamic shared memory as the extern variable that it is in PTX; upstream's pattern wants a gpu.module around it.
  void declareShared() {
    memref::GlobalOp shared;
    getOperation().walk([&](gpu::DynamicSharedMemoryOp op) {
      OpBuilder builder(op);
      auto type = MemRefType::get({0}, builder.getI8Type(), MemRefLayoutAttrInterface(), op.getType().getMemorySpace());
      if (!shared) {
        builder.setInsertionPointToStart(getOperation().getBody());
        shared = memref::GlobalOp::create(builder, op.getLoc(), builder.getStringAttr("shared"),
                                          /*sym_visibility=*/StringAttr(), TypeAttr::get(type),
                                          /*initial_value=*/Attribute(), /*constant=*/UnitAttr(),
                                          builder.getI64IntegerAttr(16));
        builder.setInsertionPoint(op);
      }
      Value start = memref::GetGlobalOp::create(builder, op.getLoc(), type, "shared");
      op.replaceAllUsesWith(memref::CastOp::create(builder, op.getLoc(), op.getType(), start).getResult());
      op.erase();
    });
  }

  LogicalResult convert() {
    MLIRContext *context = &getContext();
    LowerToLLVMOptions options(context);
    options.overrideIndexBitwidth(64);
    LLVMTypeConverter converter(context, options);
    populateGpuMemorySpaceAttributeConversions(converter, [](gpu::AddressSpace space) -> unsigned {
      switch (space) {
      case gpu::AddressSpace::Global:
        return 1;
      case gpu::AddressSpace::Workgroup:
        return 3;
      case gpu::AddressSpace::Private:
        return 0;
      }
      llvm_unreachable("all address spaces are covered");
    });
    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateGpuToNVVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                             memref::MemRefDialect, ub::UBDialect>();
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  static void describe(LLVM::LLVMFuncOp func) {
    Builder builder(func.getContext());
    SmallVector<Attribute> passthrough{builder.getStringAttr("no-builtins"), builder.getStringAttr("nounwind")};
    if (auto warps = func->getAttrOfType<IntegerAttr>(kWarpsAttr)) {
      func->removeAttr(kWarpsAttr);
      func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
      // Registers before blocks: ptxas would rather spill a few than have one block less on a multiprocessor.
      func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(1));
      func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({static_cast<int32_t>(warps.getInt() * kWarpSize)}));
    } else {
      func.setLinkage(LLVM::Linkage::Internal);
      passthrough.push_back(builder.getStringAttr("alwaysinline"));
    }
    func.setPassthroughAttr(builder.getArrayAttr(passthrough));
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCudaLowerToNvvmPass() { return std::make_unique<CudaLowerToNvvm>(); }
