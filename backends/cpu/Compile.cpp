// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/Compile.h"

#include "backends/cpu/Emit.h"
#include "backends/cpu/Passes.h"
#include "passes/api/CompileTrace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace tilewright {

static FailureOr<ObjectBytes> emit(ModuleOp module, const CpuLevel &level, EmitKind kind, std::string *text,
                                   Effort effort) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(module, context);
  if (!translated)
    return module.emitError("cannot be translated to LLVM IR");
  llvm::Expected<ObjectBytes> bytes = emitModule(*translated, level, kind, text, effort);
  if (!bytes)
    return module.emitError(llvm::toString(bytes.takeError()));
  return std::move(*bytes);
}

FailureOr<ObjectBytes> emitObject(ModuleOp module, const CpuLevel &level, std::string *text, Effort effort) {
  return emit(module, level, EmitKind::Object, text, effort);
}

FailureOr<ObjectBytes> emitAssembly(ModuleOp module, const CpuLevel &level) {
  return emit(module, level, EmitKind::Assembly, /*text=*/nullptr, Effort::Full);
}

namespace {

/// A module of one kernel, under the kernel's final name.
struct KernelModule {
  std::string name;
  ModuleOp module;
};

} // namespace

/// The public functions of `module`, each in a module of its own inside `all`: passes and LLVM then run on all of them
/// at once.
static SmallVector<KernelModule> splitKernels(ModuleOp module, StringRef symbolSuffix, ModuleOp all) {
  SmallVector<KernelModule> kernels;
  OpBuilder builder(module.getContext());
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic() || func.isExternal())
      continue;
    builder.setInsertionPointToEnd(all.getBody());
    auto each = ModuleOp::create(builder, func.getLoc());
    builder.setInsertionPointToEnd(each.getBody());
    auto clone = cast<func::FuncOp>(builder.clone(*func));
    clone.setName((func.getName() + symbolSuffix).str());
    kernels.push_back({clone.getName().str(), each});
  }
  return kernels;
}

/// The backend's passes of one stage, then the caller's, on every kernel below `all`.
static LogicalResult runStage(StringRef stage, void (*build)(OpPassManager &, const CpuLevel &), const CpuLevel &level,
                              const KernelStages &stages, ModuleOp all, ArrayRef<KernelModule> kernels) {
  CompileSpan span(stage, level.name);
  PassManager pm(all.getContext(), ModuleOp::getOperationName(), OpPassManager::Nesting::Implicit);
  OpPassManager &kernel = pm.nest<ModuleOp>();
  build(kernel, level);
  if (stages.extend)
    if (llvm::Error error = stages.extend(stage, kernel))
      return all.emitError(llvm::toString(std::move(error)));
  if (failed(pm.run(all)))
    return failure();
  if (stages.dumps(stage))
    for (const KernelModule &each : kernels) {
      std::string text;
      llvm::raw_string_ostream(text) << each.module << "\n";
      stages.dump(each.name, text);
    }
  if (stages.advanced)
    stages.advanced(kernels.size());
  return success();
}

/// The kernels, which are in the LLVM dialect, as objects.
static FailureOr<std::vector<ObjectBytes>> emitKernels(MLIRContext *context, ArrayRef<KernelModule> kernels,
                                                       const CpuLevel &level, const KernelStages &stages,
                                                       Effort effort) {
  CompileSpan span("emit", level.name);
  const bool dumps = stages.dumps("emit");
  std::vector<std::string> texts(kernels.size());
  std::vector<ObjectBytes> objects(kernels.size());
  LogicalResult result = failableParallelForEachN(context, 0, kernels.size(), [&](size_t i) -> LogicalResult {
    CompileSpan each("emit kernel", kernels[i].name);
    FailureOr<ObjectBytes> object = emitObject(kernels[i].module, level, dumps ? &texts[i] : nullptr, effort);
    if (failed(object))
      return failure();
    objects[i] = std::move(*object);
    if (stages.advanced)
      stages.advanced(1);
    return success();
  });
  if (failed(result))
    return failure();
  if (dumps)
    for (auto [kernel, text] : llvm::zip_equal(kernels, texts))
      stages.dump(kernel.name, text);
  return objects;
}

FailureOr<std::vector<ObjectBytes>> compileKernels(ModuleOp module, const CpuLevel &level, StringRef symbolSuffix,
                                                   const KernelStages &stages) {
  OwningOpRef<ModuleOp> all = ModuleOp::create(module.getLoc());
  SmallVector<KernelModule> kernels = splitKernels(module, symbolSuffix, *all);
  if (failed(runStage("bufferize", buildCpuBufferizePipeline, level, stages, *all, kernels)) ||
      failed(runStage("lower", buildCpuLowerPipeline, level, stages, *all, kernels)))
    return failure();
  return emitKernels(module.getContext(), kernels, level, stages, Effort::Full);
}

FailureOr<std::vector<ObjectBytes>> compileKernelsBy(llvm::function_ref<void(OpPassManager &kernel)> build,
                                                     ModuleOp module, const CpuLevel &level, StringRef symbolSuffix,
                                                     Effort effort) {
  OwningOpRef<ModuleOp> all = ModuleOp::create(module.getLoc());
  SmallVector<KernelModule> kernels = splitKernels(module, symbolSuffix, *all);
  PassManager passes(module.getContext(), ModuleOp::getOperationName(), OpPassManager::Nesting::Implicit);
  build(passes.nest<ModuleOp>());
  if (failed(passes.run(*all)))
    return failure();
  return emitKernels(module.getContext(), kernels, level, {}, effort);
}

} // namespace tilewright
