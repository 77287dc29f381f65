// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op of a kernel is, by structure alone, and the block sizes a level gives it.
#pragma once

#include "backends/cpu/Level.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// Bytes an op may hold as one vector without being tiled: eight registers of 64 bytes.
inline constexpr int64_t kWholeBytes = 512;

/// How the innermost reduction dimension of a contraction stands in memory.
enum class ContractionForm {
  Plain, ///< row [.., n] of the right side: f32, or f16/bf16 widened to f32; one k at a time
  I8x4,  ///< rows [.., n, 4] of bytes, i32 accumulators
  Bf16x2 ///< rows [.., n, 2] of bf16, f32 accumulators
};

/// Roles of a contraction's loops: acc[batch, m, n] += left[batch, m, k] * right[batch, k, n]. `vector` is the
/// innermost dimension of the accumulator and the one whose elements fill a register; it belongs to `right` only.
struct ContractionDims {
  ContractionForm form = ContractionForm::Plain;
  bool swapped = false; ///< the op's first input is `right`
  unsigned vector = 0;
  int packed = -1;                            ///< the innermost reduction loop of I8x4 and Bf16x2, else -1
  llvm::SmallVector<unsigned> batch, m, n, k; ///< outermost first; `n` without `vector`, `k` without `packed`
};

/// Roles, element types and body of a multiply-accumulate given as maps; std::nullopt where no register form exists.
/// `types` are the element types of the two inputs and the accumulator.
std::optional<ContractionDims> matchContraction(llvm::ArrayRef<mlir::AffineMap> maps,
                                                llvm::ArrayRef<mlir::utils::IteratorType> iterators,
                                                llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<mlir::Type> types);

/// The same for a linalg op, whose body must be acc + ext(a) * ext(b).
std::optional<ContractionDims> matchContraction(mlir::linalg::LinalgOp op);

/// Tile sizes of a contraction's accumulator block (0: whole) and, in a second step, of its reduction loops.
struct ContractionBlock {
  llvm::SmallVector<int64_t> accumulator, reduction;
};
ContractionBlock chooseContractionBlock(mlir::linalg::LinalgOp op, const ContractionDims &dims, const CpuLevel &level);

/// Tile sizes for an elementwise op or a row reduction (0: whole). Where a reduction over the innermost loop is too
/// long for one row, `partial` is the number of elements of its partial results, else 0.
struct RowBlock {
  llvm::SmallVector<int64_t> sizes;
  int64_t partial = 0;
};
RowBlock chooseRowBlock(mlir::linalg::LinalgOp op, const CpuLevel &level);

} // namespace tilewright
