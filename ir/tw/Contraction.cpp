// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Build.h"
#include "ir/tw/Shapes.h"

using namespace mlir;

namespace tilewright::tw {

LogicalResult BatchMatmulOp::verify() {
  RankedTensorType a = getLhs().getType(), b = getRhs().getType(), y = getType();
  int64_t rank = a.getRank();
  if (rank < 2 || b.getRank() != rank || a.getElementType() != b.getElementType() ||
      !shapesAgree(a.getShape().drop_back(2), b.getShape().drop_back(2))) // (C1)
    return emitOpError("operands are ")
           << a << " and " << b << ", wanted one rank of at least 2, one element type and equal leading dimensions";
  int64_t k = b.getDimSize(getTransposeB() ? rank - 1 : rank - 2),
          n = b.getDimSize(getTransposeB() ? rank - 2 : rank - 1);
  if (!dimsAgree(a.getDimSize(rank - 1), k)) // (C2)
    return emitOpError("contracts dimensions of ")
           << a.getDimSize(rank - 1) << " and " << k << " elements, wanted equal ones";
  SmallVector<int64_t> shape(a.getShape());
  shape[rank - 1] = n;
  if (!shapesAgree(y.getShape(), shape) || y.getElementType() != a.getElementType()) // (C3)
    return emitOpError("result is ") << y << ", wanted " << a.clone(shape);
  return success();
}

LogicalResult SoftmaxOp::verify() {
  RankedTensorType type = getInput().getType();
  int64_t dim = getDim();
  if (dim < 0 || dim >= type.getRank() || type.getDimSize(dim) == 0) // (C1)
    return emitOpError("has dim ") << dim << " of " << type << ", wanted a dimension that is not empty";
  return success();
}

FailureOr<SmallVector<Value>> SoftmaxOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Type element = getType().getElementType();
  Value x = castTo(b, getInput(), wideFloat(element));
  int64_t dim = getDim();
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < getType().getRank(); ++i)
    if (i != dim)
      others.push_back(i);
  Value maximum = reduce(b, "max", x, {dim});
  Value e = ExpOp::create(b, SubOp::create(b, x, broadcast(b, maximum, x, others)));
  Value sum = reduce(b, "sum", e, {dim});
  return SmallVector<Value>{castTo(b, DivOp::create(b, e, broadcast(b, sum, x, others)), element)};
}

} // namespace tilewright::tw
