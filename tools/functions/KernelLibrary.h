// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of a program as code in this process.
#pragma once

#include "backends/cpu/Compile.h"
#include "runtime/api/abi.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <memory>
#include <string>

namespace tilewright {

/// Machine code of every kernel (`tw.kernel`) of a module after the `tile` stage, loaded from a shared object that is
/// removed with it.
class KernelLibrary {
public:
  /// Fails with diagnostics.
  static mlir::FailureOr<std::unique_ptr<KernelLibrary>> compile(mlir::ModuleOp program, const CpuLevel &level,
                                                                 const KernelStages &stages = {});
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary &) = delete;
  KernelLibrary &operator=(const KernelLibrary &) = delete;

  /// The entry of kernel `name`, or null.
  tw_abi_kernel find(llvm::StringRef name) const;

private:
  explicit KernelLibrary(void *handle) : handle(handle) {}

  void *handle;
};

} // namespace tilewright
