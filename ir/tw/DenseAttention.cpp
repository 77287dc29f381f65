// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel of dense attention (query [B, H, T, D], key and value [B, Hkv, S, D]): blocks of keys with a running maximum and
// sum of each row (Milakov and Gimelshein, 2018), in f32 or wider.
#include "ir/tw/DenseAttention.h"

#include "ir/interfaces/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace tilewright::tw {

namespace {

/// Query rows of one head, and keys, at a time; rows of all heads of a group.
constexpr int64_t kQueryRows = 8, kKeys = 64, kMostRows = 64;

/// One chunk is a block of `rows` query rows of the G = H / Hkv heads that share a key/value head. Tiles keep the batch as
/// a dimension of size 1: [1, G, rows, ...].
class DenseAttention {
public:
  DenseAttention(AttentionOp op, KernelBuilder &kernel) : op(op), kernel(kernel), t(kernel.builder(), kernel.loc()) {}

  LogicalResult build();

private:
  Value chunk(Value number, Value destination);
  /// What maximum, sum and accumulator become with the keys from `key` on.
  SmallVector<Value> visit(Value key, ValueRange state);
  /// softcap(scale * q k) + bias, -inf where hidden: [1, G, rows, keys].
  Value scores(Value key);
  /// The part of a mask or bias for the tile, and its map in (z, g, t, s).
  std::pair<Value, AffineMap> scorePart(Value whole, Value key);
  Value isVisible(TileBuilder &s, Value key, Value given);

