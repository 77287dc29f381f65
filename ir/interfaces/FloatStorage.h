// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 as a storage type of weights. Every other storage type, the 16-bit floats included, comes from a plugin.
#pragma once

#include "mlir/IR/MLIRContext.h"

namespace tilewright {

/// Attaches StorageType to the builtin f32 type: blocks of 32 elements, 128 bytes, packed as 16 rows
/// by 32 with k outside.
void attachFloatStorage(mlir::MLIRContext &context);

} // namespace tilewright
