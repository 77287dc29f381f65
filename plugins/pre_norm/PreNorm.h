// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `pre_norm` dialect (PreNorm.td) and its pass.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/Tiling.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "plugins/pre_norm/PreNormDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/pre_norm/PreNorm.h.inc"

namespace tilewright {
class GoldenCase;    // frontend/api/GoldenCase.h
class BlockRegistry; // frontend/api/Block.h
} // namespace tilewright

namespace tilewright::pre_norm {

/// Why `op` is no norm of the rows of its first operand: the first condition that fails. Empty when it is one.
std::string notRowNorm(mlir::Operation *op);

/// The norm op of `op` on `sum`, made at the builder's insertion point; its result has the sum's type.
mlir::Operation *buildNorm(mlir::OpBuilder &builder, AddNormOp op, mlir::Value sum);

/// pre-norm-fuse-residual (stage fuse): a residual tw.add and the norm that reads it become pre_norm.add_norm.
std::unique_ptr<mlir::Pass> createFuseResidual();

/// Graphs of golden cases of residual blocks with norms.
void buildGolden(GoldenCase &golden);

/// The block `pre_norm`.
void registerBlocks(BlockRegistry &registry);

} // namespace tilewright::pre_norm