  bool hides() { return op.getMask() || op.getCausal() != "none"; }
  Value number(TileBuilder &s, double value) {
    return arith::ConstantOp::create(s.b, s.loc, s.b.getFloatAttr(wide, value));
  }
  Value widened(TileBuilder &s, Value v) {
    if (v.getType() == wide)
      return v;
    return wide.isF32() ? s.toF32(v) : arith::ExtFOp::create(s.b, s.loc, wide, v).getResult();
  }
  Value exp(TileBuilder &s, Value v) { return math::ExpOp::create(s.b, s.loc, v); }
  Value isHidden(TileBuilder &s, Value score) { return s.compare(arith::CmpFPredicate::OEQ, score, number(s, -kInfinity)); }
  OpFoldResult at(int64_t i) { return t.b.getIndexAttr(i); }
  AffineMap perRow() { return t.map(4, {t.d(0), t.d(1), t.d(2), t.zero()}); }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  AttentionOp op;
  KernelBuilder &kernel;
  TileBuilder t;
  FloatType wide;
  int64_t group = 0, rows = 0, keys = 0, queries = 0, allKeys = 0, dim = 0, dimV = 0;
  Value query, key, value, mask, bias, sinks; ///< kernel arguments
  Value batch, headKv, head, row;             ///< of the chunk; the first of G heads, the first of the rows
  Value q;                                    ///< [1, G, rows, D], scaled
};

LogicalResult DenseAttention::build() {
  RankedTensorType from = op.getQuery().getType(), k = op.getKey().getType(), v = op.getValue().getType();
  for (Value operand : op->getOperands())
    if (!cast<RankedTensorType>(operand.getType()).hasStaticShape())
      return op.emitOpError("has no kernel form for an operand of type ") << operand.getType() << ", wanted a static shape";
  auto element = cast<FloatType>(from.getElementType());
  wide = element.getWidth() > 32 ? element : t.b.getF32Type();
  int64_t batches = from.getDimSize(0), headsKv = k.getDimSize(1);
  group = from.getDimSize(1) / headsKv;
  queries = from.getDimSize(2);
  dim = from.getDimSize(3);
  allKeys = k.getDimSize(2);
  dimV = v.getDimSize(3);
  rows = largestDivisor(queries, std::clamp<int64_t>(kMostRows / group, 1, kQueryRows));
  keys = largestDivisor(allKeys, kKeys);

  Value destination = kernel.destination(0);
  if (op.getType().getNumElements() == 0) {
    kernel.setChunks(KernelBuilder::Count::PaddedRows, 1, 0);
    kernel.finish(0, destination);
    return success();
  }
  query = kernel.tensor(op.getQuery());
  key = kernel.tensor(op.getKey());
  value = kernel.tensor(op.getValue());
  for (auto [operand, argument] : {std::pair(op.getMask(), &mask), {op.getBias(), &bias}, {op.getSinks(), &sinks}})
    if (operand)
      *argument = kernel.tensor(operand);
  int64_t blocks = queries / rows;
  ValueRange done = kernel.forChunks(destination, [&](Value number, ValueRange state) -> SmallVector<Value> {
    row = t.mul(t.rem(number, t.constant(blocks)), t.constant(rows));
    Value outer = t.div(number, t.constant(blocks));
    headKv = t.rem(outer, t.constant(headsKv));
    batch = t.div(outer, t.constant(headsKv));
    head = t.mul(headKv, t.constant(group));
    return {chunk(number, state[0])};
  });
  kernel.setRowChunks(op.getResult(), 1, batches ? headsKv * blocks : 0);
  kernel.finish(0, done[0]);
  return success();
}

Value DenseAttention::chunk(Value, Value destination) {
  double scale = op.getScale().convertToDouble();
  Value part = t.slice(query, {batch, head, row, at(0)}, {1, group, rows, dim});
  q = t.elementwise(part, t.alloc({1, group, rows, dim}, wide),
                    [&](TileBuilder &s, ValueRange a) { return s.mul(widened(s, a[0]), number(s, scale)); });
  SmallVector<int64_t> shape = {1, group, rows, 1};
  Value maximum, sum;
  if (sinks) {
    // A sink of -inf is none; NaN stays NaN.
    Value own = t.slice(sinks, {head}, {group});
    AffineMap perHead = t.map(4, {t.d(1)}), all = t.b.getMultiDimIdentityMap(4);
    maximum = t.generic(own, t.alloc(shape, wide), {perHead, all}, "pppp",
                        [&](TileBuilder &s, ValueRange a) { return widened(s, a[0]); });
    sum = t.generic(own, t.alloc(shape, wide), {perHead, all}, "pppp", [&](TileBuilder &s, ValueRange a) -> Value {
      Value sink = widened(s, a[0]);
      return s.select(isHidden(s, sink), number(s, 0.0), s.add(s.sub(sink, sink), number(s, 1.0)));
    });
  } else {
    maximum = t.filled(shape, number(t, -kInfinity));
    sum = t.filled(shape, number(t, 0.0));
  }
  Value acc = t.filled({1, group, rows, dimV}, number(t, 0.0));
  SmallVector<Value> done = t.loop(t.constant(0), t.constant(allKeys / keys), {maximum, sum, acc},
                                   [&](Value block, ValueRange state) { return visit(t.mul(block, t.constant(keys)), state); });
  SmallVector<OpFoldResult> offsets = {batch, head, row, at(0)};
  SmallVector<int64_t> sizes = {1, group, rows, dimV};
  Type element = op.getType().getElementType();
  AffineMap all = t.b.getMultiDimIdentityMap(4);
  Value result = t.generic({done[2], done[1]}, t.slice(destination, offsets, sizes), {all, perRow(), all}, "pppp",
                           [&](TileBuilder &s, ValueRange a) -> Value {
                             // A row without a key has sum 0 and gives 0; NaN stays NaN.
                             Value none = s.compare(arith::CmpFPredicate::OEQ, a[1], number(s, 0.0));
                             Value y = s.div(a[0], s.select(none, number(s, 1.0), a[1]));
                             return element == wide ? y : arith::TruncFOp::create(s.b, s.loc, element, y).getResult();
                           });
  return t.insert(result, destination, offsets, sizes);
}

std::pair<Value, AffineMap> DenseAttention::scorePart(Value whole, Value firstKey) {
  ArrayRef<int64_t> shape = shapeOf(whole);
  OpFoldResult from[4] = {batch, head, row, firstKey};
  int64_t tile[4] = {1, group, rows, keys};
  SmallVector<OpFoldResult> offsets;
  SmallVector<int64_t> sizes;
  SmallVector<AffineExpr> dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    size_t which = 4 - shape.size() + d;
    bool repeats = which < 2 && shape[d] == 1;
    offsets.push_back(repeats ? at(0) : from[which]);
    sizes.push_back(repeats ? 1 : tile[which]);
    dims.push_back(repeats ? t.zero() : t.d(which));
  }
  return {t.slice(whole, offsets, sizes), t.map(4, dims)};
}

Value DenseAttention::isVisible(TileBuilder &s, Value firstKey, Value given) {
  Value visible = given;
  auto both = [&](Value condition) {
    visible = visible ? arith::AndIOp::create(s.b, s.loc, visible, condition).getResult() : condition;
  };
  if (op.getCausal() == "none")
    return visible;
  // Positions as far as they may be negative: everything moves by the number of queries.
  int64_t shift = op.getCausal() == "end" ? allKeys - queries : 0;
  Value j = s.add(s.index(3), firstKey), position = s.add(s.add(s.index(2), row), s.constant(shift));
  both(s.compare(arith::CmpIPredicate::sle, j, position));
  if (op.getWindow())
    both(s.compare(arith::CmpIPredicate::sgt, s.add(j, s.constant(*op.getWindow())), position));
  return visible;
}

