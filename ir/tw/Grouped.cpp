// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers, shape rules and derivatives of tw.topk, tw.group_rows and the grouped linear maps.
#include "ir/tw/Build.h"
#include "ir/tw/PackedWeight.h"
#include "ir/tw/Shapes.h"

using namespace mlir;

namespace tilewright::tw {

// The verifiers say what is wrong.
LogicalResult TopkOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto keys = dyn_cast<RankedTensorType>(adaptor.getKeys().getType());
  if (!keys || keys.getRank() < 1 || keys.isDynamicDim(keys.getRank() - 1) || adaptor.getK() < 1)
    return failure();
  SmallVector<int64_t> shape(keys.getShape());
  shape.back() = std::min<int64_t>(shape.back(), adaptor.getK());
  types.assign({keys.clone(shape), RankedTensorType::get(shape, IntegerType::get(context, 32))});
  return success();
}

LogicalResult TopkOp::verify() {
  RankedTensorType keys = getKeys().getType();
  // (C1)
  if (keys.getRank() < 1 || keys.isDynamicDim(keys.getRank() - 1) || keys.getShape().back() < 1)
    return emitOpError("has keys of type ") << keys << ", wanted a static last dimension of at least 1";
  // (C2)
  if (getK() < 1)
    return emitOpError("has k ") << getK() << ", wanted at least 1";
  // (C3)
  if (getTake() && getTake().getType() != keys)
    return emitOpError("takes from ") << getTake().getType() << ", wanted the keys' type " << keys;
  // (C4)
  SmallVector<int64_t> shape(keys.getShape());
  shape.back() = std::min<int64_t>(shape.back(), getK());
  if (getValues().getType() != keys.clone(shape) || getIndices().getType().getShape() != ArrayRef(shape))
    return emitOpError("results are ") << getResultTypes() << ", wanted " << keys.clone(shape)
                                       << " and i32 of its shape";
  return success();
}

/// Of what is taken, 1 at the chosen places: dx[..., i] = sum_r [indices[..., r] = i] g[..., r].
FailureOr<SmallVector<Value>> TopkOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Value from = getTake() ? getTake() : getKeys();
  RankedTensorType type = tensorType(from);
  int64_t last = type.getRank() - 1;
  SmallVector<int64_t> leading = llvm::to_vector(llvm::seq<int64_t>(0, last));
  Value places = IotaOp::create(b, type.clone(b.getI32Type()), from, last), zero = splat(b, 0.0, from), sum;
  for (int64_t r = 0; r < tensorType(getIndices()).getDimSize(last); ++r) {
    auto column = [&](Value value) {
      return broadcast(b, reshape(b, slice(b, value, last, r, 1), type.getShape().drop_back()), from, leading);
    };
    Value chosen = CompareOp::create(b, type.clone(b.getI1Type()), "eq", places, column(getIndices()));
    Value part = SelectOp::create(b, type, chosen, column(gradients.front()), zero);
    sum = sum ? AddOp::create(b, sum, part).getResult() : part;
  }
  if (getTake())
    return SmallVector<Value>{Value(), sum};
  return SmallVector<Value>{sum};
}

LogicalResult GroupRowsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto ids = dyn_cast<RankedTensorType>(adaptor.getIds().getType());
  int64_t groups = adaptor.getGroups();
  if (!ids || ids.getRank() != 1 || groups < 1 || groups == INT64_MAX)
    return failure();
  types.assign({ids, ids, ids.clone({groups + 1})});
  return success();
}

LogicalResult GroupRowsOp::verify() {
  RankedTensorType ids = getIds().getType();
  // (C1)
  if (ids.getRank() != 1)
    return emitOpError("ids have rank ") << ids.getRank() << ", wanted 1";
  // (C2)
  if (getGroups() < 1 || getGroups() > INT32_MAX)
    return emitOpError("has ") << getGroups() << " groups, wanted 1 to " << INT32_MAX;
  if (getPerRow() < 1 || (!ids.isDynamicDim(0) && ids.getDimSize(0) % getPerRow() != 0))
    return emitOpError("has ") << ids << " with " << getPerRow()
                               << " ids for each row, wanted a divisor of their number";
  // (C3)
  if (getRows().getType() != ids || getPlaces().getType() != ids ||
      getOffsets().getType() != ids.clone({getGroups() + 1}))
    return emitOpError("results are ") << getResultTypes() << ", wanted twice " << ids << " and "
                                       << ids.clone({getGroups() + 1});
  return success();
}

