// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the ops' verifiers and reference lowerings share.
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::position_encoding {

/// An error with both shapes unless they agree.
llvm::LogicalResult verifyShape(mlir::Operation *op, mlir::RankedTensorType found, llvm::ArrayRef<int64_t> wanted);

/// 0, ..., count - 1.
llvm::SmallVector<int64_t> leadingDims(int64_t count);

/// `row`, of the shape `rowShape`, at each element of `places` (floats, none of them NaN): [places..., rowShape...] in
/// f64. It makes a shape that no tensor has yet, so that others can be repeated like it.
mlir::Value atPlaces(mlir::ImplicitLocOpBuilder &b, mlir::Value places, llvm::ArrayRef<double> row,
                     llvm::ArrayRef<int64_t> rowShape);

} // namespace tilewright::position_encoding
