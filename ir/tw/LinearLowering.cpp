// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel forms of packed linear maps and of the quantisation of their inputs.
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/PackedWeight.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

constexpr int64_t kGroup = kPackedGroupRows, kStep = kPackedStep;
/// Bytes that one 32-bit product sums.
constexpr int64_t kQuad = 4;

/// One packed linear map on a tile: [M, K] by groups of 16 weight rows.
class PackedLinearTile {
public:
  PackedLinearTile(PackedLinearOp op, OpBuilder &builder)
      : op(op), t(builder, op.getLoc()), storage(cast<StorageType>(op.getElement())), rows(shapeOf(op.getInput())[0]),
        depth(shapeOf(op.getInput())[1]) {}

  FailureOr<Value> lower();

private:
  /// acc[M, 16] over all steps of group `group`.
  FailureOr<Value> columnGroup(Value group);
  /// acc[M, 16] += x[M, 32] * w[32, 16], or the first `count` of these 32.
  Value floatStep(Value acc, Value group, Value step, int64_t count);
  FailureOr<Value> integerStep(Value acc, Value group, Value step);
  Value index(Value step, int64_t factor) { return factor == 1 ? step : t.mul(step, t.constant(factor)); }

  PackedLinearOp op;
  TileBuilder t;
  StorageType storage;
  int64_t rows, depth;
};

Value PackedLinearTile::floatStep(Value acc, Value group, Value step, int64_t count) {
  OpFoldResult zero = t.b.getIndexAttr(0);
  Value w = storage.emitLoadF32(t.b, t.loc, op.getWeight(), group, step);
  if (count != kStep)
    w = t.slice(w, {zero, zero}, {count, kGroup});
  Value x = t.slice(op.getInput(), {zero, index(step, kStep)}, {rows, count});
  AffineExpr m = t.d(0), n = t.d(1), k = t.d(2);
  return t.generic({x, w}, acc, {t.map(3, {m, k}), t.map(3, {k, n}), t.map(3, {m, n})}, "ppr",
                   [](TileBuilder &s, ValueRange a) { return s.add(a[2], s.mul(s.toF32(a[0]), a[1])); });
}