Value DenseAttention::scores(Value firstKey) {
  Value part = t.slice(key, {batch, headKv, firstKey, at(0)}, {1, 1, keys, dim});
  AffineExpr z = t.d(0), g = t.d(1), m = t.d(2), n = t.d(3), k = t.d(4);
  Value products = t.generic({q, part}, t.filled({1, group, rows, keys}, number(t, 0.0)),
                             {t.map(5, {z, g, m, k}), t.map(5, {z, t.zero(), n, k}), t.map(5, {z, g, m, n})}, "ppppr",
                             [&](TileBuilder &s, ValueRange a) { return s.add(a[2], s.mul(a[0], widened(s, a[1]))); });
  double softcap = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0.0;
  if (softcap == 0.0 && !bias && !hides())
    return products;
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  for (Value whole : {bias, mask})
    if (whole) {
      auto [tile, map] = scorePart(whole, firstKey);
      ins.push_back(tile);
      maps.push_back(map);
    }
  maps.push_back(t.b.getMultiDimIdentityMap(4));
  return t.generic(ins, products, maps, "pppp", [&](TileBuilder &s, ValueRange a) -> Value {
    Value score = a.back();
    if (softcap != 0.0) {
      Value tanh = math::TanhOp::create(s.b, s.loc, s.mul(score, number(s, 1.0 / softcap)));
      score = s.mul(tanh, number(s, softcap));
    }
    if (bias)
      score = s.add(score, widened(s, a[0]));
    Value visible = isVisible(s, firstKey, mask ? a[bias ? 1 : 0] : Value());
    return visible ? s.select(visible, score, number(s, -kInfinity)) : score;
  });
}

SmallVector<Value> DenseAttention::visit(Value firstKey, ValueRange state) {
  Value maximum = state[0], sum = state[1], acc = state[2];
  AffineMap all = t.b.getMultiDimIdentityMap(4);
  auto larger = [](TileBuilder &s, Value x, Value y) { return s.select(s.compare(arith::CmpFPredicate::OGT, x, y), x, y); };
  Value score = scores(firstKey);
  Value largest = t.generic(score, t.filled({1, group, rows, 1}, number(t, -kInfinity)), {all, perRow()}, "pppr",
                            [&](TileBuilder &s, ValueRange a) -> Value {
                              return arith::MaxNumFOp::create(s.b, s.loc, a[0], a[1]);
                            });
  // The factor before the new maximum: the old one is dead by then, and is updated in place.
  Value factor = t.elementwise({maximum, largest}, t.alloc({1, group, rows, 1}, wide), [&](TileBuilder &s, ValueRange a) {
    Value next = larger(s, a[1], a[0]);
    Value same = s.compare(arith::CmpFPredicate::OEQ, a[0], next);
    return s.select(same, number(s, 1.0), exp(s, s.sub(a[0], next)));
  });
  maximum = t.elementwise(largest, maximum, [&](TileBuilder &s, ValueRange a) { return larger(s, a[0], a[1]); });
  Value weights = t.generic(maximum, score, {perRow(), all}, "pppp", [&](TileBuilder &s, ValueRange a) {
    return s.select(isHidden(s, a[1]), number(s, 0.0), exp(s, s.sub(a[1], a[0])));
  });
  sum = t.elementwise(factor, sum, [](TileBuilder &s, ValueRange a) { return s.mul(a[0], a[1]); });
  sum = t.generic(weights, sum, {all, perRow()}, "pppr", [](TileBuilder &s, ValueRange a) { return s.add(a[0], a[1]); });
  acc = t.generic(factor, acc, {perRow(), all}, "pppp", [](TileBuilder &s, ValueRange a) { return s.mul(a[0], a[1]); });
  Value part = t.slice(value, {batch, headKv, firstKey, at(0)}, {1, 1, keys, dimV});
  AffineExpr z = t.d(0), g = t.d(1), m = t.d(2), n = t.d(3), k = t.d(4);
  acc = t.generic({weights, part}, acc, {t.map(5, {z, g, m, k}), t.map(5, {z, t.zero(), k, n}), t.map(5, {z, g, m, n})},
                  "ppppr", [&](TileBuilder &s, ValueRange a) -> Value {
                    Value product = s.mul(a[0], widened(s, a[1]));
                    // A hidden key's value does not count, whatever it is.
                    if (hides())
                      product = s.select(s.compare(arith::CmpFPredicate::OEQ, a[0], number(s, 0.0)), number(s, 0.0), product);
                    return s.add(a[2], product);
                  });
  return {maximum, sum, acc};
}

} // namespace

LogicalResult buildDenseAttention(AttentionOp op, KernelBuilder &kernel) { return DenseAttention(op, kernel).build(); }

} // namespace tilewright::tw
