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

/// 16 packed rows by 32 elements ready for integer products, cut along k into equal pieces. For row r and int8
/// activations x with a scale xs[p] for each piece and `xsum[p] = xs[p] * sum(x of p)`, the product is the sum over p
/// of
///   scales[p][r] * (xs[p] * sum_k pieces[p][k / 4, r, k % 4] * x[p, k] - zeroPoint * xsum[p]) + offsets[p][r] *
///   xsum[p].
struct IntegerTile {
  llvm::SmallVector<mlir::Value> pieces;  ///< each tensor<k/4 x 16 x 4 x i8>, unsigned
  llvm::SmallVector<mlir::Value> scales;  ///< each tensor<16xf32> or of another float type: none for 1, one for all
                                          ///< pieces, or one for each
  llvm::SmallVector<mlir::Value> offsets; ///< the same: none for 0
  int64_t zeroPoint = 0;                  ///< 8 for Q4_0, 128 for offset int8
};

/// How rows of floats become rows of a storage type.
enum class RowEncoding {
  None,      ///< not at all
  Blocks,    ///< every block has its scales in it
  ScaledRows ///< elements are to be multiplied with a number for each row, which stands elsewhere
};

/// `type` as a storage type: its own interface, or one attached to a builtin float.
bool isStorageType(mlir::Type type);

} // namespace tilewright

#include "ir/interfaces/TypeInterfaces.h.inc"

#include "ir/interfaces/OpInterfaces.h.inc"