FailureOr<Value> PackedLinearTile::integerStep(Value acc, Value group, Value step) {
  FailureOr<IntegerTile> tile = storage.emitLoadInteger(t.b, t.loc, op.getWeight(), group, step);
  if (failed(tile))
    return op.emitOpError("has an i8 input, but ") << op.getElement() << " has no integer form";
  // The input has a scale for each of `parts` pieces of the step, so each piece has a product of its own.
  Type i32 = t.b.getI32Type();
  OpFoldResult zero = t.b.getIndexAttr(0);
  const int64_t parts = static_cast<int64_t>(tile->pieces.size()), piece = kStep / parts, quads = piece / kQuad;
  if (shapeOf(op.getScales())[1] != depth / piece)
    return op.emitOpError("has ") << shapeOf(op.getScales())[1] << " scales a row, but " << op.getElement()
                                  << " is multiplied in pieces of " << piece << " elements, wanted " << depth / piece;
  AffineExpr m = t.d(0), n = t.d(1), quad = t.d(2), v = t.d(3);
  AffineMap elements = t.map(2, {t.d(0), t.d(1)}), row = t.map(2, {t.d(0), t.zero()}), column = t.map(2, {t.d(1)});
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  for (int64_t part = 0; part < parts; ++part) {
    Value first = index(step, kStep), scaleAt = index(step, parts);
    if (part) {
      first = t.add(first, t.constant(part * piece));
      scaleAt = t.add(scaleAt, t.constant(part));
    }
    Value x = t.reshape(t.slice(op.getInput(), {zero, first}, {rows, piece}), {rows, quads, kQuad});
    Value none = t.filled({rows, kGroup}, t.integer(i32, 0));
    Value dot =
        t.generic({x, tile->pieces[part]}, none, {t.map(4, {m, quad, v}), t.map(4, {quad, n, v}), t.map(4, {m, n})},
                  "pprr", [&](TileBuilder &s, ValueRange a) -> Value {
                    Value left = arith::ExtSIOp::create(s.b, s.loc, i32, a[0]);
                    Value right = arith::ExtUIOp::create(s.b, s.loc, i32, a[1]);
                    return s.add(a[2], s.mul(left, right));
                  });
    llvm::append_values(ins, dot, t.slice(op.getScales(), {zero, scaleAt}, {rows, 1}),
                        t.slice(op.getSums(), {zero, scaleAt}, {rows, 1}));
    maps.append({elements, row, row});
  }
  const size_t scalesAt = ins.size(), offsetsAt = scalesAt + tile->scales.size();
  ins.append(tile->scales);
  ins.append(tile->offsets);
  maps.append(tile->scales.size() + tile->offsets.size(), column);
  maps.push_back(elements);
  return t.generic(ins, acc, maps, "pp", [&](TileBuilder &s, ValueRange a) {
    // acc + scale * (xs * dot - zeroPoint * sum) + offset * sum, over pieces that share scale and offset at once
    const bool shared = tile->scales.size() <= 1 && tile->offsets.size() <= 1;
    Value result = a.back(), product, sum;
    for (int64_t part = 0; part < parts; ++part) {
      Value dot = a[3 * part], xs = a[3 * part + 1], partSum = a[3 * part + 2];
      Value next = s.mul(xs, arith::SIToFPOp::create(s.b, s.loc, s.b.getF32Type(), dot));
      product = product ? s.add(product, next) : next;
      sum = sum ? s.add(sum, partSum) : partSum;
      if (shared && part + 1 < parts)
        continue;
      auto ofPiece = [&](ArrayRef<Value> values, size_t first) {
        return s.toF32(a[first + (values.size() > 1 ? part : 0)]);
      };
      if (tile->zeroPoint)
        product = s.sub(product, s.mul(sum, s.f32(tile->zeroPoint)));
      if (!tile->scales.empty())
        product = s.mul(ofPiece(tile->scales, scalesAt), product);
      result = s.add(result, product);
      if (!tile->offsets.empty())
        result = s.add(result, s.mul(ofPiece(tile->offsets, offsetsAt), sum));
      product = sum = Value();
    }
    return result;
  });
}

FailureOr<Value> PackedLinearTile::columnGroup(Value group) {
  bool done = true;
  Value acc = t.filled({rows, kGroup}, 0.0);
  if (depth >= kStep)
    acc =
        t.loop(t.constant(0), t.constant(depth / kStep), acc, [&](Value step, ValueRange state) -> SmallVector<Value> {
          if (!op.getScales())
            return {floatStep(state[0], group, step, kStep)};
          FailureOr<Value> next = integerStep(state[0], group, step);
          done = succeeded(next);
          return {done ? *next : state[0]};
        })[0];
  if (!done)
    return failure();
  if (int64_t rest = depth % kStep)
    return floatStep(acc, group, t.constant(depth / kStep), rest);
  return acc;
}

FailureOr<Value> PackedLinearTile::lower() {
  int64_t columns = op.getType().getDimSize(1), groups = llvm::divideCeil(columns, kGroup);
  if (storage.getLayout().blockElements % kStep != 0)
    return op.emitOpError("has a weight of ")
           << op.getElement() << " with blocks of " << storage.getLayout().blockElements
           << " elements, wanted a multiple of " << kStep;
  FailureOr<Value> y;
  if (groups == 1) {
    y = columnGroup(t.constant(0));
  } else {
    bool done = true;
    y = t.loop(t.constant(0), t.constant(groups), t.alloc({rows, groups * kGroup}, t.b.getF32Type()),
               [&](Value group, ValueRange state) -> SmallVector<Value> {
                 FailureOr<Value> acc = columnGroup(group);
                 done = succeeded(acc);
                 if (!done)
                   return {state[0]};
                 return {t.insert(*acc, state[0], {t.b.getIndexAttr(0), index(group, kGroup)}, {rows, kGroup})};
               })[0];
    if (!done)
      return failure();
  }
  if (failed(y))
    return failure();
  if (columns % kGroup)
    y = t.slice(*y, {t.b.getIndexAttr(0), t.b.getIndexAttr(0)}, {rows, columns});
  if (Value bias = op.getBias())
    y = t.generic(bias, *y, {t.map(2, {t.d(1)}), t.map(2, {t.d(0), t.d(1)})}, "pp",
                  [](TileBuilder &s, ValueRange a) { return s.add(a[1], s.toF32(a[0])); });
  if (op.getType().getElementType().isF32())
    return y;
  Type element = op.getType().getElementType();
  return t.elementwise(*y, t.empty({rows, columns}, element), [&](TileBuilder &s, ValueRange a) -> Value {
    return arith::TruncFOp::create(s.b, s.loc, element, a[0]);
  });
}

} // namespace

