// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as kernels have them in memory. Internal to this folder.
#pragma once

#include "backends/reference/Tensor.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>
#include <memory>

namespace tilewright {

/// Memory of one tensor between guards of NaN bytes (0xFF), so that a kernel that reads or writes outside shows.
class GuardedMemory {
public:
  explicit GuardedMemory(size_t bytes);
  uint8_t *data() { return whole.data() + begin; }
  llvm::ArrayRef<uint8_t> bytes() const { return llvm::ArrayRef(whole).slice(begin, size); }
  /// Nothing was written outside.
  bool intact() const;

private:
  std::vector<uint8_t> whole;
  size_t begin, size;
};

/// Bytes that an element of `type` has in memory: whole ones.
size_t elementBytes(mlir::Type type);
/// Row-major bytes of `tensor` with elements of `type`, floats rounded to nearest even.
void store(const reference::Tensor &tensor, mlir::Type type, uint8_t *out);
/// The inverse.
reference::Tensor load(const uint8_t *bytes, mlir::RankedTensorType type);

} // namespace tilewright
