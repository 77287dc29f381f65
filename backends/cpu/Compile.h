// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From kernels to relocatable objects of one level.
#pragma once

#include "backends/cpu/Level.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
}

namespace tilewright {

/// The bytes of a relocatable ELF object.
using ObjectBytes = llvm::SmallVector<char, 0>;

/// How much LLVM makes of the code it is given; low: code that runs seldom, of many loops.
enum class Effort { Full, Low };

/// What a kernel goes through here: bufferize, lower, emit.
inline constexpr size_t kKernelStages = 3;

/// How a caller extends and follows the stages behind `tile`.
struct KernelStages {
  /// Appends passes to those of stage "bufferize" or "lower", on the module of one kernel.
  std::function<llvm::Error(llvm::StringRef stage, mlir::OpPassManager &passes)> extend;
  /// Takes, where `dumpAfter` is "bufferize", "lower" or "emit", what each kernel is behind that stage: MLIR, and LLVM
  /// IR behind emit; in the module's order.
  std::function<void(llvm::StringRef kernel, llvm::StringRef text)> dump;
  std::string dumpAfter;
  /// Told of each stage, of kKernelStages, that so many kernels more have behind them; by any thread.
  std::function<void(size_t kernels)> advanced;

  bool dumps(llvm::StringRef stage) const { return dump && dumpAfter == stage; }
};

/// Compiles each public function of `module`, a kernel as Passes.h describes, into an object of its own that defines
/// the entry NAME followed by `symbolSuffix` (tw_abi_kernel in runtime/api/abi.h). Kernels must not refer to each
/// other; the module itself is not changed. Works on as many threads as the context has. Diagnostics go to the context.
mlir::FailureOr<std::vector<ObjectBytes>> compileKernels(mlir::ModuleOp module, const CpuLevel &level,
                                                         llvm::StringRef symbolSuffix = "",
                                                         const KernelStages &stages = {});

/// The same by `build`'s passes in place of the backend's; they must make the entries and end in the LLVM dialect.
mlir::FailureOr<std::vector<ObjectBytes>> compileKernelsBy(llvm::function_ref<void(mlir::OpPassManager &kernel)> build,
                                                           mlir::ModuleOp module, const CpuLevel &level,
                                                           llvm::StringRef symbolSuffix, Effort effort);

/// Optimises a module in the LLVM dialect and emits it as an object of the level. Public functions stay visible.
/// `text`: where to write the LLVM IR that code is made from.
mlir::FailureOr<ObjectBytes> emitObject(mlir::ModuleOp module, const CpuLevel &level, std::string *text = nullptr,
                                        Effort effort = Effort::Full);

/// The same up to assembly text.
mlir::FailureOr<ObjectBytes> emitAssembly(mlir::ModuleOp module, const CpuLevel &level);

/// An object with the memory functions that LLVM may call in any code (memcpy, memmove, memset, memcmp), hidden, for
/// the lowest level. Every shared object needs it exactly once.
llvm::Expected<ObjectBytes> emitMemoryFunctions();

/// An object that holds `bytes` in an allocated, read-only section `name`, kept whatever the linker removes.
llvm::Expected<ObjectBytes> emitSection(llvm::StringRef name, llvm::ArrayRef<char> bytes);

} // namespace tilewright
