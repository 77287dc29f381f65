// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/TileLoads.h"

#include "ir/interfaces/TileBuilder.h"
#include "ir/tile/Tile.h"

namespace tilewright::quantization {

using namespace mlir;

namespace {
// A step is 32 elements of 16 rows: two pieces h of four groups q of four neighbours i, e = 16h + 4q + i.
constexpr int64_t kRows = 16, kPieces = 2, kGroups = 4, kQuad = 4;
constexpr int64_t kElements = kPieces * kGroups * kQuad;
/// Bytes that hold a number of each of four neighbours of 16 rows.
constexpr int64_t kQuadBytes = kRows * kQuad;

/// Reads one step of a packed block.
class StepLoads {
public:
  StepLoads(const Format &format, OpBuilder &builder, Location loc, Value packed, Value group, Value step)
      : t(builder, loc), format(format), layout(packedLayout(format, &fields)), packed(packed), group(group),
        block(step) {
    if (format.steps() == 1)
      return;
    Value steps = t.constant(format.steps());
    block = t.div(step, steps);
    inBlock = t.rem(step, steps);
  }

  /// f32 [32, 16].
  Value decoded();
  /// Unsigned quants [4, 16, 4] of piece `h`: element 4q + i of row r at [q, r, i].
  Value quants(int64_t h);
  /// What quants are multiplied with and what is added then, [16] of any float type: none, one, or one for each piece.
  SmallVector<Value> scales() { return numbersOfPieces(/*isMinimum=*/false); }
  SmallVector<Value> minimums() { return numbersOfPieces(/*isMinimum=*/true); }

private:
  int64_t fieldBytes(int index) const { return static_cast<int64_t>(layout.fieldBytes(layout.fields[index])); }
  int64_t offsetOf(int index) const { return static_cast<int64_t>(layout.fieldOffset(index)); }
  /// Where this step's part of field `index` begins, as indices of the packed weight; to them comes the field's offset.
  SmallVector<Value> placeOf(int index) {
    SmallVector<Value> at = {group, block};
    if (inBlock)
      at.push_back(t.mul(inBlock, t.constant(fieldBytes(index) / format.steps())));
    return at;
  }
  /// Numbers of this step, from byte `first` of its part of field `index` on.
  Value load(int index, ArrayRef<int64_t> shape, Type element, int64_t first = 0) {
    return tile::LoadFieldOp::create(t.b, t.loc, RankedTensorType::get(shape, element), packed, placeOf(index),
                                     offsetOf(index) + first);
  }
  Value bitsOf(int index, uint32_t width, int64_t h);
  Value wordsOf(int index, uint32_t width, SmallVectorImpl<AffineMap> &maps);
  Value number(bool isMinimum, ArrayRef<int64_t> shape, int64_t first = 0);
  SmallVector<Value> numbersOfPieces(bool isMinimum);
  Value floats();

