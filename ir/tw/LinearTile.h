// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of linear maps by plain weights.
#pragma once

#include "ir/interfaces/TileBuilder.h"

namespace tilewright::tw {

/// A tile [..., N] of type `type`: x [..., K] by w [N, K], or [K, N] with `inOut`, plus `bias` [N] unless that is null;
/// in f32 or wider, rounded once. All shapes are static, all elements floats.
mlir::Value linearTile(TileBuilder &t, mlir::Value x, mlir::Value w, mlir::Value bias, mlir::RankedTensorType type,
                       bool inOut = false);

} // namespace tilewright::tw
