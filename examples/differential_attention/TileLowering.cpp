// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of differential_attention.combine on a tile of whole heads: the difference, its sum of squares, the
// result.
#include "DifferentialAttention.h"

#include "ir/interfaces/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace tilewright::differential_attention {

using namespace mlir;

FailureOr<SmallVector<Value>> CombineOp::lowerTile(OpBuilder &builder) {
  RankedTensorType type = getType();
  if (!type.hasStaticShape() || type.getElementTypeBitWidth() > 32)
    return emitOpError("has no kernel form for a tile of type ")
           << type << ", wanted a static shape of f32 or narrower";
  TileBuilder t(builder, getLoc());
  Type element = type.getElementType(), f32 = builder.getF32Type();
  ArrayRef<int64_t> shape = type.getShape();
  int64_t heads = shape[1], width = shape.back(), rows = type.getNumElements() / width;
  int64_t between = rows / (shape[0] * heads); // positions of one head, [N, H, between, D]
  double epsilon = getEpsilon().convertToDouble(), scale = getScale().convertToDouble();

  // Every head as a row, with its lambda.
  Value lambda = t.generic(getLambda(), t.empty({shape[0], heads, between}, f32),
                           {t.map(3, {t.d(1)}), t.map(3, {t.d(0), t.d(1), t.d(2)})}, "ppp",
                           [](TileBuilder &s, ValueRange a) { return s.toF32(a[0]); });
  AffineMap elements = t.map(2, {t.d(0), t.d(1)}), perRow = t.map(2, {t.d(0), t.zero()});
  Value positive = t.reshape(getPositive(), {rows, width}), negative = t.reshape(getNegative(), {rows, width});
  Value z = t.generic({positive, negative, t.reshape(lambda, {rows, 1})}, t.empty({rows, width}, f32),
                      {elements, elements, perRow, elements}, "pp",
                      [](TileBuilder &s, ValueRange a) { return s.sub(s.toF32(a[0]), s.mul(a[2], s.toF32(a[1]))); });
  Value squares = t.generic(z, t.filled({rows}, 0.0), {elements, t.map(2, {t.d(0)})}, "pr",
                            [](TileBuilder &s, ValueRange a) { return s.add(a[1], s.mul(a[0], a[0])); });
  Value factor = t.elementwise(squares, t.empty({rows}, f32), [&](TileBuilder &s, ValueRange a) -> Value {
    Value meanSquare = s.mul(a[0], s.f32(1.0 / width));
    return s.div(s.f32(scale), math::SqrtOp::create(s.b, s.loc, s.add(meanSquare, s.f32(epsilon))));
  });

  SmallVector<Value> ins = {z, t.reshape(factor, {rows, 1})};
  SmallVector<AffineMap> maps = {elements, perRow};
  if (getWeight()) {
    ins.push_back(getWeight());
    maps.push_back(t.map(2, {t.d(1)}));
  }
  maps.push_back(elements);
  Value y = t.generic(ins, t.empty({rows, width}, element), maps, "pp", [&](TileBuilder &s, ValueRange a) {
    Value value = s.mul(a[0], a[1]);
    if (getWeight())
      value = s.mul(value, s.toF32(a[2]));
    return element.isF32() ? value : arith::TruncFOp::create(s.b, s.loc, element, value).getResult();
  });
  return SmallVector<Value>{t.reshape(y, shape)};
}

} // namespace tilewright::differential_attention