  TileBuilder t;
  const Format &format;
  PackedFields fields;
  LayoutDescriptor layout;
  Value packed, group, block, inBlock;
};

/// [4, 16, 4] i8: the bits of piece `h` that field `index` holds, `width` for each element.
Value StepLoads::bitsOf(int index, uint32_t width, int64_t h) {
  auto type = RankedTensorType::get({kGroups, kRows, kQuad}, t.b.getI8Type());
  // Bytes [q][row][i] of piece h; [q][row][i] of both pieces; [row][i] of piece h; [row][i] of both: packedLayout().
  if (width == 8)
    return load(index, type.getShape(), type.getElementType(), h * kGroups * kQuadBytes);
  const int64_t parts = width == 4 ? 1 : kGroups, first = width == 4 ? h : width == 1 ? h * kGroups : 0;
  const int64_t offset = offsetOf(index) + (width == 2 ? h * kQuadBytes : 0);
  return tile::LoadBitsOp::create(t.b, t.loc, type, packed, placeOf(index), offset, width, first, parts);
}

Value StepLoads::quants(int64_t h) {
  Value low = bitsOf(fields.low, format.lowBits, h);
  if (!format.highBits)
    return low;
  Value high = bitsOf(fields.high, format.highBits, h);
  return t.elementwise({low, high}, t.empty(shapeOf(low), t.b.getI8Type()), [&](TileBuilder &s, ValueRange a) -> Value {
    Value shifted = arith::ShLIOp::create(s.b, s.loc, a[1], s.integer(s.b.getI8Type(), format.lowBits));
    return arith::OrIOp::create(s.b, s.loc, a[0], shifted);
  });
}

/// The scale, or what is added: a number of the block, or that times a factor of the step in each of the bytes of
/// `shape`, which ends with the rows, from byte `first` of the step's on.
Value StepLoads::number(bool isMinimum, ArrayRef<int64_t> shape, int64_t first) {
  using Minimums = Format::Minimums;
  Value ofBlock =
      tile::LoadFieldOp::create(t.b, t.loc, RankedTensorType::get({kRows}, t.b.getF16Type()), packed,
                                ValueRange{group, block}, offsetOf(isMinimum ? fields.minimum : fields.scale));
  if (!format.scaleElements || (isMinimum && format.minimums == Minimums::None))
    return ofBlock;
  Value bytes = load(isMinimum && format.minimums == Minimums::Bytes ? fields.minimums : fields.scales, shape,
                     t.b.getI8Type(), first);
  const unsigned rank = shape.size();
  AffineMap all = t.b.getMultiDimIdentityMap(rank), perRow = t.map(rank, {t.d(rank - 1)});
  return t.generic({ofBlock, bytes}, t.empty(shape, t.b.getF32Type()), {perRow, all, all}, std::string(rank, 'p'),
                   [&](TileBuilder &s, ValueRange a) -> Value {
                     Type i32 = s.b.getI32Type();
                     Value factor = format.isScaleSigned ? arith::ExtSIOp::create(s.b, s.loc, i32, a[1]).getResult()
                                                         : arith::ExtUIOp::create(s.b, s.loc, i32, a[1]).getResult();
                     if (format.minimums == Minimums::HighHalf)
                       factor = isMinimum ? arith::ShRUIOp::create(s.b, s.loc, factor, s.integer(i32, 4)).getResult()
                                          : arith::AndIOp::create(s.b, s.loc, factor, s.integer(i32, 15)).getResult();
                     if (format.scaleBias)
                       factor = s.sub(factor, s.integer(i32, format.scaleBias));
                     Value product =
                         s.mul(s.toF32(a[0]), arith::SIToFPOp::create(s.b, s.loc, s.b.getF32Type(), factor));
                     return isMinimum ? arith::NegFOp::create(s.b, s.loc, product).getResult() : product;
                   });
}

SmallVector<Value> StepLoads::numbersOfPieces(bool isMinimum) {
  if (!(isMinimum ? format.hasMinimum : format.hasScale))
    return {};
  if (format.scaleElements != 16)
    return {number(isMinimum, {kRows})};
  return {number(isMinimum, {kRows}), number(isMinimum, {kRows}, kRows)};
}

/// Words of four neighbours i of each row, and where those of (h, q, i, row) stand in them.
Value StepLoads::wordsOf(int index, uint32_t width, SmallVectorImpl<AffineMap> &maps) {
  AffineExpr h = t.d(0), q = t.d(1), row = t.d(3);
  SmallVector<int64_t> shape = {kRows};
  SmallVector<AffineExpr> place = {row};
  if (width >= 4) {
    shape.insert(shape.begin(), kGroups);
    place.insert(place.begin(), q);
  }
  if (width == 8 || width == 2) {
    shape.insert(shape.begin(), kPieces);
    place.insert(place.begin(), h);
  }
  maps.push_back(t.map(4, place));
  return load(index, shape, t.b.getI32Type());
}

/// Floats move apart that stand side by side, two of each row.
Value StepLoads::floats() {
  AffineExpr pair = t.d(0), i = t.d(1), row = t.d(2);
  Type element = format.kind == FormatKind::F16 ? Type(t.b.getF16Type()) : Type(t.b.getBF16Type());
  auto type = RankedTensorType::get({kElements / 2, kRows, 2}, element);
  Value values = tile::LoadFieldOp::create(t.b, t.loc, type, packed, ValueRange{group, block}, 0);
  Value out = t.generic(values, t.empty({kElements / 2, 2, kRows}, t.b.getF32Type()),
                        {t.map(3, {pair, row, i}), t.map(3, {pair, i, row})}, "ppp",
                        [](TileBuilder &s, ValueRange a) { return s.toF32(a[0]); });
  return t.reshape(out, {kElements, kRows});
}

Value StepLoads::decoded() {
  if (format.lowBits == 0)
    return floats();
  // Neighbours of k are the bytes of a word, one word for each row: they come apart by shifts, without shuffles.
  Type i32 = t.b.getI32Type(), f32 = t.b.getF32Type();
  AffineMap perRow = t.map(4, {t.d(3)}), perPiece = t.map(4, {t.d(0), t.d(3)});
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  ins.push_back(wordsOf(fields.low, format.lowBits, maps));
  if (format.highBits)
    ins.push_back(wordsOf(fields.high, format.highBits, maps));
  for (bool isMinimum : {false, true})
    if (isMinimum ? format.hasMinimum : format.hasScale) {
      const bool differ = format.scaleElements == 16;
      ins.push_back(differ ? number(isMinimum, {kPieces, kRows}) : number(isMinimum, {kRows}));
      maps.push_back(differ ? perPiece : perRow);
    }
  maps.push_back(t.b.getMultiDimIdentityMap(4));
  auto bits = [&](TileBuilder &s, Value word, uint32_t width) -> Value {
    // 8i, and the place of the item in its byte.
    Value at = s.mul(s.index(2), s.constant(8));
    if (width == 4 || width == 1)
      at = s.add(at, s.mul(s.index(0), s.constant(4)));
    if (width == 2 || width == 1)
      at = s.add(at, s.mul(s.index(1), s.constant(width)));
    Value shift = arith::IndexCastOp::create(s.b, s.loc, i32, at);
    Value moved = arith::ShRUIOp::create(s.b, s.loc, word, shift);
    return arith::AndIOp::create(s.b, s.loc, moved, s.integer(i32, (1 << width) - 1));
  };
  Value out = t.generic(ins, t.empty({kPieces, kGroups, kQuad, kRows}, f32), maps, "pppp",
                        [&](TileBuilder &s, ValueRange a) -> Value {
                          size_t next = 0;
                          Value quant = bits(s, a[next++], format.lowBits);
                          if (format.highBits) {
                            Value high = bits(s, a[next++], format.highBits);
                            high = arith::ShLIOp::create(s.b, s.loc, high, s.integer(i32, format.lowBits));
                            quant = arith::OrIOp::create(s.b, s.loc, quant, high);
                          }
                          if (format.zeroPoint)
                            quant = s.sub(quant, s.integer(i32, format.zeroPoint));
                          Value value = arith::SIToFPOp::create(s.b, s.loc, f32, quant);
                          if (format.hasScale)
                            value = s.mul(value, s.toF32(a[next++]));
                          return format.hasMinimum ? s.add(value, s.toF32(a[next])) : value;
                        });
  return t.reshape(out, {kElements, kRows});
}
} // namespace

Value emitLoadF32(const Format &format, OpBuilder &builder, Location loc, Value packed, Value group, Value step) {
  return StepLoads(format, builder, loc, packed, group, step).decoded();
}

FailureOr<IntegerTile> emitLoadInteger(const Format &format, OpBuilder &builder, Location loc, Value packed,
                                       Value group, Value step) {
  if (format.lowBits == 0) // floats
    return failure();
  StepLoads loads(format, builder, loc, packed, group, step);
  IntegerTile tile;
  for (int64_t h = 0; h < kPieces; ++h)
    tile.pieces.push_back(loads.quants(h));
  tile.scales = loads.scales();
  tile.offsets = loads.minimums();
  tile.zeroPoint = format.zeroPoint;
  return tile;
}

} // namespace tilewright::quantization
