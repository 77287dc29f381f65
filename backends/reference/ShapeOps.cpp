// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilewright::reference {

namespace {

Shape stridesOf(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Steps `index` through `shape` in row-major order.
void next(Shape &index, ArrayRef<int64_t> shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i])
      return;
    index[i] = 0;
  }
}

int64_t dot(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  int64_t sum = 0;
  for (auto [x, y] : llvm::zip_equal(a, b))
    sum += x * y;
  return sum;
}

/// y[i...] = x[offset + sum_d i_d * strides_d]: broadcast, transpose and slice are all of this kind.
template <typename Real>
Array<Real> strided(const Array<Real> &x, ArrayRef<int64_t> shape, int64_t offset, ArrayRef<int64_t> strides) {
  Array<Real> y = x.isFloat ? Array<Real>::floats(shape) : Array<Real>::ints(shape);
  Shape at(shape.size(), 0);
  for (int64_t i = 0; i < y.size(); ++i, next(at, shape)) {
    int64_t source = offset + dot(at, strides);
    if (x.isFloat)
      y.reals[i] = x.reals[source];
    else
      y.integers[i] = x.integers[source];
  }
  return y;
}

template <typename Real> Array<Real> iota(tw::IotaOp op, const Array<Real> &like) {
  Array<Real> y = Array<Real>::ints(like.shape);
  Shape at(like.shape.size(), 0);
  for (int64_t i = 0; i < y.size(); ++i, next(at, like.shape))
    y.integers[i] = at[op.getDim()];
  return y;
}

template <typename Real>
FailureOr<Array<Real>> broadcast(tw::BroadcastOp op, const Array<Real> &x, const Array<Real> &like) {
  Shape strides(like.rank(), 0), own = stridesOf(x.shape);
  for (auto [k, d] : llvm::enumerate(op.getDims())) {
    if (x.shape[k] != like.shape[d])
      return op.emitOpError("input has shape ") << text(x.shape) << " at run time, which does not fit "
                                                << text(like.shape) << " at dims [" << op.getDims() << "]";
    strides[d] = own[k];
  }
  return strided(x, like.shape, 0, strides);
}

template <typename Real> Array<Real> reduce(tw::ReduceOp op, const Array<Real> &x) {
  Shape shape, kept; // of the result; the dimensions that it keeps
  int64_t count = 1; // elements that meet in one
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (llvm::is_contained(op.getDims(), d)) {
      count *= x.shape[d];
      continue;
    }
    shape.push_back(x.shape[d]);
    kept.push_back(d);
  }
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  StringRef kind = op.getKind();
  Array<Real> y = Array<Real>::floats(shape);
  std::fill(y.reals.begin(), y.reals.end(), kind == "max" ? -kInfinity : kind == "min" ? kInfinity : Real(0));
  Shape at(x.rank(), 0), strides = stridesOf(shape);
  for (int64_t i = 0; i < x.size(); ++i, next(at, x.shape)) {
    int64_t target = 0;
    for (auto [k, d] : llvm::enumerate(kept))
      target += at[d] * strides[k];
    Real v = x.reals[i], &sum = y.reals[target];
    if (kind == "max")
      sum = std::isnan(v) || std::isnan(sum) ? v + sum : std::fmax(sum, v);
    else if (kind == "min")
      sum = std::isnan(v) || std::isnan(sum) ? v + sum : std::fmin(sum, v);
    else
      sum += v;
  }
  if (kind == "mean")
    for (Real &sum : y.reals)
      sum /= static_cast<Real>(count);
  return y;
}

template <typename Real> FailureOr<Array<Real>> reshape(tw::ReshapeOp op, const Array<Real> &x) {
  Shape shape(op.getType().getShape());
  int64_t known = 1, *open = nullptr;
  for (int64_t &d : shape) {
    if (ShapedType::isDynamic(d))
      open = &d;
    else
      known *= d;
  }
  if (open)
    *open = known == 0 ? 0 : x.size() / known;
  if (elementCount(shape) != x.size())
    return op.emitOpError("reshapes ") << text(x.shape) << " at run time, wanted the number of elements of "
                                       << op.getType();
  Array<Real> y = x;
  y.shape = shape;
  return y;
}

