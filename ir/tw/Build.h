// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short forms for code that emits `tw` ops: reference lowerings, gradients, recognisers.
#pragma once

#include "ir/tw/Tw.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::tw {

/// `value` as a ranked tensor type.
mlir::RankedTensorType tensorType(mlir::Value value);

/// The float type that what is computed on values of `element` is kept in: f32 of narrower floats, else their own.
mlir::FloatType wideFloat(mlir::Type element);

/// `value` with element type `element`; the value itself when it has it.
mlir::Value castTo(mlir::ImplicitLocOpBuilder &builder, mlir::Value value, mlir::Type element);

/// `value` in every element of a tensor of `like`'s shape and element type (a float).
mlir::Value splat(mlir::ImplicitLocOpBuilder &builder, double value, mlir::Value like);

/// `input` repeated to `like`'s shape; dimension k of the input is dimension dims[k] of the result.
mlir::Value broadcast(mlir::ImplicitLocOpBuilder &builder, mlir::Value input, mlir::Value like,
                      llvm::ArrayRef<int64_t> dims);

/// Reduction of `input` over `dims`; kind: "sum", "mean", "max" or "min".
mlir::Value reduce(mlir::ImplicitLocOpBuilder &builder, llvm::StringRef kind, mlir::Value input,
                   llvm::ArrayRef<int64_t> dims);

/// Elements [start, start + size) of dimension `dim`; size -1: up to the end.
mlir::Value slice(mlir::ImplicitLocOpBuilder &builder, mlir::Value input, int64_t dim, int64_t start, int64_t size);

/// Dimension i of the result is dimension perm[i] of the input.
mlir::Value transpose(mlir::ImplicitLocOpBuilder &builder, mlir::Value input, llvm::ArrayRef<int64_t> perm);

/// The inputs one after another along `dim`.
mlir::Value concat(mlir::ImplicitLocOpBuilder &builder, int64_t dim, llvm::ArrayRef<mlir::Value> inputs);

/// The same elements under another shape (at most one dynamic dimension).
mlir::Value reshape(mlir::ImplicitLocOpBuilder &builder, mlir::Value input, llvm::ArrayRef<int64_t> shape);

/// The same with a dimension of size 1 in front of dimension `dim`.
mlir::Value unsqueeze(mlir::ImplicitLocOpBuilder &builder, mlir::Value input, int64_t dim);

/// Element `index` of the first dimension: [n, d...] -> [d...].
mlir::Value pick(mlir::ImplicitLocOpBuilder &builder, mlir::Value input, int64_t index);

/// `row`, of the shape `rowShape`, at each element of `places` (floats, none of them NaN): [places..., rowShape...] in
/// f64. It makes a shape that no tensor has yet, so that others can be repeated like it.
mlir::Value atPlaces(mlir::ImplicitLocOpBuilder &builder, mlir::Value places, llvm::ArrayRef<double> row,
                     llvm::ArrayRef<int64_t> rowShape);

/// The single number that all elements of `value` are: a constant splat, also repeated, reshaped, cast to a float, or
/// what arithmetic makes of such (`1 / sqrt(64)`). Nothing if `value` is anything else.
std::optional<double> splatConstant(mlir::Value value);

/// Erases `op` if nothing uses it, and then what only it used. Returns what was erased (not to be dereferenced).
llvm::DenseSet<mlir::Operation *> eraseDead(mlir::Operation *op);

} // namespace tilewright::tw
