// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short words for writing kernels: linalg on tile-sized tensors, slices, loops and scalars.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tilewright {

/// Emits at the insertion point of a builder. Dimensions of indexing maps are made by `d(i)`.
class TileBuilder {
public:
  TileBuilder(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  using Body = llvm::function_ref<mlir::Value(TileBuilder &body, mlir::ValueRange args)>;
  using Bodies = llvm::function_ref<llvm::SmallVector<mlir::Value>(TileBuilder &body, mlir::ValueRange args)>;
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value iv, mlir::ValueRange state)>;

  // Tensors.
  /// A buffer of its own, contents undefined.
  mlir::Value alloc(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// An f32 buffer filled with `value`.
  mlir::Value filled(llvm::ArrayRef<int64_t> shape, double value);
  mlir::Value filled(llvm::ArrayRef<int64_t> shape, mlir::Value scalar);
  /// A destination whose contents are not read; bufferisation places it.
  mlir::Value empty(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// The elements [offsets, offsets + sizes); `shape`, if given, drops dimensions of size 1.
  mlir::Value slice(mlir::Value source, llvm::ArrayRef<mlir::OpFoldResult> offsets, llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> shape = {});
  /// `destination` with the elements [offsets, offsets + sizes) replaced.
  mlir::Value insert(mlir::Value source, mlir::Value destination, llvm::ArrayRef<mlir::OpFoldResult> offsets,
                     llvm::ArrayRef<int64_t> sizes);
  /// A kernel's buffer as a tensor.
  mlir::Value tensorOf(mlir::Value buffer, bool writable);
  /// `tensor` is what the buffer has become.
  void store(mlir::Value tensor, mlir::Value buffer);
  /// The same elements, row-major, in another static shape.
  mlir::Value reshape(mlir::Value source, llvm::ArrayRef<int64_t> shape);

  // linalg.
  /// One generic over `iterators` ('p' parallel, 'r' reduction). `out` is the init; its old value is the body's last
  /// argument.
  mlir::Value generic(mlir::ValueRange ins, mlir::Value out, llvm::ArrayRef<mlir::AffineMap> maps,
                      llvm::StringRef iterators, Body body);
  /// The same with several destinations.
  llvm::SmallVector<mlir::Value> generic(mlir::ValueRange ins, mlir::ValueRange outs,
                                         llvm::ArrayRef<mlir::AffineMap> maps, llvm::StringRef iterators, Bodies body);
  /// Elementwise on tensors of one shape; the result overwrites `out`.
  mlir::Value elementwise(mlir::ValueRange ins, mlir::Value out, Body body);
  mlir::AffineExpr d(unsigned dim) { return b.getAffineDimExpr(dim); }
  mlir::AffineMap map(unsigned dims, llvm::ArrayRef<mlir::AffineExpr> results) {
    return mlir::AffineMap::get(dims, 0, results, b.getContext());
  }
  mlir::AffineExpr zero() { return b.getAffineConstantExpr(0); }
  /// Inside a body: the position along an iterator.
  mlir::Value index(unsigned dim);

  // Loops: for (iv = low; iv < high; ++iv), with what the body yields carried along.
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high, mlir::ValueRange inits, LoopBody body);

  // Scalars.
  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(b, loc, value); }
  mlir::Value f32(double value) { return mlir::arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); }
  mlir::Value integer(mlir::Type type, int64_t value) {
    return mlir::arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y); ///< unsigned for integers
  mlir::Value rem(mlir::Value x, mlir::Value y); ///< unsigned
  mlir::Value min(mlir::Value x, mlir::Value y); ///< signed, of integers
  mlir::Value max(mlir::Value x, mlir::Value y); ///< signed, of integers
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, mlir::Value y);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value ceilDiv(mlir::Value x, int64_t y); ///< of indices
  /// An i32 as an index.
  mlir::Value toIndex(mlir::Value value);
  /// Any float as f32.
  mlir::Value toF32(mlir::Value value);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Type shorthands.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getShape();
}

} // namespace tilewright