FailureOr<SmallVector<Value>> PackedLinearOp::lowerTile(OpBuilder &builder) {
  if (!getType().hasStaticShape() || !getInput().getType().hasStaticShape())
    return emitOpError("has no kernel form for a tile of type ") << getType() << ", wanted a static shape";
  FailureOr<Value> y = PackedLinearTile(*this, builder).lower();
  if (failed(y))
    return failure();
  return SmallVector<Value>{*y};
}

FailureOr<SmallVector<Value>> QuantizeRowsOp::lowerTile(OpBuilder &builder) {
  RankedTensorType type = getInput().getType();
  if (!type.hasStaticShape())
    return emitOpError("has no kernel form for a tile of type ") << getQuants().getType() << ", wanted a static shape";
  TileBuilder t(builder, getLoc());
  int64_t rows = type.getDimSize(0), block = getBlock(), blocks = type.getDimSize(1) / block;
  Type f32 = builder.getF32Type(), i8 = builder.getI8Type();

  // [rows, blocks, block]
  Value x = t.reshape(getInput(), {rows, blocks, block});
  AffineMap elements = t.map(3, {t.d(0), t.d(1), t.d(2)}), perBlock = t.map(3, {t.d(0), t.d(1)});
  Value largest = t.generic(x, t.filled({rows, blocks}, 0.0), {elements, perBlock}, "ppr",
                            [](TileBuilder &s, ValueRange a) -> Value {
                              Value magnitude = math::AbsFOp::create(s.b, s.loc, s.toF32(a[0]));
                              return arith::MaximumFOp::create(s.b, s.loc, magnitude, a[1]);
                            });
  Value scales = t.elementwise(largest, t.empty({rows, blocks}, f32),
                               [](TileBuilder &s, ValueRange a) { return s.mul(a[0], s.f32(1.0 / 127.0)); });
  // 127 / max, 0 where that would overflow; a NaN scale gives quants of 0.
  Value inverse = t.elementwise(largest, t.empty({rows, blocks}, f32), [](TileBuilder &s, ValueRange a) {
    Value positive = s.compare(arith::CmpFPredicate::OGT, a[0], s.f32(1.0e-36));
    return s.select(positive, s.div(s.f32(127.0), a[0]), s.f32(0.0));
  });
  Value quants = t.generic({x, inverse}, t.empty({rows, blocks, block}, i8), {elements, perBlock, elements}, "ppp",
                           [&](TileBuilder &s, ValueRange a) -> Value {
                             Value scaled = s.mul(s.toF32(a[0]), a[1]);
                             Value known = s.compare(arith::CmpFPredicate::ORD, scaled, scaled);
                             Value rounded = math::RoundEvenOp::create(s.b, s.loc, s.select(known, scaled, s.f32(0.0)));
                             return arith::FPToSIOp::create(s.b, s.loc, i8, rounded);
                           });
  Value counts = t.generic(quants, t.filled({rows, blocks}, t.integer(builder.getI32Type(), 0)), {elements, perBlock},
                           "ppr", [&](TileBuilder &s, ValueRange a) -> Value {
                             Value wide = arith::ExtSIOp::create(s.b, s.loc, s.b.getI32Type(), a[0]);
                             return s.add(a[1], wide);
                           });
  Value sums = t.elementwise({counts, scales}, t.empty({rows, blocks}, f32), [&](TileBuilder &s, ValueRange a) {
    return s.mul(a[1], arith::SIToFPOp::create(s.b, s.loc, f32, a[0]));
  });
  return SmallVector<Value>{t.reshape(quants, {rows, blocks * block}), scales, sums};
}

} // namespace tilewright::tw
