// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From kernels to relocatable objects of one level.
#pragma once

#include "backends/cpu/Level.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <vector>

namespace tilewright {

/// The bytes of a relocatable ELF object.
using ObjectBytes = llvm::SmallVector<char, 0>;

/// Compiles each public function of `module`, a kernel as Passes.h describes, into an object of its own that defines
/// the entry NAME followed by `symbolSuffix` (tw_abi_kernel in runtime/api/abi.h). Kernels must not refer to each
/// other; the module itself is not changed. Works on as many threads as the context has. Diagnostics go to the context.
mlir::FailureOr<std::vector<ObjectBytes>> compileKernels(mlir::ModuleOp module, const CpuLevel &level,
                                                         llvm::StringRef symbolSuffix = "");

/// Optimises a module in the LLVM dialect and emits it as an object of the level. Public functions stay visible.
mlir::FailureOr<ObjectBytes> emitObject(mlir::ModuleOp module, const CpuLevel &level);

/// The same up to assembly text.
mlir::FailureOr<ObjectBytes> emitAssembly(mlir::ModuleOp module, const CpuLevel &level);

/// An object with the memory functions that LLVM may call in any code (memcpy, memmove, memset, memcmp), hidden, for
/// the lowest level. Every shared object needs it exactly once.
llvm::Expected<ObjectBytes> emitMemoryFunctions();

/// An object that holds `bytes` in an allocated, read-only section `name`, kept whatever the linker removes.
llvm::Expected<ObjectBytes> emitSection(llvm::StringRef name, llvm::ArrayRef<char> bytes);

} // namespace tilewright
