// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op that builds its whole kernel (WholeKernel) works with. The `tile` stage makes one per dispatched op.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tilewright {

/// Rows of one compiled step form (shape class).
struct ShapeClass {
  llvm::StringRef name;     ///< "decode", "small", "prefill"
  int64_t rowMultiple;      ///< rows are padded to a multiple of this; a row tile has this many rows
  int64_t logitRowMultiple; ///< the same for the rows whose logits are wanted
  int64_t queryTile;        ///< query rows of one attention tile
};

/// The classes: "decode" (one row), "small" (2 to 8 rows) and "prefill" (more).
llvm::ArrayRef<ShapeClass> shapeClasses();
/// The class of that name, or null.
const ShapeClass *findShapeClass(llvm::StringRef name);
/// The class of a step of so many rows.
const ShapeClass &shapeClassOf(int64_t rows);

/// Keys of one page of a state, as in the runtime's interface (runtime/api/abi.h).
inline constexpr int64_t kPageTokens = 64;
/// Pages of a state's first buffer (keys) are transposed: they are the right side of a product as they stand.
inline bool isTransposedBuffer(unsigned index) { return index == 0; }
/// Whether a pool (KernelBuilder::statePool) holds pairs of bf16.
inline bool isPairedPool(mlir::Value pool) { return mlir::cast<mlir::MemRefType>(pool.getType()).getRank() == 5; }

/// Tables the runtime fills for each step (runtime/api/abi.h).
enum class StepTable {
  Tiles,    ///< memref<?x8xi32> attention tiles
  Pages,    ///< memref<?xi32> page tables of all sequences
  RowSlots, ///< memref<?x2xi32> page and slot of each row, -1 for padding rows
};

/// Builds the kernel function of one op: `func.func @name(memrefs..., indices..., %begin: index, %end: index)`.
class KernelBuilder {
public:
  virtual ~KernelBuilder() = default;

  virtual mlir::OpBuilder &builder() = 0;
  virtual mlir::Location loc() = 0;
  virtual const ShapeClass &shapeClass() const = 0;
  virtual llvm::StringRef numerics() const = 0;

  /// Operand `value` of the op (a plain tensor) as a tensor over its kernel argument; row dimensions are padded.
  virtual mlir::Value tensor(mlir::Value value) = 0;
  /// Buffer `index` of the state operand `value`: its pool of pages as a memref argument,
  /// [pages, heads, dim, 64] when `isTransposedBuffer(index)`, else [pages, heads, 64, dim]. Where the compilation
  /// keeps f32 states in bf16, what a product sums over stands in pairs (`isPairedPool`): [pages, heads, ceil(dim / 2),
  /// 64, 2] or [pages, heads, 32, dim, 2]; the second half of a last odd pair of keys is 0.
  virtual mlir::Value statePool(mlir::Value value, unsigned index) = 0;
  /// A table of the step as a memref argument: of the sequences that the step extends, or, for a state `in source`, of
  /// their sources.
  virtual mlir::Value table(StepTable table, bool ofSource = false) = 0;
  /// Rows of operand or result `value` as an index: all of its buffer's, and those without the step's padding.
  virtual mlir::Value rows(mlir::Value value) = 0;
  virtual mlir::Value filledRows(mlir::Value value) = 0;
  /// Destination of result `index`, a tensor over its kernel argument, to be written through `finish`.
  virtual mlir::Value destination(unsigned index) = 0;

  /// The loop over this call's chunks: calls `body(chunk, iterArgs) -> yielded` inside. Returns the loop's results.
  virtual mlir::ValueRange
  forChunks(mlir::ValueRange inits,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value chunk, mlir::ValueRange iterArgs)> body) = 0;

  /// Number of chunks, an expression over the step's counts: rows (padded), tiles, logit rows, times `factor`.
  enum class Count { PaddedRows, Rows, Tiles, LogitRows };
  virtual void setChunks(Count count, int64_t divisor, int64_t factor) = 0;
  /// A number that no step changes; 0: there is nothing to do.
  virtual void setChunks(int64_t count) = 0;
  /// The same over the rows of operand or result `value`, whatever they count.
  virtual void setRowChunks(mlir::Value value, int64_t divisor, int64_t factor) = 0;

  /// Result `index` is complete: `value` is the destination tensor after the loop.
  virtual void finish(unsigned index, mlir::Value value) = 0;
};

} // namespace tilewright
