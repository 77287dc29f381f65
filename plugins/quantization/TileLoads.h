// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How kernels load a step of a packed row group in each format (StorageType::emitLoadF32 and emitLoadInteger).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "mlir/IR/Builders.h"
#include "plugins/quantization/Format.h"

namespace tilewright::quantization {

/// Step `step` of 32 elements of row group `group` of `packed` [groups, blocks, bytes] i8 as f32 [32, 16] (k by row).
mlir::Value emitLoadF32(const Format &format, mlir::OpBuilder &builder, mlir::Location loc, mlir::Value packed,
                        mlir::Value group, mlir::Value step);

/// The same step for integer products; fails for floats.
mlir::FailureOr<IntegerTile> emitLoadInteger(const Format &format, mlir::OpBuilder &builder, mlir::Location loc,
                                             mlir::Value packed, mlir::Value group, mlir::Value step);

} // namespace tilewright::quantization
