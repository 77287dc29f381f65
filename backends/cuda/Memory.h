// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops of a bufferised kernel do to memory.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace tilewright {

/// The allocation, argument or other origin of a buffer, behind views.
mlir::Value bufferRoot(mlir::Value buffer);

struct MemoryAccess {
  mlir::Value root;
  bool reads, writes;
};

/// The buffers that the op itself reads or writes: a linalg op, a load, a store, a copy.
llvm::SmallVector<MemoryAccess> accessesOf(mlir::Operation *op);

} // namespace tilewright
