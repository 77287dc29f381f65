// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of a group of ops, tile by tile; and that of an op that builds its own.
#pragma once

#include "passes/tile/KernelFunction.h"
#include "passes/tile/KernelGroups.h"

namespace tilewright {

/// Fills `kernel` for a group that is not `Whole`: a loop over chunks, in it one over the chunk's column tiles, in it
/// the group's ops on one tile, fused by upstream's TilingInterface and lowered by TileLowering.
mlir::LogicalResult buildGroupKernel(const KernelGroup &group, const KernelGroups &groups, const ShapeClass &shapeClass,
                                     KernelFunction &kernel);

/// What the kernels of one compilation have in common.
struct KernelForm {
  const ShapeClass &shapeClass;
  llvm::StringRef numerics;
  bool bf16States; ///< states of f32 are kept in bf16
};

/// Fills `kernel` for an op with WholeKernel.
mlir::LogicalResult buildWholeKernel(mlir::Operation *op, const KernelForm &form, KernelFunction &kernel);

} // namespace tilewright