LogicalResult GroupedLinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto weight = dyn_cast<RankedTensorType>(adaptor.getWeight().getType());
  if (!input || !weight || input.getRank() != 2 || weight.getRank() != 3)
    return failure();
  types.push_back(input.clone({input.getDimSize(0), weight.getDimSize(adaptor.getInOut() ? 2 : 1)}));
  return success();
}

LogicalResult GroupedLinearOp::verify() {
  RankedTensorType input = getInput().getType(), weight = getWeight().getType();
  // (C1)
  if (input.getRank() != 2)
    return emitOpError("input has rank ") << input.getRank() << ", wanted 2";
  if (weight.getRank() != 3 || !weight.hasStaticShape())
    return emitOpError("weight has shape ") << shapeText(weight.getShape()) << ", wanted a static one of rank 3";
  if (!dimsAgree(getIn(), input.getDimSize(1)))
    return emitOpError("weight maps from ")
           << getIn() << " columns, wanted the input's last dimension, " << input.getDimSize(1);
  // (C2)
  Type element = weight.getElementType();
  auto storage = dyn_cast<StorageType>(element);
  if (!isa<FloatType>(element) && (!storage || getInOut()))
    return emitOpError("weight has element type ")
           << element << ", wanted a float" << (getInOut() ? " where it is [in, out]" : " or a storage type");
  if (storage && !isa<FloatType>(element) && getIn() % storage.getBlockElements() != 0)
    return emitOpError("weight maps from ") << getIn() << " columns, wanted a multiple of the block of " << element
                                            << ", " << storage.getBlockElements();
  // (C3)
  int64_t groups = getGroups();
  if (groups < 1 || getOffsets().getType().getShape() != ArrayRef<int64_t>{groups + 1})
    return emitOpError("has ") << groups << " weight matrices and offsets of shape "
                               << shapeText(getOffsets().getType().getShape())
                               << ", wanted one offset more than matrices";
  // (C4)
  if (getBias() && getBias().getType().getShape() != ArrayRef<int64_t>{groups, getOut()})
    return emitOpError("bias has shape ")
           << shapeText(getBias().getType().getShape()) << ", wanted " << shapeText({groups, getOut()});
  // (C5)
  RankedTensorType wanted = input.clone({input.getDimSize(0), getOut()});
  if (getType() != wanted)
    return emitOpError("result is ") << getType() << ", wanted " << wanted;
  return success();
}

LogicalResult PackedGroupedLinearOp::verify() {
  RankedTensorType offsets = getOffsets().getType(), weight = getWeight().getType(), result = getType();
  // (C1)
  if (offsets.getRank() != 1 || offsets.isDynamicDim(0) || offsets.getDimSize(0) < 2)
    return emitOpError("offsets are ") << offsets << ", wanted a static length of at least 2";
  if (result.getRank() != 2 || result.isDynamicDim(1) || result.getDimSize(1) % kPackedGroupRows != 0)
    return emitOpError("result is ") << result << ", wanted rank 2 and a multiple of " << kPackedGroupRows
                                     << " columns";
  // (C2)
  int64_t groups = offsets.getDimSize(0) - 1, blocks = result.getDimSize(1) / kPackedGroupRows;
  if (weight.getRank() != 3 || weight.getDimSize(0) != groups * blocks)
    return emitOpError("weight has shape ") << shapeText(weight.getShape()) << ", wanted " << groups << " times "
                                            << blocks << " groups of " << kPackedGroupRows << " rows";
  // (C3)
  if (getBias() && getBias().getType().getShape() != ArrayRef<int64_t>{groups, result.getDimSize(1)})
    return emitOpError("bias has shape ")
           << shapeText(getBias().getType().getShape()) << ", wanted " << shapeText({groups, result.getDimSize(1)});
  // (C4)
  return verifyPackedOperands(*this, getInput().getType(), getScales(), getSums(), weight, getElement());
}

} // namespace tilewright::tw
