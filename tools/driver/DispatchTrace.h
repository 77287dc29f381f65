// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dispatches of a program in the order in which its entry runs them, each with the run of its function.
#pragma once

#include "ir/interfaces/ValueTags.h"
#include "ir/tw/Tw.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/driver/ReferenceStream.h"

namespace tilewright::driver {

/// One run of a function: the entry, or what one call of it runs.
struct FunctionRun {
  mlir::func::FuncOp function;
  CallPath path;
  std::string label; ///< "step"; "layer 3" for the fourth run of @layer
};

struct TracedDispatch {
  tw::DispatchOp op;
  mlir::func::FuncOp kernel;
  size_t run;                                      ///< number of its function's run
  bool lastOfRun;                                  ///< no later dispatch is of the same run
  llvm::SmallVector<std::optional<ValueTag>> tags; ///< what each result stands for
};

struct DispatchTrace {
  std::vector<FunctionRun> runs;
  std::vector<TracedDispatch> dispatches; ///< a compiled step makes one phase of each
};

/// Follows `entry` of a module after the tile stage.
DispatchTrace traceDispatches(mlir::ModuleOp program, llvm::StringRef entry);

} // namespace tilewright::driver
