// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel function under construction: arguments are added as the body asks for them.
#pragma once

#include "ir/interfaces/KernelBuilder.h"
#include "passes/tile/RowSymbols.h"

#include "mlir/IR/SymbolTable.h"

namespace tilewright {

/// `func.func @name(memrefs..., symbols..., %begin, %end)`, as `tw.dispatch` describes it, and what the dispatch
/// needs to know. Operands and results of the dispatch are numbered in the order in which they are first asked for.
class KernelFunction {
public:
  KernelFunction(mlir::SymbolTable &symbols, RowSymbols &rows, mlir::Location loc, llvm::StringRef name);

  mlir::func::FuncOp function() { return func; }
  mlir::OpBuilder &builder() { return body; }
  mlir::Value begin() { return func.getArgument(func.getNumArguments() - 2); }
  mlir::Value end() { return func.getArgument(func.getNumArguments() - 1); }

  /// `value` as a read-only tensor over its argument; an argument per value. Null, with a diagnostic, for a type that
  /// no buffer can have.
  mlir::Value input(mlir::Value value);
  /// The writable tensor for a result that stands for `value`; to be completed by `finish`.
  mlir::Value output(mlir::Value value);
  /// The kernel is done: `tensor` is what the destination of the result that stands for `value` has become.
  void finish(mlir::Value value, mlir::Value tensor);
  /// Buffer `index` of a state operand as a memref.
  mlir::Value statePool(mlir::Value state, unsigned index, mlir::MemRefType type);
  /// A state result of the dispatch that stands for `value`.
  void stateResult(mlir::Value value);
  mlir::Value table(StepTable table, bool ofSource);
  /// The step's count of that name as an index argument ("N", "R", ...).
  mlir::Value symbol(llvm::StringRef name);

  void setChunks(mlir::AffineExpr expr) { chunks = expr; }

  /// Ends the body and emits the dispatch at `builder`, on `mapped(value)` for each operand.
  mlir::Operation *dispatch(mlir::OpBuilder &builder, llvm::function_ref<mlir::Value(mlir::Value)> mapped);
  /// What each result of the dispatch stands for.
  llvm::ArrayRef<mlir::Value> results() const { return outputs; }
  /// Names of dynamic dimensions.
  RowSymbols &rowSymbols() { return rows; }

private:
  mlir::Value addArgument(mlir::Type type, mlir::ArrayAttr source, mlir::ArrayAttr dims);
  mlir::ArrayAttr dimsOf(mlir::ShapedType type, llvm::StringRef rows);
  unsigned operandNumber(mlir::Value value);

  mlir::func::FuncOp func;
  mlir::OpBuilder body;
  RowSymbols &rows;
  mlir::Location loc;
  unsigned buffers = 0; ///< arguments before the symbols
  llvm::SmallVector<mlir::Value> inputs, outputs;
  llvm::DenseMap<mlir::Value, mlir::Value> inputTensors, outputArguments;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> pools;
  llvm::StringMap<mlir::Value> tables;
  llvm::StringMap<mlir::Value> counts;
  mlir::AffineExpr chunks;
};

/// The step's counts as the symbols of `tw.dispatch`'s map.
enum class StepCount { PaddedRows = 0, Rows = 1, Tiles = 2, LogitRows = 3 };
mlir::AffineExpr stepCount(StepCount count, mlir::MLIRContext *context);

} // namespace tilewright
