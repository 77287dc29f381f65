// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops on packed weights have in common.
#pragma once

#include "ir/tw/Tw.h"

namespace tilewright::tw {

inline constexpr int64_t kPackedGroupRows = 16; ///< rows of one group of a packed weight
inline constexpr int64_t kPackedStep = 32;      ///< elements of a row that a kernel loads at a time

/// Input [N, K], scales, sums and weight [groups, blocks, bytes] of a linear map by packed weights of `element`.
mlir::LogicalResult verifyPackedOperands(mlir::Operation *op, mlir::RankedTensorType input, mlir::Value scales,
                                         mlir::Value sums, mlir::RankedTensorType weight, mlir::Type element);

} // namespace tilewright::tw
