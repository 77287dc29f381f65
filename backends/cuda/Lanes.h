// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a thread knows about itself and about fragments while the ops of a kernel are lowered to lanes.
#pragma once

#include "backends/cuda/Layouts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilewright {

class Lanes {
public:
  /// Emits the thread's own numbers at the start of `kernel`, whose blocks have `warps` warps.
  Lanes(mlir::func::FuncOp kernel, int64_t warps);

  mlir::OpBuilder b;
  mlir::Location loc;
  const int64_t warps;
  mlir::Value thread, warp, lane; ///< index values; lane counts within its warp

  int64_t threads() const { return warps * kWarpSize; }

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t factor);
  mlir::Value div(mlir::Value x, int64_t divisor);
  mlir::Value rem(mlir::Value x, int64_t divisor);
  /// `map` at `dims`.
  llvm::SmallVector<mlir::Value> apply(mlir::AffineMap map, mlir::ValueRange dims);
  /// The index of each dimension from the row-major number.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value number, llvm::ArrayRef<int64_t> extents);
  /// Indices into the buffer behind reshapes, from indices into `view`.
  llvm::SmallVector<mlir::Value> indicesInRoot(mlir::Value view, llvm::SmallVector<mlir::Value> indices);

  // Fragments. A warp holds blocks of 16 rows number 0, 1, ...; `half` is 0 for row g and 1 for row g + 8.
  int64_t rowBlocks(int64_t rows) const { return llvm::divideCeil(rows, kWarpRows * warps); }
  /// Whether some lane's row is none of `rows`.
  bool hasRowTail(int64_t rows) const { return rows % (kWarpRows * warps) != 0; }
  mlir::Value row(int64_t block, int64_t half);
  /// The row, or the last one where the lane's is behind it: what is read there is never written.
  mlir::Value rowWithin(int64_t block, int64_t half, int64_t rows);
  /// Column `item` (0 or 1) of the lane's in 8 columns number `tile`.
  mlir::Value column(int64_t tile, int64_t item);
  /// The lane's element `item` of a step of k.
  mlir::Value kOf(const MmaForm &form, int64_t step, int64_t item);
  /// The lane's column in 8 columns of operand B.
  mlir::Value columnOfB(int64_t tile);

  int64_t elementSlot(int64_t columns, int64_t block, int64_t half, int64_t tile, int64_t item) const {
    return ((block * (columns / 8) + tile) * 2 + half) * 2 + item;
  }
  int64_t rowSlot(int64_t block, int64_t half) const { return block * 2 + half; }
  int64_t operandBSlot(const MmaForm &form, int64_t step, int64_t tile, int64_t item) const {
    return (step * (form.n / 8) + tile) * form.perLane() + item;
  }
  /// Number `slot` of the lane's numbers of fragment `buffer`.
  mlir::Value load(mlir::Value buffer, int64_t slot);
  void store(mlir::Value value, mlir::Value buffer, int64_t slot);

  /// The body of `op` on `arguments`, with `indices` for its loops; returns what it yields.
  llvm::SmallVector<mlir::Value> inlineBody(mlir::linalg::LinalgOp op, mlir::ValueRange indices,
                                            mlir::ValueRange arguments);
  /// `combiner` on two values instead of its own operands.
  mlir::Value combine(mlir::Operation *combiner, mlir::Value x, mlir::Value y);
  mlir::Value neutralElement(mlir::Operation *combiner);
  /// Combines the values of lanes whose numbers differ in bits below `width`.
  mlir::Value combineLanes(mlir::Operation *combiner, mlir::Value value, int64_t width);
  /// Emits `body` for threads for which `conditions` hold.
  void ifAll(mlir::ValueRange conditions, llvm::function_ref<void()> body);
  mlir::Value isBelow(mlir::Value x, int64_t bound);
  /// Whether the lane is the first of the four that share rows.
  mlir::Value leadsRow() { return isBelow(quad, 1); }
  /// A loop that carries nothing.
  void loop(mlir::Value from, int64_t to, int64_t step, llvm::function_ref<void(mlir::Value)> body);

private:
  mlir::Value array(mlir::Value buffer);

  mlir::func::FuncOp kernel;
  mlir::Value group, quad; ///< lane / 4, lane % 4
  mlir::DenseMap<mlir::Value, mlir::Value> arrays;
};

/// Lowers `op`, whose tile mma.sync adds to, to matrix instructions.
void lowerContraction(Lanes &lanes, mlir::linalg::LinalgOp op, const MmaForm &form, bool precise);
/// Lowers the elementwise op that calculates operand B of `contraction` in place.
void lowerOperandB(Lanes &lanes, mlir::linalg::LinalgOp op, mlir::linalg::LinalgOp contraction, const MmaForm &form);
/// Lowers an op on rows, or rows by columns, some of whose operands are fragments.
void lowerOnFragments(Lanes &lanes, mlir::linalg::LinalgOp op);
/// Lowers an op on memory: elements to threads, rows of reductions to warps.
void lowerOnMemory(Lanes &lanes, mlir::linalg::LinalgOp op);

} // namespace tilewright
