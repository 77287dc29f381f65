// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel forms of products of plain tensors: tw.batch_matmul, and tw.linear by a weight that is computed.
#include "ir/tw/Build.h"
#include "ir/tw/LinearTile.h"
#include "ir/tw/Tw.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

/// A product on a tile: out[...] += left * right over the last of the maps' dimensions, in f32 or wider, plus `bias`
/// (with its map) where there is one, rounded once.
Value product(TileBuilder &t, Value left, Value right, Value bias, RankedTensorType type, ArrayRef<AffineMap> maps,
              AffineMap biasMap) {
  auto element = cast<FloatType>(type.getElementType());
  FloatType wide = wideFloat(element);
  auto widened = [&](TileBuilder &s, Value v) -> Value {
    if (v.getType() == wide)
      return v;
    return wide.isF32() ? s.toF32(v) : arith::ExtFOp::create(s.b, s.loc, wide, v).getResult();
  };
  Value acc = t.filled(type.getShape(), arith::ConstantOp::create(t.b, t.loc, t.b.getFloatAttr(wide, 0.0)));
  if (shapeOf(left).back() > 0)
    acc =
        t.generic({left, right}, acc, maps, std::string(type.getRank(), 'p') + "r",
                  [&](TileBuilder &s, ValueRange a) { return s.add(a[2], s.mul(widened(s, a[0]), widened(s, a[1]))); });
  if (!bias && element == wide)
    return acc;
  SmallVector<Value> ins = {acc};
  SmallVector<AffineMap> elementwise = {t.b.getMultiDimIdentityMap(type.getRank())};
  if (bias) {
    ins.push_back(bias);
    elementwise.push_back(biasMap);
  }
  elementwise.push_back(elementwise[0]);
  return t.generic(ins, t.empty(type.getShape(), element), elementwise, std::string(type.getRank(), 'p'),
                   [&](TileBuilder &s, ValueRange a) -> Value {
                     Value y = bias ? s.add(a[0], widened(s, a[1])) : a[0];
                     return element == wide ? y : arith::TruncFOp::create(s.b, s.loc, element, y).getResult();
                   });
}

LogicalResult checkTile(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    if (!tensor.hasStaticShape() || !isa<FloatType>(tensor.getElementType()))
      return op->emitOpError("has no kernel form for a tile of type ") << tensor << ", wanted a static shape of floats";
  }
  return success();
}

} // namespace

/// Loops: the leading dimensions, m, n.
FailureOr<LoopMap> BatchMatmulOp::getLoopMap() {
  int64_t rank = getType().getRank();
  LoopMap map;
  map.loops = rank;
  LoopDims right = leadingLoops(rank, rank - 2);
  right[getTransposeB() ? rank - 2 : rank - 1] = LoopDim::along(rank - 1);
  map.operands = {leadingLoops(rank, rank - 1), right};
  map.results = {leadingLoops(rank, rank)};
  return map;
}

FailureOr<SmallVector<Value>> BatchMatmulOp::lowerTile(OpBuilder &builder) {
  if (failed(checkTile(*this)))
    return failure();
  TileBuilder t(builder, getLoc());
  unsigned rank = getType().getRank();
  SmallVector<AffineExpr> left, right, out;
  for (unsigned d = 0; d + 2 < rank; ++d)
    for (SmallVector<AffineExpr> *exprs : {&left, &right, &out})
      exprs->push_back(t.d(d));
  AffineExpr m = t.d(rank - 2), n = t.d(rank - 1), k = t.d(rank);
  left.append({m, k});
  out.append({m, n});
  right.append({getTransposeB() ? n : k, getTransposeB() ? k : n});
  return SmallVector<Value>{product(t, getLhs(), getRhs(), {}, getType(),
                                    {t.map(rank + 1, left), t.map(rank + 1, right), t.map(rank + 1, out)}, {})};
}

/// Loops: the leading dimensions, output columns.
FailureOr<LoopMap> LinearOp::getLoopMap() {
  int64_t rank = getType().getRank();
  LoopMap map;
  map.loops = rank;
  map.operands = {leadingLoops(rank, rank - 1), {LoopDim::along(rank - 1), LoopDim::whole()}};
  if (getBias())
    map.operands.push_back({LoopDim::along(rank - 1)});
  map.results = {leadingLoops(rank, rank)};
  return map;
}

Value linearTile(TileBuilder &t, Value x, Value w, Value bias, RankedTensorType type, bool inOut) {
  unsigned rank = type.getRank();
  SmallVector<AffineExpr> left, out;
  for (unsigned d = 0; d + 1 < rank; ++d) {
    left.push_back(t.d(d));
    out.push_back(t.d(d));
  }
  AffineExpr n = t.d(rank - 1), k = t.d(rank);
  left.push_back(k);
  out.push_back(n);
  SmallVector<AffineExpr> right = {n, k};
  if (inOut)
    std::swap(right[0], right[1]);
  return product(t, x, w, bias, type, {t.map(rank + 1, left), t.map(rank + 1, right), t.map(rank + 1, out)},
                 t.map(rank, {t.d(rank - 1)}));
}

FailureOr<SmallVector<Value>> LinearOp::lowerTile(OpBuilder &builder) {
  if (failed(checkTile(*this)))
    return failure();
  TileBuilder t(builder, getLoc());
  return SmallVector<Value>{linearTile(t, getInput(), getWeight(), getBias(), getType())};
}

} // namespace tilewright::tw
