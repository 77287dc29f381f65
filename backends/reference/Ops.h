// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each core op computes, on arrays. Internal to the interpreter: every shape that the verifiers could not compare
// has been compared here; a failure has emitted its diagnostic on the op.
#pragma once

#include "backends/reference/Tensor.h"
#include "backends/reference/Weights.h"
#include "ir/tw/Tw.h"

namespace tilewright::reference {

template <typename Real> using ArrayPtr = std::shared_ptr<const Array<Real>>;
template <typename Real> using StatePtr = std::shared_ptr<const StateRows<Real>>;

/// A value while a function runs.
template <typename Real> struct Value {
  ArrayPtr<Real> array;                 ///< of a tensor, unless it is a weight
  std::shared_ptr<const Weight> weight; ///< of a tensor that was loaded from a global
  StatePtr<Real> state;                 ///< of a state; null is the empty one
};

/// The elements of `attr`, which has any shaped type of integers or floats.
template <typename Real> mlir::FailureOr<Array<Real>> arrayOf(mlir::Operation *op, mlir::ElementsAttr attr);

/// Elementwise ops (Elementwise.td), any number of operands of one shape.
template <typename Real>
mlir::FailureOr<Array<Real>> evaluateElementwise(mlir::Operation *op, llvm::ArrayRef<ArrayPtr<Real>> operands);

/// iota, broadcast, reduce, reshape, transpose, slice, concat (Shape.td).
template <typename Real>
mlir::FailureOr<Array<Real>> evaluateShape(mlir::Operation *op, llvm::ArrayRef<ArrayPtr<Real>> operands);

template <typename Real>
mlir::FailureOr<Array<Real>> evaluateGather(mlir::Operation *op, const Value<Real> &table, const Array<Real> &ids,
                                            int64_t batchDims);

/// `bias` may be null.
template <typename Real>
mlir::FailureOr<Array<Real>> evaluateLinear(mlir::Operation *op, const Array<Real> &input, const Value<Real> &weight,
                                            const Array<Real> *bias);

/// What quantize_rows made its quants from, as far as they say: each times the scale of its block.
template <typename Real> Array<Real> dequantizeRows(const Array<Real> &quants, const Array<Real> &scales);

/// Values and indices. `take` may be null.
template <typename Real>
std::array<Array<Real>, 2> evaluateTopk(tw::TopkOp op, const Array<Real> &keys, const Array<Real> *take);

/// rows, places, offsets.
template <typename Real>
mlir::FailureOr<std::array<Array<Real>, 3>> evaluateGroupRows(tw::GroupRowsOp op, const Array<Real> &ids);

/// `out` columns of the result, by matrices [columns, out] with `inOut`; `bias` may be null.
template <typename Real>
mlir::FailureOr<Array<Real>> evaluateGroupedLinear(mlir::Operation *op, const Array<Real> &input,
                                                   const Value<Real> &weight, const Array<Real> &offsets,
                                                   const Array<Real> *bias, int64_t out, bool inOut);

template <typename Real>
mlir::FailureOr<Array<Real>> evaluateBatchMatmul(tw::BatchMatmulOp op, const Array<Real> &lhs, const Array<Real> &rhs);

/// quants, scales, sums.
template <typename Real>
mlir::FailureOr<std::array<Array<Real>, 3>> evaluateQuantizeRows(tw::QuantizeRowsOp op, const Array<Real> &input);

template <typename Real>
mlir::FailureOr<StatePtr<Real>> evaluateAppend(tw::AppendOp op, const StatePtr<Real> &state,
                                               const Array<Real> &rowStart, llvm::ArrayRef<ArrayPtr<Real>> values);

/// Operands by name; what the op does not have is null.
template <typename Real> struct AttentionOperands {
  ArrayPtr<Real> query, key, value, rowStart, kvLen, positions, mask, bias, sinks, kvStart, kvEnd, prefixLen,
      cuSeqlensQ, cuSeqlensKv;
  StatePtr<Real> state;
};
template <typename Real> struct AttentionResults {
  Array<Real> out;
  std::optional<Array<Real>> lse, weights; ///< those that are results of the op
};
template <typename Real>
mlir::FailureOr<AttentionResults<Real>> evaluateAttention(tw::AttentionOp op, const AttentionOperands<Real> &operands);

/// Rounds to the element type where that is narrower than f32 (f32 itself in f64 precision stays exact).
template <typename Real> void roundToType(Array<Real> &array, mlir::Type element);

/// "2x3" for messages.
std::string text(llvm::ArrayRef<int64_t> shape);

} // namespace tilewright::reference
