// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of broken.scale on a tile, and the faults that a kernel can have.
#include "tests/conformance/broken/Broken.h"

#include "ir/interfaces/TileBuilder.h"
#include "tests/conformance/broken/Fault.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilewright::broken {

using namespace mlir;

/// The tile behind `tile` in the tensor that it was cut from: behind the last one there is nothing.
static Value nextTile(TileBuilder &t, Value tile) {
  auto cut = tile.getDefiningOp<tensor::ExtractSliceOp>();
  if (!cut)
    return tile;
  SmallVector<OpFoldResult> offsets = cut.getMixedOffsets();
  Value rows = t.constant(shapeOf(tile)[0]);
  Value first = getValueOrCreateConstantIndexOp(t.b, t.loc, offsets[0]);
  offsets[0] = t.add(first, rows);
  return t.slice(cut.getSource(), offsets, shapeOf(tile));
}

FailureOr<LoopMap> ScaleOp::getLoopMap() {
  LoopMap map = elementwiseLoopMap(getOperation());
  if (isFault("loops_miss_operand"))
    map.operands.pop_back();
  if (isFault("loops_unused"))
    map.loops = 7;
  if (isFault("loops_disagree"))
    std::swap(map.operands[1][0], map.operands[1][1]);
  return map;
}

FailureOr<SmallVector<Value>> ScaleOp::lowerTile(OpBuilder &builder) {
  if (isFault("kernel_refused"))
    return failure();
  if (isFault("kernel_gives_too_few"))
    return SmallVector<Value>{};
  if (isFault("kernel_gives_null"))
    return SmallVector<Value>{Value()};
  TileBuilder t(builder, getLoc());
  auto type = cast<RankedTensorType>(getResult().getType());
  Value input = getInput(), other = isFault("kernel_reads_past_end") ? nextTile(t, input) : input;
  double factor = getFactor().convertToDouble();
  static int compilations = 0;
  if (isFault("nondeterministic_kernel"))
    factor *= 1 + 2e-7 * compilations++;
  if (isFault("kernel_wrong"))
    factor *= 1.01;
  if (isFault("kernel_outside_op_set"))
    other = tensor::SplatOp::create(builder, getLoc(), t.f32(0.0), type.getShape());
  Value y = t.elementwise({input, getMask(), other}, t.empty(type.getShape(), type.getElementType()),
                          [&](TileBuilder &s, ValueRange a) -> Value {
                            Value x = s.toF32(a[0]), zero = s.f32(0.0);
                            if (isFault("kernel_swallows_nan"))
                              x = arith::MaxNumFOp::create(s.b, s.loc, x, s.f32(-1e30));
                            Value scaled = s.mul(x, s.f32(factor));
                            if (isFault("kernel_reads_past_end") || isFault("kernel_outside_op_set"))
                              scaled = s.select(s.compare(arith::CmpFPredicate::OEQ, x, s.f32(12345.0)), s.toF32(a[2]),
                                                scaled);
                            Value y = isFault("kernel_ignores_mask") ? scaled : s.select(a[1], scaled, zero);
                            Type element = type.getElementType();
                            return element.isF32() ? y : arith::TruncFOp::create(s.b, s.loc, element, y).getResult();
                          });
  return SmallVector<Value>{y};
}

} // namespace tilewright::broken
