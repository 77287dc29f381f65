// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector forms of the ops for which the upstream vectoriser has none, or one that is hard to use.
#pragma once

#include "ir/tile/Tile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// A contraction (matchContraction) becomes reads of its operands in their own shape, the body's widenings on them, and
/// one vector.contract.
void vectorizeContraction(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op);

/// A field becomes one read of its bytes, seen as the field's type.
void vectorizeLoadField(mlir::RewriterBase &rewriter, tile::LoadFieldOp op);

/// A long field, whose users were tiled: each slice that is contiguous in the field becomes one read of its bytes.
/// Other users read the field from a buffer that is filled at most `limit` bytes at a time.
void vectorizeSlicedField(mlir::RewriterBase &rewriter, tile::LoadFieldOp op, int64_t limit);

/// A field of bits becomes one read of its bytes, and for each of its parts a shift and a mask, side by side in one
/// vector.
void vectorizeLoadBits(mlir::RewriterBase &rewriter, tile::LoadBitsOp op);

} // namespace tilewright
