// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/Compile.h"

#include "backends/cuda/Emit.h"
#include "backends/cuda/Layouts.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace tilewright {

FailureOr<PtxKernel> compileToPtx(func::FuncOp kernel, StringRef architecture, CudaNumerics numerics) {
  MLIRContext *context = kernel.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  auto copy = cast<func::FuncOp>(kernel->clone());
  copy.setPublic();
  module->push_back(copy);
  PassManager pm(context, ModuleOp::getOperationName());
  buildCudaPipeline(pm, numerics);
  if (failed(pm.run(*module)))
    return failure();

  PtxKernel result{kernel.getName().str(), {}, 0, 0};
  for (auto func : module->getOps<LLVM::LLVMFuncOp>()) {
    if (auto threads = func->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid"))
      result.threads = threads[0];
    if (auto bytes = func->getAttrOfType<IntegerAttr>(kSharedBytesAttr))
      result.sharedBytes = bytes.getInt();
  }
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(*module, llvmContext);
  if (!translated)
    return kernel.emitError("cannot be translated to LLVM IR");
  llvm::Expected<std::string> ptx = emitPtx(*translated, architecture);
  if (!ptx)
    return kernel.emitError(llvm::toString(ptx.takeError()));
  result.ptx = std::move(*ptx);
  return result;
}

} // namespace tilewright
