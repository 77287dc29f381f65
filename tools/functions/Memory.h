// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of tensors as kernels have them in memory. Internal to this folder.
#pragma once

#include "backends/reference/Tensor.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>

namespace tilewright {

/// Bytes that an element of `type` has in memory: whole ones.
size_t elementBytes(mlir::Type type);
/// Row-major bytes of `tensor` with elements of `type`, floats rounded to nearest even.
void store(const reference::Tensor &tensor, mlir::Type type, uint8_t *out);
/// The inverse.
reference::Tensor load(const uint8_t *bytes, mlir::RankedTensorType type);

} // namespace tilewright
