// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of tw.topk: each key's rank is the number of keys before it, and rank r goes to place r.
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Build.h"
#include "ir/tw/Tw.h"

using namespace mlir;

namespace tilewright::tw {

/// Loops: all dimensions but the last.
FailureOr<LoopMap> TopkOp::getLoopMap() {
  int64_t rank = getKeys().getType().getRank();
  LoopMap map;
  map.loops = rank - 1;
  map.operands.assign(getTake() ? 2 : 1, leadingLoops(rank, rank - 1));
  map.results.assign(2, leadingLoops(rank, rank - 1));
  return map;
}

/// A float as an integer of its width that has its order; -0 as +0, and NaN before everything.
static Value orderedBits(TileBuilder &s, Value x) {
  auto type = cast<FloatType>(x.getType());
  Type bits = s.b.getIntegerType(type.getWidth());
  Value zero = arith::ConstantOp::create(s.b, s.loc, s.b.getFloatAttr(type, 0.0));
  x = s.select(s.compare(arith::CmpFPredicate::OEQ, x, zero), zero, x);
  Value pattern = arith::BitcastOp::create(s.b, s.loc, bits, x);
  // Of a negative number all bits but the sign are turned over.
  Value sign = arith::ShRSIOp::create(s.b, s.loc, pattern, s.integer(bits, type.getWidth() - 1));
  Value turned = arith::ShRUIOp::create(s.b, s.loc, sign, s.integer(bits, 1));
  Value ordered = arith::XOrIOp::create(s.b, s.loc, pattern, turned);
  Value lowest =
      arith::ConstantOp::create(s.b, s.loc, s.b.getIntegerAttr(bits, APInt::getSignedMinValue(type.getWidth())));
  return s.select(s.compare(arith::CmpFPredicate::UNO, x, x), lowest, ordered);
}

FailureOr<SmallVector<Value>> TopkOp::lowerTile(OpBuilder &builder) {
  RankedTensorType type = getKeys().getType();
  if (!type.hasStaticShape())
    return emitOpError("has no kernel form for a tile of type ") << type << ", wanted a static shape";
  TileBuilder t(builder, getLoc());
  auto element = cast<FloatType>(type.getElementType());
  FloatType wide = wideFloat(element);
  Type i32 = builder.getI32Type();
  int64_t n = type.getShape().back(), k = getValues().getType().getShape().back(), rows = type.getNumElements() / n;

  auto widened = [&](TileBuilder &s, Value v) { return element == wide ? v : s.toF32(v); };
  Value keys = t.reshape(getKeys(), {rows, n}), taken = getTake() ? t.reshape(getTake(), {rows, n}) : keys;
  Value bits = t.elementwise(keys, t.alloc({rows, n}, builder.getIntegerType(wide.getWidth())),
                             [&](TileBuilder &s, ValueRange a) { return orderedBits(s, widened(s, a[0])); });
  auto numbers = [&](int64_t count) { // 0 .. count - 1
    return t.elementwise({}, t.alloc({count}, i32), [&](TileBuilder &s, ValueRange) -> Value {
      return arith::IndexCastOp::create(s.b, s.loc, i32, s.index(0));
    });
  };
  Value places = numbers(n), wanted = numbers(k);

  // ranks[m, i]: how many j come before i.
  AffineExpr m = t.d(0), x = t.d(1), y = t.d(2);
  Value none = t.filled({rows, n}, t.integer(i32, 0));
  Value ranks = t.generic({bits, bits, places, places}, none,
                          {t.map(3, {m, x}), t.map(3, {m, y}), t.map(3, {x}), t.map(3, {y}), t.map(3, {m, x})}, "ppr",
                          [&](TileBuilder &s, ValueRange a) -> Value {
                            Value larger = s.compare(arith::CmpIPredicate::sgt, a[1], a[0]);
                            Value equal = s.compare(arith::CmpIPredicate::eq, a[1], a[0]);
                            Value lower = s.compare(arith::CmpIPredicate::slt, a[3], a[2]);
                            Value before = s.select(larger, s.integer(i32, 1), s.integer(i32, 0));
                            Value tie = s.select(lower, s.integer(i32, 1), s.integer(i32, 0));
                            return s.add(a[4], s.select(equal, tie, before));
                          });
  // [m, r] = sum_i [ranks[m, i] = r] of[m, i]: one term is there.
  auto chosen = [&](Value of, AffineMap ofMap, Type sum, llvm::function_ref<Value(TileBuilder &, Value)> read) {
    Value zero = arith::ConstantOp::create(builder, getLoc(), builder.getZeroAttr(sum));
    return t.generic({ranks, wanted, of}, t.filled({rows, k}, zero),
                     {t.map(3, {m, y}), t.map(3, {x}), ofMap, t.map(3, {m, x})}, "ppr",
                     [&](TileBuilder &s, ValueRange a) {
                       Value here = s.compare(arith::CmpIPredicate::eq, a[0], a[1]);
                       Value other = arith::ConstantOp::create(s.b, s.loc, s.b.getZeroAttr(sum));
                       return s.add(a[3], s.select(here, read(s, a[2]), other));
                     });
  };
  Value values = chosen(taken, t.map(3, {m, y}), wide, widened);
  if (element != wide)
    values = t.elementwise(values, t.empty({rows, k}, element), [&](TileBuilder &s, ValueRange a) -> Value {
      return arith::TruncFOp::create(s.b, s.loc, element, a[0]);
    });
  Value indices = chosen(places, t.map(3, {y}), i32, [](TileBuilder &, Value place) { return place; });
  ArrayRef<int64_t> shape = getValues().getType().getShape();
  return SmallVector<Value>{t.reshape(values, shape), t.reshape(indices, shape)};
}

} // namespace tilewright::tw
