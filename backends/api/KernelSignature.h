// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments of kernels, as each backend's entries find them.
//
// A kernel's arguments are memrefs with identity layout, index and scalar values, and at the end the range of chunks. A
// memref's dynamic sizes are named by its attribute `tw.dims` (an array of symbols and numbers, one per dimension); the
// index argument with attribute `tw.symbol = "N"` carries the value of N. The outermost size needs no symbol unless the
// kernel asks for it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace tilewright {

class KernelSignature {
public:
  /// Checks `kernel`'s arguments; fails with a diagnostic.
  static mlir::FailureOr<KernelSignature> of(mlir::func::FuncOp kernel);

  /// Argument `index` of the kernel, a memref at address `data` (an LLVM pointer). `symbol` gives the value (i64) of
  /// the index argument with a number. Fails with a diagnostic when a size is not known.
  mlir::FailureOr<mlir::Value> buffer(mlir::OpBuilder &builder, unsigned index, mlir::Value data,
                                      llvm::function_ref<mlir::Value(unsigned)> symbol) const;

  /// Number of arguments without the range of chunks.
  unsigned size() const { return kernel.getNumArguments() - 2; }

  /// Takes the attributes off the arguments: nothing behind the entry knows them.
  void removeAttributes();

private:
  explicit KernelSignature(mlir::func::FuncOp kernel) : kernel(kernel) {}
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> sizesOf(mlir::OpBuilder &builder, unsigned index,
                                                          llvm::function_ref<mlir::Value(unsigned)> symbol) const;

  mutable mlir::func::FuncOp kernel;
  llvm::StringMap<unsigned> symbols; ///< index arguments by the symbol they carry
};

} // namespace tilewright
