// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/Compile.h"

#include "backends/cpu/Emit.h"
#include "backends/cpu/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace tilewright {

static FailureOr<ObjectBytes> emit(ModuleOp module, const CpuLevel &level, EmitKind kind) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(module, context);
  if (!translated)
    return module.emitError("cannot be translated to LLVM IR");
  llvm::Expected<ObjectBytes> bytes = emitModule(*translated, level, kind);
  if (!bytes)
    return module.emitError(llvm::toString(bytes.takeError()));
  return std::move(*bytes);
}

FailureOr<ObjectBytes> emitObject(ModuleOp module, const CpuLevel &level) {
  return emit(module, level, EmitKind::Object);
}

FailureOr<ObjectBytes> emitAssembly(ModuleOp module, const CpuLevel &level) {
  return emit(module, level, EmitKind::Assembly);
}

FailureOr<std::vector<ObjectBytes>> compileKernels(ModuleOp module, const CpuLevel &level,
                                                   llvm::StringRef symbolSuffix) {
  MLIRContext *context = module.getContext();
  // One module per kernel: passes and LLVM then run on all of them at once.
  OwningOpRef<ModuleOp> all = ModuleOp::create(module.getLoc());
  OpBuilder builder(context);
  SmallVector<ModuleOp> kernels;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic() || func.isExternal())
      continue;
    builder.setInsertionPointToEnd(all->getBody());
    auto each = ModuleOp::create(builder, func.getLoc());
    builder.setInsertionPointToEnd(each.getBody());
    auto clone = cast<func::FuncOp>(builder.clone(*func));
    clone.setName((func.getName() + symbolSuffix).str());
    kernels.push_back(each);
  }
  PassManager pm(context, ModuleOp::getOperationName());
  buildCpuPipeline(pm.nest<ModuleOp>(), level);
  if (failed(pm.run(*all)))
    return failure();

  std::vector<ObjectBytes> objects(kernels.size());
  LogicalResult result = failableParallelForEachN(context, 0, kernels.size(), [&](size_t i) -> LogicalResult {
    FailureOr<ObjectBytes> object = emitObject(kernels[i], level);
    if (failed(object))
      return failure();
    objects[i] = std::move(*object);
    return success();
  });
  if (failed(result))
    return failure();
  return objects;
}

} // namespace tilewright
