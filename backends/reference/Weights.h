// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights as the interpreter reads them: block bytes, decoded row by row when they are needed.
#pragma once

#include "backends/reference/Tensor.h"
#include "ir/interfaces/Interfaces.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "llvm/Support/Error.h"

namespace tilewright::reference {

/// Where a weight's bytes are.
class WeightProvider {
public:
  virtual ~WeightProvider() = default;
  /// The stored bytes of an extern global, rows in stored order; valid as long as the provider. An error says which
  /// weight is missing.
  virtual llvm::Expected<llvm::ArrayRef<uint8_t>> bytes(mlir::ml_program::GlobalOp global) = 0;
};

/// For modules without extern globals.
class NoWeights : public WeightProvider {
public:
  llvm::Expected<llvm::ArrayRef<uint8_t>> bytes(mlir::ml_program::GlobalOp global) override;
};

/// One weight [rows, ...] in its storage type. Never decoded as a whole by what reads it by row.
class Weight {
public:
  /// Checks the size of the bytes, the type and the permutation of rows (attributes tw.row_dims and tw.row_perm: stored
  /// rows, seen as [dims...] and transposed by perm, are the rows).
  static llvm::Expected<Weight> make(mlir::ml_program::GlobalOp global, llvm::ArrayRef<uint8_t> bytes);

  llvm::ArrayRef<int64_t> shape() const { return dims; }
  int64_t rows() const { return dims.empty() ? 1 : dims.front(); }
  /// Elements of one row: the product of the dimensions behind the first; of a weight of rank 1, one.
  int64_t rowElements() const { return columns; }

  /// Decodes row `row` to `out` [rowElements()].
  void decodeRow(int64_t row, float *out) const;
  /// Elements [first, first + count), which lie within one entry of the first dimension and are whole blocks.
  void decodeWithinRow(int64_t first, int64_t count, float *out) const;
  /// All of it, in `out` [rows() * rowElements()].
  void decode(float *out) const;

private:
  void decodeElements(int64_t first, int64_t count, float *out) const;

  Shape dims;
  int64_t columns = 1;
  tilewright::StorageType storage;
  int64_t blockElements = 1, blockBytes = 1;
  bool isScalar = false; ///< a builtin float: any element may be decoded alone
  llvm::ArrayRef<uint8_t> data;
  std::vector<int64_t> storedRow; ///< by row; empty: as they are
};

} // namespace tilewright::reference
