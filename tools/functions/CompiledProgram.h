// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function behind the `tile` stage with its kernels as machine code, run dispatch by dispatch. Internal to this
// folder.
#pragma once

#include "ir/tw/Tw.h"
#include "runtime/api/abi.h"
#include "runtime/module/Packer.h"
#include "tools/functions/CompiledFunction.h"
#include "tools/functions/GuardedMemory.h"
#include "tools/functions/KernelLibrary.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "llvm/ADT/StringMap.h"

namespace tilewright {

using MemoryPtr = std::shared_ptr<GuardedMemory>;
/// What a value is at run time: the memory of a tensor, or the pools of a state.
using Memories = llvm::SmallVector<MemoryPtr, 2>;

/// Memory that holds the numbers of `tensor`, as elements of `element`.
MemoryPtr memoryOf(std::string name, const reference::Tensor &tensor, mlir::Type element);
/// A weight in its packed layout, from its bytes [rows, columns] in the storage type's own format.
mlir::FailureOr<MemoryPtr> packedMemory(mlir::Operation *op, mlir::Type element, llvm::ArrayRef<int64_t> shape,
                                        llvm::ArrayRef<uint8_t> bytes,
                                        const std::optional<RowPermutation> &permutation);

/// `options` with a level: the highest of this machine where none is named. Fails with a diagnostic where it has none.
mlir::FailureOr<FunctionOptions> withLevel(mlir::ModuleOp module, const FunctionOptions &options);
/// Function `name`, which has a body of one block; else a diagnostic.
mlir::FailureOr<mlir::func::FuncOp> functionToCompile(mlir::ModuleOp module, llvm::StringRef name);
/// A copy of `module` that has function `name` alone, its calls replaced by their bodies. Fails with diagnostics.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> singleFunction(mlir::ModuleOp module, llvm::StringRef name);

class CompiledProgram {
public:
  /// Runs the stages from `options.firstStage` to `tile` on the module, for steps of `shapeClass`, and compiles its
  /// kernels. Fails with diagnostics.
  static mlir::FailureOr<std::unique_ptr<CompiledProgram>> create(mlir::OwningOpRef<mlir::ModuleOp> module,
                                                                  llvm::StringRef name, const StageRegistry &stages,
                                                                  const FunctionOptions &options,
                                                                  llvm::StringRef shapeClass);

  /// Runs the function. `step` has the sizes and tables of the step where it works on one: dimensions that count rows
  /// are padded, and so are those of the results. Fails with diagnostics, also when a kernel wrote outside of its
  /// results.
  mlir::FailureOr<llvm::SmallVector<Memories>>
  run(llvm::ArrayRef<Memories> arguments, reference::WeightProvider &weights, const tw_abi_step *step = nullptr);

  /// Time that the kernels of the last run took.
  double kernelSeconds() const { return seconds; }

  mlir::ModuleOp module() const { return *owner; }
  mlir::func::FuncOp function() const { return entry; }

private:
  mlir::FailureOr<MemoryPtr> global(mlir::ml_program::GlobalLoadConstOp load, reference::WeightProvider &weights);
  mlir::FailureOr<llvm::SmallVector<Memories>> dispatch(tw::DispatchOp op, llvm::ArrayRef<Memories> operands,
                                                        const tw_abi_step *step);
  /// Calls the kernel for all its chunks.
  void runChunks(tw_abi_kernel kernel, llvm::ArrayRef<void *> slots, int64_t chunks) const;

  mlir::OwningOpRef<mlir::ModuleOp> owner;
  mlir::func::FuncOp entry;
  std::unique_ptr<KernelLibrary> kernels;
  llvm::StringMap<MemoryPtr> globals;
  unsigned threads = 1;
  double seconds = 0;
};

} // namespace tilewright
