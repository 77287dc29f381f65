// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction as steps on register rows. Every instruction's pass expands contractions through this: one step adds,
// to one row of accumulators, one left item (a number, or a packed pair or quad) times one right row.
#pragma once

#include "backends/cpu/Blocks.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// A vector.contract in one of the known forms.
struct ContractOperands {
  ContractionDims dims;
  mlir::Value left, right; ///< operands without their widening where the form packs them (I8x4, Bf16x2)
  mlir::AffineMap leftMap, rightMap, accMap;
  bool leftUnsigned = false, rightUnsigned = false; ///< widened by arith.extui
  int64_t rowLanes = 0;                             ///< extent of the vector dimension
};

/// Operands and form of `op`; std::nullopt where it has no register form.
std::optional<ContractOperands> analyzeContract(mlir::vector::ContractionOp op);

/// Adds one step to a row of accumulators: `left` and `right` index the item and the row (outer dimensions only).
using ContractStep =
    llvm::function_ref<mlir::Value(mlir::Value accRow, llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right)>;

/// Expands `op` into steps, reduction outermost so that a right row serves all left items; returns the new
/// accumulators.
mlir::Value expandContract(mlir::PatternRewriter &rewriter, mlir::vector::ContractionOp op,
                           const ContractOperands &operands, ContractStep step);

/// Left items read straight from memory where the left operand is a read, so that the instruction broadcasts them.
class LeftItems {
public:
  LeftItems(mlir::PatternRewriter &rewriter, const ContractOperands &operands);
  /// A number for Plain; i32 that holds the packed items otherwise.
  mlir::Value get(llvm::ArrayRef<int64_t> index);

private:
  mlir::PatternRewriter &rewriter;
  const ContractOperands &operands;
  llvm::SmallVector<std::pair<llvm::SmallVector<int64_t>, mlir::Value>> cache;
};

/// Right rows as flat vectors of `rowLanes` times the packed items.
class RightRows {
public:
  RightRows(mlir::PatternRewriter &rewriter, mlir::Location loc, const ContractOperands &operands);
  /// Lanes [lane, lane + lanes) of the row.
  mlir::Value get(llvm::ArrayRef<int64_t> index, int64_t lane, int64_t lanes);

private:
  mlir::PatternRewriter &rewriter;
  mlir::Location loc;
  const ContractOperands &operands;
  mlir::Value flat;
  llvm::SmallVector<int64_t> outer;
  int64_t packed;
};

/// Bit pattern `item` (i32) in every 32-bit lane of a vector of `lanes` lanes, seen as `type`.
mlir::Value splatItem(mlir::PatternRewriter &rewriter, mlir::Location loc, mlir::Value item, int64_t lanes,
                      mlir::VectorType type);

/// Applies `update(lane, chunk of the row)` to each chunk of `lanes` lanes of `row`.
mlir::Value updateInChunks(mlir::PatternRewriter &rewriter, mlir::Location loc, mlir::Value row, int64_t lanes,
                           llvm::function_ref<mlir::Value(int64_t, mlir::Value)> update);

} // namespace tilewright
