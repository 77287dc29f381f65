// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiling of ops by a table: which loop each dimension of each operand and result follows. The functions below are the
// bodies of upstream's TilingInterface for such an op (ir/interfaces/Tiling.td writes the methods).
#pragma once

#include "mlir/Interfaces/TilingInterface.h"

#include <initializer_list>

namespace tilewright {

/// One dimension of an operand or result: elements [factor * i, factor * (i + 1)) belong to step i of loop `loop`.
struct LoopDim {
  static constexpr int64_t kWhole = -1; ///< never cut: every tile has the whole dimension

  int64_t loop = kWhole;
  int64_t factor = 1;

  static LoopDim whole() { return {}; }
  static LoopDim along(int64_t loop, int64_t factor = 1) { return {loop, factor}; }
};

/// The dimensions of one operand or result; of an operand that is no ranked tensor, nothing.
using LoopDims = llvm::SmallVector<LoopDim, 4>;

/// All loops are parallel. A loop's extent is that of the first operand dimension that follows it with factor 1, else
/// of a static result dimension, else of an operand dimension divided (rounding up) by its factor. The last step of a
/// loop may be partial where the factor does not divide a static dimension.
struct LoopMap {
  unsigned loops = 0;
  llvm::SmallVector<LoopDims> operands; ///< one per operand
  llvm::SmallVector<LoopDims> results;  ///< one per result
};

/// Loop d follows dimension d, for every operand and result that is a ranked tensor of the op's rank.
LoopMap elementwiseLoopMap(mlir::Operation *op);

/// The first `count` dimensions follow loops 0 .. count - 1 and the others are whole, for a tensor of `rank`.
LoopDims leadingLoops(int64_t rank, unsigned count);

llvm::SmallVector<mlir::utils::IteratorType> loopIteratorTypes(const llvm::FailureOr<LoopMap> &map);

llvm::SmallVector<mlir::Range> loopDomain(mlir::Operation *op, const llvm::FailureOr<LoopMap> &map, mlir::OpBuilder &b);

/// Clones the op on slices of its operands for one tile of its loops. Result types follow the tile, attributes are
/// kept.
mlir::FailureOr<mlir::TilingResult> tileByLoops(mlir::Operation *op, const llvm::FailureOr<LoopMap> &map,
                                                mlir::OpBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                                llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Where in result `number` a tile of the loops lies.
llvm::LogicalResult resultTileOfLoops(mlir::Operation *op, const llvm::FailureOr<LoopMap> &map, mlir::OpBuilder &b,
                                      unsigned number, llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                      llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                      llvm::SmallVectorImpl<mlir::OpFoldResult> &resultOffsets,
                                      llvm::SmallVectorImpl<mlir::OpFoldResult> &resultSizes);

/// The tile of the loops that makes a tile of result `number`. Fails when the tile cuts a whole dimension, or is not
/// provably a multiple of a dimension's factor.
llvm::LogicalResult loopsOfResultTile(mlir::Operation *op, const llvm::FailureOr<LoopMap> &map, mlir::OpBuilder &b,
                                      unsigned number, llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                      llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                      llvm::SmallVectorImpl<mlir::OpFoldResult> &loopOffsets,
                                      llvm::SmallVectorImpl<mlir::OpFoldResult> &loopSizes);

/// The tile of the loops that uses tiles of operands; fails as above, or when the operands do not agree.
llvm::LogicalResult loopsOfOperandTiles(mlir::Operation *op, const llvm::FailureOr<LoopMap> &map, mlir::OpBuilder &b,
                                        llvm::ArrayRef<unsigned> numbers,
                                        llvm::ArrayRef<llvm::SmallVector<mlir::OpFoldResult>> allOffsets,
                                        llvm::ArrayRef<llvm::SmallVector<mlir::OpFoldResult>> allSizes,
                                        llvm::SmallVectorImpl<mlir::OpFoldResult> &loopOffsets,
                                        llvm::SmallVectorImpl<mlir::OpFoldResult> &loopSizes);

mlir::FailureOr<mlir::TilingResult> tileOfResult(mlir::Operation *op, const llvm::FailureOr<LoopMap> &map,
                                                 mlir::OpBuilder &b, unsigned number,
                                                 llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                                 llvm::ArrayRef<mlir::OpFoldResult> sizes);

mlir::FailureOr<mlir::TilingResult> tileOfOperands(mlir::Operation *op, const llvm::FailureOr<LoopMap> &map,
                                                   mlir::OpBuilder &b, llvm::ArrayRef<unsigned> numbers,
                                                   llvm::ArrayRef<llvm::SmallVector<mlir::OpFoldResult>> allOffsets,
                                                   llvm::ArrayRef<llvm::SmallVector<mlir::OpFoldResult>> allSizes);

/// The largest divisor of `extent` that is at most `limit`, preferring multiples of `lanes`; at least 1.
int64_t largestDivisor(int64_t extent, int64_t limit, int64_t lanes = 1);

/// Whether `value` is provably a multiple of `factor` (constants, steps of scf loops, affine.apply and index
/// arithmetic).
bool isMultipleOf(mlir::OpFoldResult value, int64_t factor);

} // namespace tilewright
