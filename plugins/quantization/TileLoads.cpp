// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/TileLoads.h"

#include "ir/interfaces/TileBuilder.h"
#include "ir/tile/Tile.h"

namespace tilewright::quantization {

using namespace mlir;

namespace {
constexpr int64_t kRows = 16, kElements = 32, kQuad = 4;

/// Reads fields of one packed block.
class BlockLoads {
public:
  BlockLoads(const Format &format, OpBuilder &builder, Location loc, Value packed, Value group, Value block)
      : t(builder, loc), format(format), layout(packedLayout(format)), packed(packed), at{group, block} {}

  /// Unsigned quants [8, 16, 4]: element 4q + i of row r at [q, r, i].
  Value quants() {
    auto type = RankedTensorType::get({kElements / kQuad, kRows, kQuad}, t.b.getI8Type());
    if (layout.fields[0].bits == 4)
      return tile::LoadNibblesOp::create(t.b, t.loc, type, packed, at, 0, StringAttr());
    return tile::LoadFieldOp::create(t.b, t.loc, type, packed, at, 0);
  }
  /// The same as two pieces [4, 16, 4] of 16 neighbours of k, which of 4-bit fields are the low and the high nibbles.
  SmallVector<Value> pieces() {
    auto type = RankedTensorType::get({kElements / kQuad / 2, kRows, kQuad}, t.b.getI8Type());
    if (layout.fields[0].bits != 4)
      return {tile::LoadFieldOp::create(t.b, t.loc, type, packed, at, 0),
              tile::LoadFieldOp::create(t.b, t.loc, type, packed, at, type.getNumElements())};
    auto half = [&](StringRef name) -> Value {
      return tile::LoadNibblesOp::create(t.b, t.loc, type, packed, at, 0, t.b.getStringAttr(name));
    };
    return {half("low"), half("high")};
  }
  /// One f16 for each row, of field `index`.
  Value rowNumbers(size_t index) {
    auto type = RankedTensorType::get({kRows}, t.b.getF16Type());
    return tile::LoadFieldOp::create(t.b, t.loc, type, packed, at, static_cast<int64_t>(layout.fieldOffset(index)));
  }
  /// What to take from an unsigned quant for the signed one.
  int64_t zeroPoint() const {
    return format.kind == FormatKind::Q4_0                                      ? 8
           : format.kind == FormatKind::Q8_0 || format.kind == FormatKind::Int8 ? 128
                                                                                : 0;
  }
  bool hasScale() const { return format.kind != FormatKind::Int8; }
  bool hasOffset() const { return format.kind == FormatKind::Q4_1; }
  bool isFloat() const { return format.kind == FormatKind::F16 || format.kind == FormatKind::BF16; }

  Value decoded();

  TileBuilder t;

private:
  const Format &format;
  LayoutDescriptor layout;
  Value packed;
  SmallVector<Value> at;
};

/// f32 [32, 16]; neighbours of k that stand side by side in the block move apart.
Value BlockLoads::decoded() {
  Type f32 = t.b.getF32Type();
  int64_t side = isFloat() ? 2 : kQuad; // elements of a row side by side
  AffineExpr q = t.d(0), i = t.d(1), row = t.d(2);
  AffineMap from = t.map(3, {q, row, i}), perRow = t.map(3, {row}), to = t.map(3, {q, i, row});
  Value out = t.empty({kElements / side, side, kRows}, f32);
  if (isFloat()) {
    Type element = format.kind == FormatKind::F16 ? Type(t.b.getF16Type()) : Type(t.b.getBF16Type());
    auto type = RankedTensorType::get({kElements / side, kRows, side}, element);
    Value values = tile::LoadFieldOp::create(t.b, t.loc, type, packed, at, 0);
    out = t.generic(values, out, {from, to}, "ppp", [](TileBuilder &s, ValueRange a) { return s.toF32(a[0]); });
    return t.reshape(out, {kElements, kRows});
  }
  SmallVector<Value> ins = {quants()};
  SmallVector<AffineMap> maps = {from};
  if (hasScale()) {
    ins.push_back(rowNumbers(1));
    maps.push_back(perRow);
  }
  if (hasOffset()) {
    ins.push_back(rowNumbers(2));
    maps.push_back(perRow);
  }
  maps.push_back(to);
  out = t.generic(ins, out, maps, "ppp", [&](TileBuilder &s, ValueRange a) -> Value {
    Value wide = arith::ExtUIOp::create(s.b, s.loc, s.b.getI32Type(), a[0]);
    if (zeroPoint())
      wide = s.sub(wide, s.integer(s.b.getI32Type(), zeroPoint()));
    Value value = arith::SIToFPOp::create(s.b, s.loc, f32, wide);
    if (hasScale())
      value = s.mul(value, s.toF32(a[1]));
    return hasOffset() ? s.add(value, s.toF32(a[2])) : value;
  });
  return t.reshape(out, {kElements, kRows});
}
} // namespace

Value emitLoadF32(const Format &format, OpBuilder &builder, Location loc, Value packed, Value group, Value block) {
  return BlockLoads(format, builder, loc, packed, group, block).decoded();
}

FailureOr<IntegerTile> emitLoadInteger(const Format &format, OpBuilder &builder, Location loc, Value packed,
                                       Value group, Value block) {
  BlockLoads loads(format, builder, loc, packed, group, block);
  if (loads.isFloat())
    return failure();
  IntegerTile tile;
  tile.pieces = loads.pieces();
  if (loads.hasScale())
    tile.scale = loads.rowNumbers(1);
  if (loads.hasOffset())
    tile.offset = loads.rowNumbers(2);
  tile.zeroPoint = loads.zeroPoint();
  return tile;
}

} // namespace tilewright::quantization
