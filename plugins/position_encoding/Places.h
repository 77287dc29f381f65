// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the ops' verifiers and reference lowerings share.
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::position_encoding {

/// An error with both shapes unless they agree.
llvm::LogicalResult verifyShape(mlir::Operation *op, mlir::RankedTensorType found, llvm::ArrayRef<int64_t> wanted,
                                llvm::StringRef what = "result");

/// [1, heads, T, S] or [B, heads, T, S] of relations [T, S] or [B, T, S].
llvm::SmallVector<int64_t> biasShape(llvm::ArrayRef<int64_t> pairs, int64_t heads);

/// 0, ..., count - 1.
llvm::SmallVector<int64_t> leadingDims(int64_t count);

} // namespace tilewright::position_encoding
