// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a tile of a kernel lives on the GPU, and how a warp's lanes share it.
//
// A layout is the memory space of a tile's buffer, so that the IR shows it between the passes:
//
//   "accumulator"   registers; what mma.sync calls C: the warp's 16 rows by 8 columns are 4 numbers a lane
//   "row"           registers; one number for a row of an accumulator, the same in the four lanes that share the row
//   "operand_b"     registers; what mma.sync calls B, calculated where it is needed instead of being read from memory
//   #gpu.address_space<workgroup>   shared memory, plain row-major; also what operands A and B are read from
//   none            global memory, plain row-major
//
// Rows of accumulators are dealt to the warps of a block by sixteens. With g = lane / 4 and q = lane % 4, a lane holds
// of the 16x8 tile at (row, column): (row + g, column + 2q), (row + g, column + 2q + 1), (row + g + 8, column + 2q) and
// (row + g + 8, column + 2q + 1) (PTX ISA, section on matrix fragments for mma.m16n8k8).
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace tilewright {

enum class TileLayout { Memory, Accumulator, Row, OperandB };

/// The attribute that says layout `layout` of a buffer; for Memory that of shared memory.
mlir::Attribute layoutSpace(mlir::MLIRContext *context, TileLayout layout);
/// The layout that the memory space of `buffer`'s type says.
TileLayout layoutOf(mlir::Value buffer);

/// The matrix instruction of a contraction of linalg form, m and n its first two loops.
struct MmaForm {
  enum class Kind { Tf32, Int8 } kind;
  int64_t m, n, k;                               ///< extents; k of all reduction loops together
  unsigned lhs, rhs;                             ///< numbers of the input operands with rows of A and columns of B
  bool lhsUnsigned = false, rhsUnsigned = false; ///< of bytes

  /// Elements of k that one instruction takes.
  int64_t kStep() const { return kind == Kind::Tf32 ? 8 : 16; }
  /// Of these, those that a lane holds for each of its rows or columns: q * perLane, q * perLane + 1, ... The order of
  /// k within a step is free as long as A and B agree; this one makes an accumulator an operand A as it is.
  int64_t perLane() const { return kStep() / 4; }
};

/// The form of `op` if mma.sync can carry it: out[m, n] += lhs[m, k...] * rhs[k..., n] on f32, or on bytes into i32,
/// with n a multiple of 8 and k of a step.
std::optional<MmaForm> matchMma(mlir::linalg::LinalgOp op);

/// How the operand of a linalg op with loops (rows, columns) or (rows) is read through `map`.
enum class Access { Element, RowValue, Other };
Access accessOf(mlir::AffineMap map);

/// The combiner of each init of a reduction that does not keep the reduced loops: a single op with a neutral element,
/// or null where the init does keep them. Nothing if some init has no such combiner.
std::optional<llvm::SmallVector<mlir::Operation *>> matchCombiners(mlir::linalg::LinalgOp op);

/// Warps of a kernel's blocks, an attribute of the kernel.
inline constexpr llvm::StringLiteral kWarpsAttr = "tw.warps";
/// Bytes of shared memory that a block of the kernel needs, an attribute of the kernel.
inline constexpr llvm::StringLiteral kSharedBytesAttr = "tw.shared_bytes";
inline constexpr int64_t kWarpSize = 32;
/// Rows of an accumulator that a warp holds at a time.
inline constexpr int64_t kWarpRows = 16;

} // namespace tilewright
