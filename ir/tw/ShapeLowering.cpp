// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel forms of ops that move elements: iota, broadcast, transpose, slice, concat.
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Tw.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

LogicalResult checkStatic(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && !tensor.hasStaticShape())
      return op->emitOpError("has no kernel form for a tile of type ") << tensor << ", wanted a static shape";
  return success();
}

/// Every dimension but `dim` follows its own loop; `dim` is never cut.
LoopDims allButOne(int64_t rank, int64_t dim) {
  LoopDims dims = leadingLoops(rank, rank);
  for (int64_t d = dim; d < rank; ++d)
    dims[d] = d == dim ? LoopDim::whole() : LoopDim::along(d - 1);
  return dims;
}

LoopMap mapOfAllButOne(Operation *op, int64_t dim) {
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  LoopMap map;
  map.loops = rank - 1;
  map.operands.assign(op->getNumOperands(), allButOne(rank, dim));
  map.results.assign(1, allButOne(rank, dim));
  return map;
}

/// A tensor of `type` whose element at (d0, d1, ...) is that of `input` at `at`.
Value readAt(TileBuilder &t, Value input, ArrayRef<AffineExpr> at, RankedTensorType type) {
  unsigned rank = type.getRank();
  return t.generic(input, t.empty(type.getShape(), type.getElementType()),
                   {t.map(rank, at), t.b.getMultiDimIdentityMap(rank)}, std::string(rank, 'p'),
                   [](TileBuilder &, ValueRange a) { return a[0]; });
}

} // namespace

FailureOr<LoopMap> IotaOp::getLoopMap() { return mapOfAllButOne(*this, getDim()); }

FailureOr<SmallVector<Value>> IotaOp::lowerTile(OpBuilder &builder) {
  if (failed(checkStatic(*this)))
    return failure();
  TileBuilder t(builder, getLoc());
  Type i32 = builder.getI32Type();
  return SmallVector<Value>{
      t.elementwise({}, t.empty(getType().getShape(), i32), [&](TileBuilder &s, ValueRange) -> Value {
        return arith::IndexCastOp::create(s.b, s.loc, i32, s.index(getDim()));
      })};
}

FailureOr<LoopMap> BroadcastOp::getLoopMap() {
  int64_t rank = getType().getRank();
  LoopMap map;
  map.loops = rank;
  LoopDims input;
  for (int64_t dim : getDims())
    input.push_back(LoopDim::along(dim));
  map.operands = {input, leadingLoops(rank, rank)};
  map.results = {leadingLoops(rank, rank)};
  return map;
}

FailureOr<SmallVector<Value>> BroadcastOp::lowerTile(OpBuilder &builder) {
  if (failed(checkStatic(*this)))
    return failure();
  TileBuilder t(builder, getLoc());
  RankedTensorType type = getType();
  unsigned rank = type.getRank();
  if (rank == 0)
    return SmallVector<Value>{getInput()};
  Value input = getInput();
  SmallVector<AffineExpr> at = llvm::map_to_vector(getDims(), [&](int64_t dim) { return t.d(dim); });
  if (at.empty()) { // a scalar
    input = t.reshape(input, {1});
    at.push_back(t.zero());
  }
  return SmallVector<Value>{readAt(t, input, at, type)};
}

FailureOr<LoopMap> TransposeOp::getLoopMap() {
  int64_t rank = getType().getRank();
  LoopMap map;
  map.loops = rank;
  LoopDims input(rank);
  for (auto [d, p] : llvm::enumerate(getPerm()))
    input[p] = LoopDim::along(d);
  map.operands = {input};
  map.results = {leadingLoops(rank, rank)};
  return map;
}

FailureOr<SmallVector<Value>> TransposeOp::lowerTile(OpBuilder &builder) {
  if (failed(checkStatic(*this)))
    return failure();
  TileBuilder t(builder, getLoc());
  RankedTensorType type = getType();
  unsigned rank = type.getRank();
  if (rank == 0)
    return SmallVector<Value>{getInput()};
  SmallVector<AffineExpr> at(rank);
  for (auto [d, p] : llvm::enumerate(getPerm()))
    at[p] = t.d(d);
  return SmallVector<Value>{readAt(t, getInput(), at, type)};
}

FailureOr<LoopMap> SliceOp::getLoopMap() { return mapOfAllButOne(*this, getDim()); }

FailureOr<SmallVector<Value>> SliceOp::lowerTile(OpBuilder &builder) {
  if (failed(checkStatic(*this)))
    return failure();
  TileBuilder t(builder, getLoc());
  SmallVector<OpFoldResult> offsets(getType().getRank(), builder.getIndexAttr(0));
  offsets[getDim()] = builder.getIndexAttr(getStart());
  return SmallVector<Value>{t.slice(getInput(), offsets, getType().getShape())};
}

FailureOr<LoopMap> ConcatOp::getLoopMap() { return mapOfAllButOne(*this, getDim()); }

FailureOr<SmallVector<Value>> ConcatOp::lowerTile(OpBuilder &builder) {
  if (failed(checkStatic(*this)))
    return failure();
  TileBuilder t(builder, getLoc());
  Value joined = t.empty(getType().getShape(), getType().getElementType());
  SmallVector<OpFoldResult> offsets(getType().getRank(), builder.getIndexAttr(0));
  int64_t at = 0;
  for (Value input : getInputs()) {
    ArrayRef<int64_t> sizes = shapeOf(input);
    if (llvm::is_contained(sizes, 0))
      continue;
    offsets[getDim()] = builder.getIndexAttr(at);
    Value copy =
        t.elementwise(input, t.slice(joined, offsets, sizes), [](TileBuilder &, ValueRange a) { return a[0]; });
    joined = t.insert(copy, joined, offsets, sizes);
    at += sizes[getDim()];
  }
  return SmallVector<Value>{joined};
}

} // namespace tilewright::tw
