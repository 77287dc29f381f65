// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words that passes and plugins share (Interfaces.td).
#pragma once

#include "ir/interfaces/Tiling.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "runtime/api/layout.h"

namespace tilewright {

class KernelBuilder; // ir/interfaces/KernelBuilder.h

/// |difference| <= absolute + relative * max|reference|.
struct NumericsBound {
  double absolute = 0.0;
  double relative = 0.0;
};

/// One packed block of 16 rows by 32 elements ready for integer products: for row r and int8 activations x with scale xs
/// and block sum `xsum = xs * sum(x)`, the product over the block is
///   scale[r] * (xs * sum_k quants[k / 4, r, k % 4] * x[k] - zeroPoint * xsum) + offset[r] * xsum.
struct IntegerTile {
  mlir::Value quants;       ///< tensor<8x16x4xi8>, unsigned
  mlir::Value scale;        ///< tensor<16> of a float of at most 32 bits
  mlir::Value offset;       ///< the same, or null for none
  int64_t zeroPoint = 0;    ///< 8 for Q4_0, 128 for offset int8
};

/// `type` as a storage type: its own interface, or one attached to a builtin float.
bool isStorageType(mlir::Type type);

} // namespace tilewright

#include "ir/interfaces/TypeInterfaces.h.inc"

#include "ir/interfaces/OpInterfaces.h.inc"
