// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of rotary_embedding.rotate on a tile of whole heads.
//
// Angles: an f32 product of position and rate would be wrong by up to 0.06 at position 2^20 (an angle of 2^20 has steps
// of 1/16). So the angle is formed in f64 and counted in turns, not radians: position * (rate / 2 pi). Its fraction,
// what is left after taking the nearest whole number, is exact in f64 but for the product's one rounding (2^-53 * 2^20
// turns), and sine and cosine of it in f32 need no reduction of large arguments.
#include "plugins/rotary_embedding/RotaryEmbedding.h"

#include "ir/interfaces/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

namespace tilewright::rotary_embedding {

using namespace mlir;

namespace {

/// One rotation of a tile [M, H, D], row by row.
class RotateTile {
public:
  RotateTile(RotateOp op, OpBuilder &builder)
      : op(op), t(builder, op.getLoc()), rows(op.getType().getDimSize(0)), heads(op.getType().getDimSize(1)),
        width(op.getType().getDimSize(2)), half(op.getRotaryDim() / 2), element(op.getType().getElementType()) {}

  Value lower();

private:
  /// Fractions of turns of row `row`, in f32 from -0.5 to 0.5: [1, D/2].
  Value angles(Value row);
  /// Sine or cosine of them, times attention_factor.
  Value table(Value turns, bool sine);
  /// `out` [M, H, D] with row `row` turned.
  Value rotateRow(Value row, Value out);
  /// `out` [M, H, D/2, 2] with row `row` turned, pairs side by side.
  Value rotatePairs(Value row, Value out);
  /// Element `which` of each turned pair, given both elements and cosine and sine.
  Value turn(TileBuilder &s, int64_t which, ValueRange a) {
    Value x1 = s.toF32(a[0]), x2 = s.toF32(a[1]);
    Value y = which == 0 ? s.sub(s.mul(x1, a[2]), s.mul(x2, a[3])) : s.add(s.mul(x2, a[2]), s.mul(x1, a[3]));
    return element.isF32() ? y : arith::TruncFOp::create(s.b, s.loc, element, y).getResult();
  }
  Value copyRest(Value row, Value out);
  bool interleaved() { return op.getLayout() == "interleaved"; }
  OpFoldResult at(int64_t value) { return t.b.getIndexAttr(value); }

