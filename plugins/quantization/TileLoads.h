// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How kernels load a packed block of each format (StorageType::emitLoadF32 and emitLoadInteger).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "mlir/IR/Builders.h"
#include "plugins/quantization/Format.h"

namespace tilewright::quantization {

/// Block `block` of row group `group` of `packed` [groups, blocks, bytes] i8 as f32 [32, 16] (k by row).
mlir::Value emitLoadF32(const Format &format, mlir::OpBuilder &builder, mlir::Location loc, mlir::Value packed,
                        mlir::Value group, mlir::Value block);

/// The same block for integer products; fails for floats.
mlir::FailureOr<IntegerTile> emitLoadInteger(const Format &format, mlir::OpBuilder &builder, mlir::Location loc,
                                             mlir::Value packed, mlir::Value group, mlir::Value block);

} // namespace tilewright::quantization
