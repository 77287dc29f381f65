// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Tw.h"

#include "ir/tw/Shapes.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

/// Whether `dims` is strictly increasing within [0, rank).
bool areIncreasingBelow(ArrayRef<int64_t> dims, int64_t rank) {
  int64_t last = -1;
  for (int64_t d : dims) {
    if (d <= last || d >= rank)
      return false;
    last = d;
  }
  return true;
}

LogicalResult verifyResultShape(Operation *op, RankedTensorType result, ArrayRef<int64_t> wanted) {
  if (shapesAgree(result.getShape(), wanted))
    return success();
  return op->emitOpError("result has shape ") << shapeText(result.getShape()) << ", wanted " << shapeText(wanted);
}

LogicalResult verifySameElement(Operation *op, RankedTensorType result, RankedTensorType input) {
  if (result.getElementType() == input.getElementType())
    return success();
  return op->emitOpError("result has element type ")
         << result.getElementType() << ", wanted the input's, " << input.getElementType();
}

LogicalResult verifyDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("dim is ") << dim << ", wanted 0 <= dim < " << rank;
}

bool isIdentity(ArrayRef<int64_t> perm) {
  for (auto [i, p] : llvm::enumerate(perm))
    if (p != static_cast<int64_t>(i))
      return false;
  return true;
}

} // namespace

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult IotaOp::verify() {
  RankedTensorType like = getLike().getType();
  // (C1)
  if (failed(verifyDim(*this, getDim(), like.getRank())))
    return failure();
  // (C2)
  return verifyResultShape(*this, getType(), like.getShape());
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = getInput().getType(), like = getLike().getType();
  // (C1)
  if (static_cast<int64_t>(getDims().size()) != input.getRank())
    return emitOpError("has ") << getDims().size() << " dims, wanted one per dimension of the input, "
                               << input.getRank();
  if (!areIncreasingBelow(getDims(), like.getRank()))
    return emitOpError("dims [") << getDims() << "] are not strictly increasing below the result's rank "
                                 << like.getRank();
  // (C2)
  for (auto [k, d] : llvm::enumerate(getDims()))
    if (!dimsAgree(input.getDimSize(k), like.getDimSize(d)))
      return emitOpError("input dimension ") << k << " is " << input.getDimSize(k)
                                             << ", wanted that of result dimension " << d << ", " << like.getDimSize(d);
  // (C3)
  if (failed(verifyResultShape(*this, getType(), like.getShape())))
    return failure();
  return verifySameElement(*this, getType(), input);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() && getType().hasStaticShape() ? OpFoldResult(getInput()) : OpFoldResult();
}

LogicalResult ReduceOp::verify() {
  RankedTensorType input = getInput().getType();
  // (C1)
  if (!areIncreasingBelow(getDims(), input.getRank()))
    return emitOpError("dims [") << getDims() << "] are not strictly increasing below the input's rank "
                                 << input.getRank();
  // (C2)
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < input.getRank(); ++d)
    if (!llvm::is_contained(getDims(), d))
      shape.push_back(input.getDimSize(d));
  if (failed(verifyResultShape(*this, getType(), shape)) || failed(verifySameElement(*this, getType(), input)))
    return failure();
  // (C3)
  if (getKind() == "max" || getKind() == "min")
    for (int64_t d : getDims())
      if (input.getDimSize(d) == 0)
        return emitOpError("takes the ") << getKind() << " over dimension " << d << " of size 0";
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  // (C1)
  if (failed(verifySameElement(*this, result, input)))
    return failure();
  // (C2)
  if (result.getNumDynamicDims() > 1)
    return emitOpError("result has ") << result.getNumDynamicDims() << " dynamic dimensions, wanted at most one";
  // (C3)
  auto staticCount = [](RankedTensorType type) {
    int64_t n = 1;
    for (int64_t d : type.getShape())
      if (!ShapedType::isDynamic(d) && llvm::MulOverflow(n, d, n))
        return int64_t(-1);
    return n;
  };
  int64_t from = staticCount(input), to = staticCount(result);
  if (from < 0 || to < 0)
    return emitOpError("has more elements than 63 bits can count");
  bool agree = true;
  if (input.hasStaticShape() && result.hasStaticShape())
    agree = from == to;
  else if (input.hasStaticShape())
    agree = to == 0 ? from == 0 : from % to == 0;
  else if (input.getNumDynamicDims() == 1 && !result.hasStaticShape())
    agree = from == 0 || to == 0 ? from == to : from % to == 0 || to % from == 0;
  else if (input.getNumDynamicDims() == 1)
    agree = from == 0 ? to == 0 : to % from == 0;
  if (!agree)
    return emitOpError("reshapes ") << shapeText(input.getShape()) << " to " << shapeText(result.getShape())
                                    << ": the numbers of elements do not agree";
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType() && getType().getNumDynamicDims() <= 1)
    return getInput();
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()); dense && getType().hasStaticShape())
    return dense.reshape(getType());
  // The outer one decides; a dynamic dimension is computed from the same number of elements.
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

