// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices that follow from a function's integers, checked before any kernel runs.
#pragma once

#include "backends/reference/Interpreter.h"

namespace tilewright {

/// Kernels do not fail: one that is given an id outside of its table reads the nearest row. So what makes ids and
/// borders of segments runs in the interpreter before, which says what is wrong with them.
class IndexCheck {
public:
  /// For function `name` of `module`, one block of static shapes without calls; the module is copied. Checked are ids
  /// of gathers and segments of attention that are computed from integer arguments and constants alone. Fails with a
  /// diagnostic when an op that takes integers has no reference, and on constant ids outside of their table.
  static mlir::FailureOr<std::unique_ptr<IndexCheck>> create(mlir::ModuleOp module, llvm::StringRef name);

  /// Fails with the interpreter's diagnostic on what would read outside of its table, rows or keys.
  mlir::LogicalResult run(llvm::ArrayRef<reference::Tensor> inputs);

private:
  reference::NoWeights none;
  std::string name;
  llvm::SmallVector<unsigned> arguments;               ///< those that are read
  std::unique_ptr<reference::Interpreter> interpreter; ///< null where there is nothing to check
};

} // namespace tilewright
