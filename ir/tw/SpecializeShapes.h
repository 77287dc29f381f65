// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static shapes for a function whose arguments have got some.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::tw {

/// Gives every argument of `function` the shape of its entry in `shapes` and derives the static shapes of all values
/// from them. The body is one block without calls. The shape rule of a technique op is its InferTypeOpInterface, or
/// else what its reference lowering makes. Fails with a diagnostic on an op whose shape cannot be derived, or whose
/// operands do not go together.
llvm::LogicalResult specializeShapes(mlir::func::FuncOp function, llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes);

} // namespace tilewright::tw
