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

/// One packed block of 16 rows by 32 elements ready for integer products, cut along k into equal pieces. For row r and
/// int8 activations x with a scale xs[p] for each piece and `xsum = sum_p xs[p] * sum(x of p)`, the product over the
/// block is
///   scale[r] * (sum_p xs[p] * sum_k pieces[p][k / 4, r, k % 4] * x[p, k] - zeroPoint * xsum) + offset[r] * xsum.
struct IntegerTile {
  llvm::SmallVector<mlir::Value> pieces; ///< each tensor<k/4 x 16 x 4 x i8>, unsigned
  mlir::Value scale;                     ///< tensor<16xf32> or of another float type, or null for 1
  mlir::Value offset;                    ///< the same, or null for none
  int64_t zeroPoint = 0;                 ///< 8 for Q4_0, 128 for offset int8
};

/// `type` as a storage type: its own interface, or one attached to a builtin float.
bool isStorageType(mlir::Type type);

} // namespace tilewright

#include "ir/interfaces/TypeInterfaces.h.inc"

#include "ir/interfaces/OpInterfaces.h.inc"