template <typename Real> Array<Real> transpose(tw::TransposeOp op, const Array<Real> &x) {
  Shape shape, strides, own = stridesOf(x.shape);
  for (int64_t p : op.getPerm()) {
    shape.push_back(x.shape[p]);
    strides.push_back(own[p]);
  }
  return strided(x, shape, 0, strides);
}

template <typename Real> FailureOr<Array<Real>> slice(tw::SliceOp op, const Array<Real> &x) {
  int64_t extent = x.shape[op.getDim()], start = op.getStart();
  int64_t size = op.getSize() >= 0 ? op.getSize() : extent - start;
  if (start > extent || size > extent - start)
    return op.emitOpError("takes ") << size << " elements from " << start << " of dimension " << op.getDim()
                                    << ", which has " << extent << " at run time";
  Shape shape = x.shape, strides = stridesOf(x.shape);
  shape[op.getDim()] = size;
  return strided(x, shape, start * strides[op.getDim()], strides);
}

template <typename Real> FailureOr<Array<Real>> concat(tw::ConcatOp op, ArrayRef<ArrayPtr<Real>> in) {
  int64_t dim = op.getDim();
  Shape shape = in[0]->shape;
  for (auto [i, x] : llvm::enumerate(in)) {
    Shape other = x->shape;
    other[dim] = in[0]->shape[dim];
    if (other != in[0]->shape)
      return op.emitOpError("operand ") << i << " has shape " << text(x->shape) << " at run time, which does not join "
                                        << text(in[0]->shape) << " along dimension " << dim;
    if (i > 0)
      shape[dim] += x->shape[dim];
  }
  Array<Real> y = in[0]->isFloat ? Array<Real>::floats(shape) : Array<Real>::ints(shape);
  int64_t outer = elementCount(ArrayRef(shape).take_front(dim)),
          inner = elementCount(ArrayRef(shape).drop_front(dim + 1));
  int64_t at = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (const ArrayPtr<Real> &x : in) {
      int64_t run = x->shape[dim] * inner;
      for (int64_t i = 0; i < run; ++i, ++at) {
        if (y.isFloat)
          y.reals[at] = x->reals[o * run + i];
        else
          y.integers[at] = x->integers[o * run + i];
      }
    }
  return y;
}

} // namespace

template <typename Real> FailureOr<Array<Real>> evaluateShape(Operation *op, ArrayRef<ArrayPtr<Real>> in) {
  using Result = FailureOr<Array<Real>>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tw::IotaOp iotaOp) -> Result { return iota(iotaOp, *in[0]); })
      .Case([&](tw::BroadcastOp broadcastOp) -> Result { return broadcast(broadcastOp, *in[0], *in[1]); })
      .Case([&](tw::ReduceOp reduceOp) -> Result { return reduce(reduceOp, *in[0]); })
      .Case([&](tw::ReshapeOp reshapeOp) -> Result { return reshape(reshapeOp, *in[0]); })
      .Case([&](tw::TransposeOp transposeOp) -> Result { return transpose(transposeOp, *in[0]); })
      .Case([&](tw::SliceOp sliceOp) -> Result { return slice(sliceOp, *in[0]); })
      .Case([&](tw::ConcatOp concatOp) -> Result { return concat(concatOp, in); })
      .Default([&](Operation *) -> Result { return op->emitOpError("has no meaning in the interpreter"); });
}

template FailureOr<Array<float>> evaluateShape(Operation *, ArrayRef<ArrayPtr<float>>);
template FailureOr<Array<double>> evaluateShape(Operation *, ArrayRef<ArrayPtr<double>>);

} // namespace tilewright::reference
