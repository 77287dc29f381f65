// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a step function, the entry of a model's graph, returns.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::tw {

/// Result numbers: of the logits, where there are any, and of the further named outputs (hidden states, prediction
/// heads), in order. All other results are states.
struct StepResults {
  std::optional<unsigned> logits;
  llvm::SmallVector<unsigned> outputs;
};

/// The logits are the tensor named "logits" (`tw.name`), or the only one if it has no name. Fails with a diagnostic for
/// a further one without a name.
mlir::FailureOr<StepResults> stepResults(mlir::func::FuncOp step);

/// `tw.name` of a result; empty: none.
llvm::StringRef resultName(mlir::func::FuncOp function, unsigned result);

} // namespace tilewright::tw
