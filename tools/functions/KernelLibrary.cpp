// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/functions/KernelLibrary.h"

#include "backends/cpu/Link.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/FileSystem.h"

#include <dlfcn.h>

using namespace mlir;

namespace tilewright {

FailureOr<std::unique_ptr<KernelLibrary>> KernelLibrary::compile(ModuleOp program, const CpuLevel &level,
                                                                 const KernelStages &stages) {
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(program.getLoc());
  for (auto function : program.getOps<func::FuncOp>())
    if (function->hasAttr("tw.kernel"))
      kernels->push_back(function.clone());
  FailureOr<std::vector<ObjectBytes>> objects = compileKernels(*kernels, level, "", stages);
  if (failed(objects))
    return failure();
  llvm::Expected<ObjectBytes> memory = emitMemoryFunctions();
  if (!memory)
    return program.emitError(llvm::toString(memory.takeError()));
  objects->push_back(std::move(*memory));
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("tilewright-kernels", "so", path))
    return program.emitError("cannot create a file for compiled kernels: ") << error.message();
  if (llvm::Error error = linkSharedObject(*objects, path)) {
    llvm::sys::fs::remove(path);
    return program.emitError(llvm::toString(std::move(error)));
  }
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove(path); // it stays loaded, whatever ends the process
  if (!handle)
    return program.emitError("cannot load compiled kernels: ") << dlerror();
  return std::unique_ptr<KernelLibrary>(new KernelLibrary(handle));
}

KernelLibrary::~KernelLibrary() { dlclose(handle); }

tw_abi_kernel KernelLibrary::find(StringRef name) const {
  return reinterpret_cast<tw_abi_kernel>(dlsym(handle, name.str().c_str()));
}

} // namespace tilewright
