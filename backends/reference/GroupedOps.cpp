// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Ops.h"
#include "backends/reference/Rows.h"

#include <array>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace tilewright::reference {

template <typename Real>
std::array<Array<Real>, 2> evaluateTopk(tw::TopkOp op, const Array<Real> &keys, const Array<Real> *take) {
  int64_t n = keys.shape.back(), k = op.getValues().getType().getShape().back();
  Shape shape = keys.shape;
  shape.back() = k;
  std::array<Array<Real>, 2> results = {Array<Real>::floats(shape), Array<Real>::ints(shape)};
  const std::vector<Real> &from = (take ? *take : keys).reals;
  std::vector<int64_t> order(n);
  for (int64_t row = 0; row < keys.size() / n; ++row) {
    const Real *x = keys.reals.data() + row * n;
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](int64_t a, int64_t b) {
      if (std::isnan(x[a]) != std::isnan(x[b]))
        return std::isnan(x[b]);
      return x[a] > x[b] || (!(x[b] > x[a]) && a < b);
    });
    for (int64_t r = 0; r < k; ++r) {
      results[0].reals[row * k + r] = from[row * n + order[r]];
      results[1].integers[row * k + r] = order[r];
    }
  }
  return results;
}

template <typename Real>
FailureOr<std::array<Array<Real>, 3>> evaluateGroupRows(tw::GroupRowsOp op, const Array<Real> &ids) {
  int64_t groups = op.getGroups();
  std::array<Array<Real>, 3> results = {Array<Real>::ints(ids.shape), Array<Real>::ints(ids.shape),
                                        Array<Real>::ints({groups + 1})};
  auto &[rows, places, offsets] = results;
  for (int64_t m = 0; m < ids.size(); ++m) {
    int64_t id = ids.integers[m];
    if (id < 0 || id >= groups)
      return op.emitOpError("id ") << m << " is " << id << ", wanted 0 <= id < " << groups;
    ++offsets.integers[id + 1];
  }
  std::partial_sum(offsets.integers.begin(), offsets.integers.end(), offsets.integers.begin());
  std::vector<int64_t> free(offsets.integers);
  for (int64_t m = 0; m < ids.size(); ++m) {
    int64_t place = free[ids.integers[m]]++;
    rows.integers[place] = m / op.getPerRow();
    places.integers[m] = place;
  }
  return results;
}

template <typename Real>
FailureOr<Array<Real>> evaluateGroupedLinear(Operation *op, const Array<Real> &input, const Value<Real> &weight,
                                             const Array<Real> &offsets, const Array<Real> *bias, int64_t out,
                                             bool inOut) {
  int64_t rows = input.shape[0], columns = input.shape[1], groups = offsets.size() - 1;
  ArrayRef<int64_t> shape = weight.weight ? weight.weight->shape() : ArrayRef<int64_t>(weight.array->shape);
  int64_t elements = elementCount(shape);
  if (int64_t wanted = out * groups == 0 ? columns : elements / (out * groups); columns != wanted)
    return op->emitOpError("input has ") << columns << " columns at run time, wanted the weight's " << wanted;
  Array<Real> y = Array<Real>::floats({rows, out});
  Rows<Real> stored(weight, shape.size() - 2);
  std::vector<float> scratch;
  int64_t begin = 0;
  for (int64_t g = 0; g <= groups; ++g) {
    int64_t end = offsets.integers[g];
    if (end < begin || end > rows || (g == 0 && end != 0))
      return op->emitOpError("offset ") << g << " is " << end << ", wanted " << begin << " to " << (g ? rows : 0);
    if (g > 0 && end > begin) { // matrix g - 1 [out, columns], decoded only where it has rows
      Array<Real> matrix = Array<Real>::floats({out, columns});
      int64_t first = (g - 1) * out * columns;
      for (int64_t at = 0; at < out * columns; at += stored.columns)
        stored.read((first + at) / stored.columns, scratch, matrix.reals.data() + at);
      if (inOut) {
        std::vector<Real> turned = matrix.reals; // [columns, out]
        for (int64_t i = 0; i < out * columns; ++i)
          matrix.reals[i % out * columns + i / out] = turned[i];
      }
      Array<Real> part = Array<Real>::floats({end - begin, columns});
      std::copy_n(input.reals.begin() + begin * columns, part.size(), part.reals.begin());
      std::optional<Array<Real>> own;
      if (bias) {
        own = Array<Real>::floats({out});
        std::copy_n(bias->reals.begin() + (g - 1) * out, out, own->reals.begin());
      }
      FailureOr<Array<Real>> product = evaluateLinear<Real>(
          op, part, Value<Real>{std::make_shared<Array<Real>>(std::move(matrix)), nullptr, nullptr},
          own ? &*own : nullptr);
      if (failed(product))
        return failure();
      std::copy(product->reals.begin(), product->reals.end(), y.reals.begin() + begin * out);
    }
    begin = end;
  }
  return y;
}

#define INSTANTIATE(Real)                                                                                              \
  template std::array<Array<Real>, 2> evaluateTopk(tw::TopkOp, const Array<Real> &, const Array<Real> *);              \
  template FailureOr<std::array<Array<Real>, 3>> evaluateGroupRows(tw::GroupRowsOp, const Array<Real> &);              \
  template FailureOr<Array<Real>> evaluateGroupedLinear(Operation *, const Array<Real> &, const Value<Real> &,         \
                                                        const Array<Real> &, const Array<Real> *, int64_t, bool);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace tilewright::reference
