// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of rotary_embedding.rotate on a tile of whole heads.
//
// Angles: an f32 product of position and rate would be wrong by up to 0.06 at position 2^20 (an angle of 2^20 has steps of
// 1/16). So the angle is formed in f64 and counted in turns, not radians: position * (rate / 2 pi). Its fraction, what is
// left after taking the nearest whole number, is exact in f64 but for the product's one rounding (2^-53 * 2^20 turns), and
// sine and cosine of it in f32 need no reduction of large arguments.
#include "plugins/rotary_embedding/RotaryEmbedding.h"

#include "ir/interfaces/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

namespace tilewright::rotary_embedding {

using namespace mlir;

namespace {

/// One rotation of a tile [M, H, D].
class RotateTile {
public:
  RotateTile(RotateOp op, OpBuilder &builder)
      : op(op), t(builder, op.getLoc()), shape(op.getType().getShape()), half(op.getRotaryDim() / 2),
        element(op.getType().getElementType()) {}

  Value lower();

private:
  /// Sine or cosine of each row's angles: [M, D/2] f32.
  Value table(Value turns, bool sine);
  Value angles();
  /// First (0) or second (1) elements of the pairs: [M, H, D/2].
  Value pairHalf(Value tensor, int64_t which);
  bool interleaved() { return op.getLayout() == "interleaved"; }
  OpFoldResult at(int64_t value) { return t.b.getIndexAttr(value); }

