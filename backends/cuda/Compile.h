// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From kernels to PTX.
#pragma once

#include "backends/cuda/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace tilewright {

/// A kernel for the GPU. Entry NAME takes what KernelEntry.cpp says; a launch has a block of `threads` for each chunk.
struct PtxKernel {
  std::string name;
  std::string ptx;
  int64_t threads;
  int64_t sharedBytes; ///< of dynamic shared memory for a block
};

/// Compiles `kernel`, a kernel as Passes.h describes, for `architecture` ("sm_80"). The kernel itself is not changed.
/// Diagnostics go to the context, among them one that says why a kernel has no form on the GPU.
mlir::FailureOr<PtxKernel> compileToPtx(mlir::func::FuncOp kernel, llvm::StringRef architecture, CudaNumerics numerics);

} // namespace tilewright
