// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Ops.h"
#include "backends/reference/Rows.h"

#include <array>
#include <cmath>

using namespace mlir;

namespace tilewright::reference {

namespace {

/// Eight partial sums, so that the compiler can keep them in vector registers.
template <typename Real> Real dot(const Real *a, const Real *b, int64_t n) {
  constexpr int64_t kLanes = 8;
  Real sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l)
      sums[l] += a[i + l] * b[i + l];
  Real sum = 0;
  for (Real part : sums)
    sum += part;
  for (; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

} // namespace

template <typename Real>
FailureOr<Array<Real>> evaluateLinear(Operation *op, const Array<Real> &input, const Value<Real> &weight,
                                      const Array<Real> *bias) {
  constexpr int64_t kRowsPerTask = 64; // rows of the weight
  Rows<Real> rows(weight);
  int64_t columns = input.shape.back();
  if (columns != rows.columns)
    return op->emitOpError("input has ") << columns << " columns at run time, wanted the weight's " << rows.columns;
  if (bias && bias->size() != rows.count)
    return op->emitOpError("bias has ") << bias->size() << " elements at run time, wanted " << rows.count;
  Shape shape = input.shape;
  shape.back() = rows.count;
  Array<Real> y = Array<Real>::floats(shape); // [inputs, rows]
  int64_t inputs = elementCount(ArrayRef(input.shape).drop_back());
  parallelFor((rows.count + kRowsPerTask - 1) / kRowsPerTask, [&](int64_t task) {
    std::vector<float> scratch;
    std::vector<Real> row(columns);
    int64_t end = std::min(rows.count, (task + 1) * kRowsPerTask);
    for (int64_t o = task * kRowsPerTask; o < end; ++o) {
      rows.read(o, scratch, row.data());
      for (int64_t n = 0; n < inputs; ++n)
        y.reals[n * rows.count + o] =
            dot(input.reals.data() + n * columns, row.data(), columns) + (bias ? bias->reals[o] : Real(0));
    }
  });
  return y;
}

template <typename Real>
FailureOr<Array<Real>> evaluateBatchMatmul(tw::BatchMatmulOp op, const Array<Real> &lhs, const Array<Real> &rhs) {
  bool transposed = op.getTransposeB();
  int64_t rank = lhs.rank(), m = lhs.shape[rank - 2], k = lhs.shape[rank - 1];
  int64_t n = rhs.shape[rank - (transposed ? 2 : 1)], rhsK = rhs.shape[rank - (transposed ? 1 : 2)];
  if (k != rhsK || ArrayRef(lhs.shape).drop_back(2) != ArrayRef(rhs.shape).drop_back(2))
    return op.emitOpError("multiplies ") << text(lhs.shape) << " by " << text(rhs.shape)
                                         << " at run time, wanted equal leading and contracted dimensions";
  Shape shape = lhs.shape;
  shape[rank - 1] = n;
  Array<Real> y = Array<Real>::floats(shape);
  int64_t count = elementCount(ArrayRef(lhs.shape).drop_back(2));
  parallelFor(count * m, [&](int64_t row) {
    const Real *a = lhs.reals.data() + row * k, *b = rhs.reals.data() + row / m * n * k;
    std::vector<Real> column(k);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < k; ++i)
        column[i] = transposed ? b[j * k + i] : b[i * n + j];
      y.reals[row * n + j] = dot(a, column.data(), k);
    }
  });
  return y;
}

template <typename Real>
FailureOr<Array<Real>> evaluateGather(Operation *op, const Value<Real> &table, const Array<Real> &ids,
                                      int64_t batchDims) {
  ArrayRef<int64_t> from = table.weight ? table.weight->shape() : ArrayRef<int64_t>(table.array->shape);
  ArrayRef<int64_t> batch = from.take_front(batchDims);
  if (batch != ArrayRef(ids.shape).take_front(batchDims))
    return op->emitOpError("table is ") << text(from) << " and ids are " << text(ids.shape)
                                        << " at run time, wanted the same first " << batchDims << " dimensions";
  Rows<Real> rows(table, batchDims);
  Shape shape = ids.shape;
  llvm::append_range(shape, from.drop_front(batchDims + 1));
  Array<Real> y = Array<Real>::floats(shape);
  int64_t tables = elementCount(batch), idsOfTable = tables ? ids.size() / tables : 0;
  std::vector<float> scratch;
  for (int64_t n = 0; n < ids.size(); ++n) {
    int64_t id = ids.integers[n];
    if (id < 0 || id >= rows.count)
      return op->emitOpError("id ") << n << " is " << id << ", wanted 0 <= id < " << rows.count;
    rows.read(n / idsOfTable * rows.count + id, scratch, y.reals.data() + n * rows.columns);
  }
  return y;
}

template <typename Real> Array<Real> dequantizeRows(const Array<Real> &quants, const Array<Real> &scales) {
  Array<Real> x = Array<Real>::floats(quants.shape);
  int64_t block = scales.size() == 0 ? 1 : quants.size() / scales.size();
  for (int64_t i = 0; i < quants.size(); ++i)
    x.reals[i] = static_cast<Real>(quants.integers[i]) * scales.reals[i / block];
  return x;
}

template <typename Real>
FailureOr<std::array<Array<Real>, 3>> evaluateQuantizeRows(tw::QuantizeRowsOp op, const Array<Real> &input) {
  constexpr Real kLargest = 127;
  int64_t block = op.getBlock(), columns = input.shape[1];
  Shape perBlock = {input.shape[0], columns / block};
  Array<Real> quants = Array<Real>::ints(input.shape), scales = Array<Real>::floats(perBlock),
              sums = Array<Real>::floats(perBlock);
  for (int64_t i = 0; i < scales.size(); ++i) {
    const Real *x = input.reals.data() + i * block;
    Real largest = 0;
    bool isNan = false;
    for (int64_t k = 0; k < block; ++k) {
      isNan |= std::isnan(x[k]);
      largest = std::fmax(largest, std::fabs(x[k]));
    }
    Real scale = isNan ? std::numeric_limits<Real>::quiet_NaN() : largest / kLargest;
    int64_t sum = 0;
    for (int64_t k = 0; k < block; ++k) {
      // nearbyint rounds half to even; a block of zeros, infinities or NaN has no quants.
      Real q = scale > 0 && std::isfinite(scale) ? std::nearbyint(x[k] / scale) : Real(0);
      quants.integers[i * block + k] = static_cast<int64_t>(q);
      sum += static_cast<int64_t>(q);
    }
    scales.reals[i] = scale;
    sums.reals[i] = scale * static_cast<Real>(sum);
  }
  return std::array<Array<Real>, 3>{std::move(quants), std::move(scales), std::move(sums)};
}

#define INSTANTIATE(Real)                                                                                              \
  template FailureOr<Array<Real>> evaluateLinear(Operation *, const Array<Real> &, const Value<Real> &,                \
                                                 const Array<Real> *);                                                 \
  template FailureOr<Array<Real>> evaluateBatchMatmul(tw::BatchMatmulOp, const Array<Real> &, const Array<Real> &);    \
  template FailureOr<Array<Real>> evaluateGather(Operation *, const Value<Real> &, const Array<Real> &, int64_t);      \
  template Array<Real> dequantizeRows(const Array<Real> &, const Array<Real> &);                                       \
  template FailureOr<std::array<Array<Real>, 3>> evaluateQuantizeRows(tw::QuantizeRowsOp, const Array<Real> &);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace tilewright::reference