  RotateOp op;
  TileBuilder t;
  ArrayRef<int64_t> shape;
  int64_t half;
  Type element;
};

/// Fractions of turns in f32, in [-0.5, 0.5]: [M, D/2].
Value RotateTile::angles() {
  Type f64 = t.b.getF64Type();
  auto type = RankedTensorType::get({half}, f64);
  SmallVector<double> rates = angleRates(op.getBase().convertToDouble(), 2 * half);
  for (double &rate : rates)
    rate /= 2 * std::numbers::pi;
  Value turnsPerPosition = arith::ConstantOp::create(t.b, t.loc, DenseElementsAttr::get(type, ArrayRef<double>(rates)));
  SmallVector<Value> ins = {t.reshape(op.getPositions(), {shape[0], 1}), turnsPerPosition};
  SmallVector<AffineMap> maps = {t.map(2, {t.d(0), t.zero()}), t.map(2, {t.d(1)})};
  if (Value factors = op.getFactors()) {
    ins.push_back(factors);
    maps.push_back(t.map(2, {t.d(1)}));
  }
  maps.push_back(t.map(2, {t.d(0), t.d(1)}));
  return t.generic(ins, t.empty({shape[0], half}, t.b.getF32Type()), maps, "pp", [&](TileBuilder &s, ValueRange a) -> Value {
    Value turns = s.mul(arith::SIToFPOp::create(s.b, s.loc, f64, a[0]), a[1]);
    if (op.getFactors())
      turns = s.div(turns, a[2].getType() == f64 ? a[2] : arith::ExtFOp::create(s.b, s.loc, f64, a[2]).getResult());
    Value fraction = s.sub(turns, math::RoundEvenOp::create(s.b, s.loc, turns));
    return arith::TruncFOp::create(s.b, s.loc, s.b.getF32Type(), fraction);
  });
}

Value RotateTile::table(Value turns, bool sine) {
  return t.elementwise(turns, t.empty({shape[0], half}, t.b.getF32Type()), [&](TileBuilder &s, ValueRange a) -> Value {
    Value radians = s.mul(a[0], s.f32(2 * std::numbers::pi));
    return sine ? math::SinOp::create(s.b, s.loc, radians).getResult() : math::CosOp::create(s.b, s.loc, radians).getResult();
  });
}

Value RotateTile::pairHalf(Value tensor, int64_t which) {
  if (!interleaved())
    return t.slice(tensor, {at(0), at(0), at(which * half)}, {shape[0], shape[1], half});
  Value pairs = t.reshape(t.slice(tensor, {at(0), at(0), at(0)}, {shape[0], shape[1], 2 * half}), {shape[0], shape[1], half, 2});
  return t.slice(pairs, {at(0), at(0), at(0), at(which)}, {shape[0], shape[1], half, 1}, {shape[0], shape[1], half});
}

Value RotateTile::lower() {
  Value x = op.getInput(), turns = angles();
  Value cosine = table(turns, false), sine = table(turns, true);
  AffineMap elements = t.map(3, {t.d(0), t.d(1), t.d(2)}), perRow = t.map(3, {t.d(0), t.d(2)});
  auto narrow = [&](TileBuilder &s, Value v) -> Value {
    return element.isF32() ? v : arith::TruncFOp::create(s.b, s.loc, element, v).getResult();
  };
  auto rotated = [&](int64_t which, Value place) {
    return t.generic({pairHalf(x, 0), pairHalf(x, 1), cosine, sine}, place, {elements, elements, perRow, perRow, elements}, "ppp",
                     [&](TileBuilder &s, ValueRange a) {
                       Value first = s.toF32(a[0]), second = s.toF32(a[1]);
                       Value y = which == 0 ? s.sub(s.mul(first, a[2]), s.mul(second, a[3]))
                                            : s.add(s.mul(second, a[2]), s.mul(first, a[3]));
                       return narrow(s, y);
                     });
  };

  Value out = t.alloc(shape, element);
  int64_t width = shape[2], rotary = 2 * half;
  SmallVector<int64_t> sizes = {shape[0], shape[1], half};
  if (interleaved()) {
    // [M, H, D/2, 2], then the pairs' elements side by side again.
    SmallVector<int64_t> pairShape = {shape[0], shape[1], half, 2}, pairSizes = {shape[0], shape[1], half, 1};
    Value pairs = t.alloc(pairShape, element);
    for (int64_t which : {0, 1}) {
      SmallVector<OpFoldResult> offsets = {at(0), at(0), at(0), at(which)};
      pairs = t.insert(rotated(which, t.slice(pairs, offsets, pairSizes, sizes)), pairs, offsets, pairSizes);
    }
    Value flat = t.reshape(pairs, {shape[0], shape[1], rotary});
    if (rotary == width)
      return flat;
    SmallVector<int64_t> turned = {shape[0], shape[1], rotary};
    SmallVector<OpFoldResult> offsets = {at(0), at(0), at(0)};
    Value copy = t.elementwise(flat, t.slice(out, offsets, turned), [](TileBuilder &, ValueRange a) { return a[0]; });
    out = t.insert(copy, out, offsets, turned);
  } else {
    for (int64_t which : {0, 1}) {
      SmallVector<OpFoldResult> offsets = {at(0), at(0), at(which * half)};
      out = t.insert(rotated(which, t.slice(out, offsets, sizes)), out, offsets, sizes);
    }
  }
  if (rotary < width) {
    SmallVector<OpFoldResult> offsets = {at(0), at(0), at(rotary)};
    SmallVector<int64_t> rest = {shape[0], shape[1], width - rotary};
    Value copy = t.elementwise(t.slice(x, offsets, rest), t.slice(out, offsets, rest),
                               [](TileBuilder &, ValueRange a) { return a[0]; });
    out = t.insert(copy, out, offsets, rest);
  }
  return out;
}

} // namespace

FailureOr<SmallVector<Value>> RotateOp::lowerTile(OpBuilder &builder) {
  RankedTensorType type = getType();
  if (!type.hasStaticShape() || type.getRank() != 3 || type.getElementTypeBitWidth() > 32)
    return emitOpError("has no kernel form for a tile of type ") << type << ", wanted [rows, heads, dim] of f32 or narrower";
  return SmallVector<Value>{RotateTile(*this, builder).lower()};
}

} // namespace tilewright::rotary_embedding