/// Leading dimensions agree one to one; behind them, each group is one dimension on one side and its factors on the
/// other. The outermost factor of a group can be cut.
FailureOr<LoopMap> ReshapeOp::getLoopMap() {
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getType().getShape();
  LoopMap map;
  LoopDims in, out;
  size_t i = 0, o = 0;
  while (i < from.size() && o < to.size()) {
    bool bothDynamic = ShapedType::isDynamic(from[i]) && ShapedType::isDynamic(to[o]);
    if (bothDynamic || from[i] == to[o]) {
      in.push_back(LoopDim::along(map.loops));
      out.push_back(LoopDim::along(map.loops++));
      ++i, ++o;
      continue;
    }
    if (ShapedType::isDynamic(from[i]) || ShapedType::isDynamic(to[o]) || from[i] == 0 || to[o] == 0)
      return failure();
    // The larger side is one dimension; collect its factors from the other side.
    bool splits = from[i] > to[o];
    ArrayRef<int64_t> fine = splits ? to : from;
    size_t &f = splits ? o : i;
    int64_t whole = splits ? from[i] : to[o], inner = 1;
    LoopDims &coarseDims = splits ? in : out, &fineDims = splits ? out : in;
    int64_t outer = fine[f++];
    fineDims.push_back(LoopDim::along(map.loops));
    while (outer * inner < whole && f < fine.size() && !ShapedType::isDynamic(fine[f]) && fine[f] != 0) {
      inner *= fine[f++];
      fineDims.push_back(LoopDim::whole());
    }
    if (outer * inner != whole)
      return failure();
    coarseDims.push_back(LoopDim::along(map.loops++, inner));
    ++(splits ? i : o);
  }
  if (i != from.size() || o != to.size())
    return failure();
  map.operands = {in};
  map.results = {out};
  return map;
}

LogicalResult TransposeOp::verify() {
  RankedTensorType input = getInput().getType();
  // (C1)
  SmallVector<bool> seen(input.getRank(), false);
  bool isPermutation = static_cast<int64_t>(getPerm().size()) == input.getRank();
  for (int64_t p : getPerm()) {
    isPermutation = isPermutation && p >= 0 && p < input.getRank() && !seen[p];
    if (!isPermutation)
      break;
    seen[p] = true;
  }
  if (!isPermutation)
    return emitOpError("perm [") << getPerm() << "] is no permutation of the input's " << input.getRank()
                                 << " dimensions";
  // (C2)
  SmallVector<int64_t> shape;
  for (int64_t p : getPerm())
    shape.push_back(input.getDimSize(p));
  if (failed(verifyResultShape(*this, getType(), shape)))
    return failure();
  return verifySameElement(*this, getType(), input);
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (isIdentity(getPerm()) && getInput().getType() == getType())
    return getInput();
  auto inner = getInput().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> perm;
  for (int64_t p : getPerm())
    perm.push_back(inner.getPerm()[p]);
  getInputMutable().assign(inner.getInput());
  setPerm(perm);
  return getResult();
}

