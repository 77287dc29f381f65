// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the dynamic first dimension of a tensor counts: the step's rows ("N"), the rows whose logits are wanted ("R"),
// ...
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tilewright {

/// Names of dynamic dimensions. A function argument's come from its `tw.dims` attribute (`["N", 576]`), else from the
/// values that its callers pass, else they are "N". An op's result follows the ids of a gather, else the first operand
/// with a dynamic first dimension; that of a reshape may be a multiple ("N*9", ir/tw/RowCount.h). All names are found
/// at construction, before anything is rewritten.
class RowSymbols {
public:
  explicit RowSymbols(mlir::ModuleOp module);

  /// The name of the dynamic first dimension of `value`; empty where that dimension is static or there is none.
  llvm::StringRef of(mlir::Value value) const { return known.lookup(value); }

private:
  llvm::StringRef find(mlir::Value value);
  llvm::StringRef compute(mlir::Value value);

  mlir::ModuleOp module;
  llvm::DenseMap<mlir::Value, llvm::StringRef> known;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> firstCaller; ///< function -> its first call
};

} // namespace tilewright