  RotateOp op;
  TileBuilder t;
  int64_t rows, heads, width, half;
  Type element;
};

Value RotateTile::angles(Value row) {
  Type f64 = t.b.getF64Type();
  auto type = RankedTensorType::get({half}, f64);
  SmallVector<double> rates = angleRates(op.getBase().convertToDouble(), 2 * half);
  for (double &rate : rates)
    rate /= 2 * std::numbers::pi;
  // For each of the row's positions itself and the turns that it makes of each pair: one of these is not 0.
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  for (auto [section, own] : llvm::enumerate(ratesBySection(rates, op.getSections(), op.getSectionLayout()))) {
    Value position = op.getSections() ? t.slice(op.getPositions(), {at(section), row}, {1, 1})
                                      : t.reshape(t.slice(op.getPositions(), {row}, {1}), {1, 1});
    ins.append({position, arith::ConstantOp::create(t.b, t.loc, DenseElementsAttr::get(type, ArrayRef<double>(own)))});
    maps.append({t.map(2, {t.d(0), t.zero()}), t.map(2, {t.d(1)})});
  }
  size_t terms = ins.size();
  if (Value factors = op.getFactors()) {
    bool ofRows = op.hasFactorsOfRows();
    ins.push_back(ofRows ? t.slice(factors, {row, at(0)}, {1, half}) : factors);
    maps.push_back(ofRows ? t.map(2, {t.d(0), t.d(1)}) : t.map(2, {t.d(1)}));
  }
  maps.push_back(t.map(2, {t.d(0), t.d(1)}));
  return t.generic(ins, t.alloc({1, half}, t.b.getF32Type()), maps, "pp", [&](TileBuilder &s, ValueRange a) -> Value {
    Value turns;
    for (size_t i = 0; i < terms; i += 2) {
      Value term = s.mul(arith::SIToFPOp::create(s.b, s.loc, f64, a[i]), a[i + 1]);
      turns = turns ? s.add(turns, term) : term;
    }
    if (op.getFactors())
      turns = s.div(turns, a[terms].getType() == f64 ? a[terms]
                                                     : arith::ExtFOp::create(s.b, s.loc, f64, a[terms]).getResult());
    Value fraction = s.sub(turns, math::RoundEvenOp::create(s.b, s.loc, turns));
    return arith::TruncFOp::create(s.b, s.loc, s.b.getF32Type(), fraction);
  });
}

Value RotateTile::table(Value turns, bool sine) {
  double scale = op.getAttentionFactor().convertToDouble();
  return t.elementwise(turns, t.alloc({1, half}, t.b.getF32Type()), [&](TileBuilder &s, ValueRange a) -> Value {
    Value radians = s.mul(a[0], s.f32(2 * std::numbers::pi));
    Value y = sine ? math::SinOp::create(s.b, s.loc, radians).getResult()
                   : math::CosOp::create(s.b, s.loc, radians).getResult();
    return scale == 1.0 ? y : s.mul(y, s.f32(scale));
  });
}

Value RotateTile::rotateRow(Value row, Value out) {
  Value turns = angles(row), cosine = table(turns, false), sine = table(turns, true);
  AffineMap elements = t.map(3, {t.d(0), t.d(1), t.d(2)}), perRow = t.map(3, {t.d(0), t.d(2)});
  // Where the first and the second elements of the pairs stand.
  auto offsets = [&](int64_t which) -> SmallVector<OpFoldResult> { return {row, at(0), at(which * half)}; };
  SmallVector<int64_t> sizes = {1, heads, half};
  Value first = t.slice(op.getInput(), offsets(0), sizes), second = t.slice(op.getInput(), offsets(1), sizes);
  for (int64_t which : {0, 1}) {
    Value turned = t.generic({first, second, cosine, sine}, t.slice(out, offsets(which), sizes),
                             {elements, elements, perRow, perRow, elements}, "ppp",
                             [&](TileBuilder &s, ValueRange a) { return turn(s, which, a); });
    out = t.insert(turned, out, offsets(which), sizes);
  }
  return out;
}

Value RotateTile::rotatePairs(Value row, Value out) {
  Value turns = angles(row), cosine = t.reshape(table(turns, false), {half}),
        sine = t.reshape(table(turns, true), {half});
  Value x = t.reshape(t.slice(op.getInput(), {at(0), at(0), at(0)}, {rows, heads, 2 * half}), {rows, heads, half, 2});
  // Head by head on vectors: with several dimensions of size 1 it would be open which one a slice drops.
  return t.loop(t.constant(0), t.constant(heads), out, [&](Value head, ValueRange state) -> SmallVector<Value> {
    auto offsets = [&](int64_t which) -> SmallVector<OpFoldResult> { return {row, head, at(0), at(which)}; };
    SmallVector<int64_t> sizes = {1, 1, half, 1};
    Value first = t.slice(x, offsets(0), sizes, half), second = t.slice(x, offsets(1), sizes, half), pairs = state[0];
    for (int64_t which : {0, 1}) {
      Value turned = t.elementwise({first, second, cosine, sine}, t.slice(pairs, offsets(which), sizes, half),
                                   [&](TileBuilder &s, ValueRange a) { return turn(s, which, a); });
      pairs = t.insert(turned, pairs, offsets(which), sizes);
    }
    return {pairs};
  })[0];
}

/// Elements of row `row` that do not turn.
Value RotateTile::copyRest(Value row, Value out) {
  SmallVector<OpFoldResult> offsets = {row, at(0), at(2 * half)};
  SmallVector<int64_t> sizes = {1, heads, width - 2 * half};
  Value copy = t.elementwise(t.slice(op.getInput(), offsets, sizes), t.slice(out, offsets, sizes),
                             [](TileBuilder &, ValueRange a) { return a[0]; });
  return t.insert(copy, out, offsets, sizes);
}

Value RotateTile::lower() {
  bool partial = 2 * half < width;
  Value low = t.constant(0), high = t.constant(rows);
  if (!interleaved())
    return t.loop(low, high, t.alloc({rows, heads, width}, element),
                  [&](Value row, ValueRange state) -> SmallVector<Value> {
                    Value out = rotateRow(row, state[0]);
                    return {partial ? copyRest(row, out) : out};
                  })[0];
  // Pairs side by side: turned in a buffer of pairs.
  Value pairs = t.loop(low, high, t.alloc({rows, heads, half, 2}, element),
                       [&](Value row, ValueRange state) { return SmallVector<Value>{rotatePairs(row, state[0])}; })[0];
  Value flat = t.reshape(pairs, {rows, heads, 2 * half});
  if (!partial)
    return flat;
  return t.loop(low, high, t.alloc({rows, heads, width}, element),
                [&](Value row, ValueRange state) -> SmallVector<Value> {
                  SmallVector<OpFoldResult> offsets = {row, at(0), at(0)};
                  SmallVector<int64_t> sizes = {1, heads, 2 * half};
                  Value copy = t.elementwise(t.slice(flat, offsets, sizes), t.slice(state[0], offsets, sizes),
                                             [](TileBuilder &, ValueRange a) { return a[0]; });
                  return {copyRest(row, t.insert(copy, state[0], offsets, sizes))};
                })[0];
}

} // namespace

FailureOr<SmallVector<Value>> RotateOp::lowerTile(OpBuilder &builder) {
  RankedTensorType type = getType();
  if (!type.hasStaticShape() || type.getRank() != 3 || type.getElementTypeBitWidth() > 32)
    return emitOpError("has no kernel form for a tile of type ")
           << type << ", wanted [rows, heads, dim] of f32 or narrower";
  return SmallVector<Value>{RotateTile(*this, builder).lower()};
}

} // namespace tilewright::rotary_embedding