LogicalResult SliceOp::verify() {
  RankedTensorType input = getInput().getType();
  int64_t dim = getDim(), start = getStart(), size = getSize();
  // (C1)
  if (failed(verifyDim(*this, dim, input.getRank())))
    return failure();
  // (C2)
  int64_t extent = input.getDimSize(dim);
  if (start < 0 || size < -1)
    return emitOpError("has start ") << start << " and size " << size << ", wanted start >= 0 and size >= -1";
  if (!ShapedType::isDynamic(extent) && (start > extent || (size >= 0 && size > extent - start)))
    return emitOpError("takes ") << size << " elements from " << start << " of dimension " << dim << ", which has "
                                 << extent;
  // (C3)
  SmallVector<int64_t> shape(input.getShape());
  shape[dim] = size >= 0 ? size : ShapedType::isDynamic(extent) ? extent : extent - start;
  if (failed(verifyResultShape(*this, getType(), shape)))
    return failure();
  return verifySameElement(*this, getType(), input);
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  int64_t extent = getInput().getType().getDimSize(getDim());
  bool takesAll = getStart() == 0 && (getSize() == -1 || (!ShapedType::isDynamic(extent) && getSize() == extent));
  return takesAll && getInput().getType() == getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

LogicalResult ConcatOp::verify() {
  // (C1)
  if (getInputs().empty())
    return emitOpError("joins nothing, wanted at least one operand");
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  int64_t dim = getDim();
  if (failed(verifyDim(*this, dim, first.getRank())))
    return failure();
  // (C2), (C3)
  SmallVector<int64_t> shape(first.getShape());
  for (auto [i, value] : llvm::enumerate(getInputs())) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> others(type.getShape());
    if (type.getRank() == first.getRank())
      others[dim] = first.getDimSize(dim);
    if (type.getElementType() != first.getElementType() || !shapesAgree(others, first.getShape()))
      return emitOpError("operand ") << i << " is " << type << ", which does not join " << first << " along dimension "
                                     << dim;
    if (i == 0)
      continue;
    bool known = !ShapedType::isDynamic(shape[dim]) && !type.isDynamicDim(dim);
    int64_t sum = ShapedType::kDynamic;
    if (known && llvm::AddOverflow(shape[dim], type.getDimSize(dim), sum))
      return emitOpError("dimension ") << dim << " has more elements than 63 bits can count";
    shape[dim] = known ? sum : ShapedType::kDynamic;
  }
  if (failed(verifyResultShape(*this, getType(), shape)))
    return failure();
  return verifySameElement(*this, getType(), first);
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 && getInputs().front().getType() == getType() ? OpFoldResult(getInputs().front())
                                                                               : OpFoldResult();
}

LogicalResult GatherOp::verify() {
  RankedTensorType table = getTable().getType(), ids = getIds().getType();
  // (C1)
  if (ids.getRank() < 1)
    return emitOpError("ids have rank 0, wanted at least 1");
  if (table.getRank() < 1)
    return emitOpError("table has rank 0, wanted at least 1");
  int64_t batch = getBatchDims(), most = std::min(ids.getRank(), table.getRank() - 1);
  if (batch < 0 || batch > most)
    return emitOpError("batch_dims is ") << batch << ", wanted 0 to " << most;
  if (!shapesAgree(table.getShape().take_front(batch), ids.getShape().take_front(batch)))
    return emitOpError("has a table ") << table << " and ids " << ids << ", whose first " << batch
                                       << " dimensions differ";
  // (C2)
  if (failed(verifyResultShape(*this, getType(), getGatheredShape())))
    return failure();
  // (C3)
  Type element = table.getElementType(), result = getType().getElementType();
  bool isFloat = isa<FloatType>(element);
  if (isFloat ? result != element && !result.isF32() : !isStorageType(element) || !result.isF32())
    return emitOpError("result has element type ")
           << result << ", wanted " << (isFloat ? "the table's or f32" : "f32") << " for a table of " << element
           << (isFloat || isStorageType(element) ? "" : ", which is neither a float nor a storage type");
  if (!isFloat && batch != 0)
    return emitOpError("has batch_dims ") << batch << " for a table of " << element << ", wanted 0";
  return success();
}

SmallVector<int64_t> GatherOp::getGatheredShape() {
  SmallVector<int64_t> shape(getIds().getType().getShape());
  llvm::append_range(shape, getTable().getType().getShape().drop_front(getBatchDims() + 1));
  return shape;
}

} // namespace tilewright::tw
