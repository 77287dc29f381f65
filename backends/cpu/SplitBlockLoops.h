// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over quantised blocks, cut to as many rows as registers hold.
#pragma once

#include "backends/cpu/Level.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// Rows of a byte product whose accumulators (i32 and f32) fit the level's registers beside its operands.
int64_t byteProductRows(const CpuLevel &level);

/// A loop over blocks of K whose accumulators have more rows than registers hold becomes a loop over groups of rows
/// around a loop over blocks: the accumulators then stay in registers over all blocks, and only the unpacking of a
/// block, which is hot in the nearest cache by then, is repeated. Loops that do not have that form are left as they
/// are.
void splitBlockLoops(mlir::RewriterBase &rewriter, mlir::func::FuncOp kernel, const CpuLevel &level);

} // namespace tilewright
