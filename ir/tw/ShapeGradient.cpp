// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of the shape ops and reductions.
#include "ir/tw/Build.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

/// The dimensions below `rank` that are not in `dims`, which is sorted.
SmallVector<int64_t> otherDims(int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(dims, i))
      others.push_back(i);
  return others;
}

Value zeros(ImplicitLocOpBuilder &b, Value like) { return splat(b, 0.0, like); }

} // namespace

FailureOr<SmallVector<Value>> BroadcastOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Value g = gradients.front();
  SmallVector<int64_t> repeated = otherDims(tensorType(g).getRank(), getDims());
  // `like` gives its shape alone.
  return SmallVector<Value>{repeated.empty() ? g : reduce(b, "sum", g, repeated), Value()};
}

FailureOr<SmallVector<Value>> ReduceOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Value g = gradients.front(), x = getInput();
  SmallVector<int64_t> kept = otherDims(tensorType(x).getRank(), getDims());
  auto spread = [&](Value value) { return broadcast(b, value, x, kept); };
  if (getKind() == "sum")
    return SmallVector<Value>{spread(g)};
  Value one = splat(b, 1.0, x);
  if (getKind() == "mean")
    return SmallVector<Value>{spread(DivOp::create(b, g, reduce(b, "sum", one, getDims())))};
  // Elements that tie for the extreme share its gradient.
  Value extreme = CompareOp::create(b, tensorType(x).clone(b.getI1Type()), "eq", x, spread(getResult()));
  Value ones = SelectOp::create(b, x.getType(), extreme, one, zeros(b, x));
  Value share = DivOp::create(b, g, reduce(b, "sum", ones, getDims()));
  return SmallVector<Value>{SelectOp::create(b, x.getType(), extreme, spread(share), zeros(b, x))};
}

FailureOr<SmallVector<Value>> ReshapeOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  RankedTensorType type = tensorType(getInput());
  if (type.getNumDynamicDims() > 1)
    return emitOpError("has no gradient: its input ") << type
                                                      << " has more than one dynamic dimension, which a reshape "
                                                         "of the gradient cannot restore";
  return SmallVector<Value>{reshape(b, gradients.front(), type.getShape())};
}

FailureOr<SmallVector<Value>> TransposeOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  return SmallVector<Value>{transpose(b, gradients.front(), invertPermutationVector(getPerm()))};
}

FailureOr<SmallVector<Value>> SliceOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Value x = getInput(), g = gradients.front();
  int64_t dim = getDim(), end = getStart() + getSize(), whole = tensorType(x).getDimSize(dim);
  SmallVector<Value> parts;
  if (getStart() > 0)
    parts.push_back(zeros(b, slice(b, x, dim, 0, getStart())));
  parts.push_back(g);
  if (getSize() >= 0 && whole != end)
    parts.push_back(zeros(b, slice(b, x, dim, end, -1)));
  if (parts.size() == 1)
    return SmallVector<Value>{g};
  return SmallVector<Value>{ConcatOp::create(b, tensorType(x), dim, parts)};
}

FailureOr<SmallVector<Value>> ConcatOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  SmallVector<Value> parts;
  int64_t start = 0, dim = getDim();
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    bool last = i + 1 == getInputs().size();
    int64_t size = tensorType(input).getDimSize(dim);
    if (ShapedType::isDynamic(size) && !last)
      return emitOpError("has no gradient: operand #")
             << i << " has a dynamic dimension " << dim << " and is not the last, so the start of the next is unknown";
    parts.push_back(slice(b, gradients.front(), dim, start, last ? -1 : size));
    start += size;
  }
  return parts;
}

} // namespace tilewright::tw
