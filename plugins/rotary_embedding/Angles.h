// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The angles that all forms of rotary embedding turn pairs by.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace tilewright::rotary_embedding {

/// base^(-2i/rotaryDim) for i < rotaryDim / 2: the angle of pair i per position.
llvm::SmallVector<double> angleRates(double base, int64_t rotaryDim);

/// For each of a row's positions the rates of all pairs, 0 where a pair follows another position.
llvm::SmallVector<llvm::SmallVector<double>>
ratesBySection(llvm::ArrayRef<double> rates, std::optional<llvm::ArrayRef<int64_t>> sections, llvm::StringRef layout);

/// What base, attention_factor, factors and sections of an op have to be (constraints of rotate and tables). `rows`:
/// the extents of the rows' dimensions.
llvm::LogicalResult verifyAngles(mlir::Operation *op, double base, double attentionFactor, int64_t rotaryDim,
                                 llvm::ArrayRef<int64_t> rows, mlir::Value factors,
                                 std::optional<llvm::ArrayRef<int64_t>> sections, llvm::StringRef sectionLayout);

/// Dimensions of an input of `rank` that `rows` dimensions of rows are: [N] of [N, H, D]; [B, T] or [T] of [B, H, T,
/// D].
inline llvm::SmallVector<int64_t> rowDims(int64_t rank, int64_t rows) {
  if (rank == 3)
    return {0};
  if (rows == 2)
    return {0, 2};
  return {2};
}

} // namespace tilewright::rotary_embedding
