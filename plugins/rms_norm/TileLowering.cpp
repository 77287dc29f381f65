// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of rms_norm.norm on a tile of whole rows: one sweep for the sum of squares, one for the result.
#include "plugins/rms_norm/RmsNorm.h"

#include "ir/interfaces/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace tilewright::rms_norm {

using namespace mlir;

FailureOr<SmallVector<Value>> NormOp::lowerTile(OpBuilder &builder) {
  RankedTensorType type = getInput().getType();
  if (!type.hasStaticShape() || type.getElementTypeBitWidth() > 32)
    return emitOpError("has no kernel form for a tile of type ")
           << type << ", wanted a static shape of f32 or narrower";
  TileBuilder t(builder, getLoc());
  Type element = type.getElementType(), f32 = builder.getF32Type();
  int64_t width = type.getShape().back(), rows = type.getNumElements() / width;
  double epsilon = getEpsilon().convertToDouble();

  Value x = t.reshape(getInput(), {rows, width});
  AffineMap elements = t.map(2, {t.d(0), t.d(1)}), perRow = t.map(2, {t.d(0)}), perColumn = t.map(2, {t.d(1)});
  Value squares = t.generic(x, t.filled({rows}, 0.0), {elements, perRow}, "pr", [](TileBuilder &s, ValueRange a) {
    Value wide = s.toF32(a[0]);
    return s.add(a[1], s.mul(wide, wide));
  });
  Value factor = t.elementwise(squares, t.empty({rows}, f32), [&](TileBuilder &s, ValueRange a) -> Value {
    Value mean = s.mul(a[0], s.f32(1.0 / width));
    if (getEpsilonOutside())
      return s.div(s.f32(1.0), s.add(math::SqrtOp::create(s.b, s.loc, mean), s.f32(epsilon)));
    return s.div(s.f32(1.0), math::SqrtOp::create(s.b, s.loc, s.add(mean, s.f32(epsilon))));
  });
  auto narrow = [&](TileBuilder &s, Value v) -> Value {
    return element.isF32() ? v : arith::TruncFOp::create(s.b, s.loc, element, v).getResult();
  };

  SmallVector<Value> ins = {x, t.reshape(factor, {rows, 1})};
  SmallVector<AffineMap> maps = {elements, t.map(2, {t.d(0), t.zero()})};
  for (Value vector : {getWeight(), getBias()})
    if (vector) {
      ins.push_back(vector);
      maps.push_back(perColumn);
    }
  maps.push_back(elements);
  Value y = t.generic(ins, t.empty({rows, width}, element), maps, "pp", [&](TileBuilder &s, ValueRange a) {
    Value normal = s.mul(s.toF32(a[0]), a[1]);
    if (getWeight()) {
      Value weight = s.toF32(a[2]);
      if (getUnitOffset())
        weight = s.add(weight, s.f32(1.0));
      else
        normal = s.toF32(narrow(s, normal));
      normal = s.mul(normal, weight);
    }
    normal = narrow(s, normal);
    if (getBias())
      normal = narrow(s, s.add(s.toF32(normal), s.toF32(a[a.size() - 2])));
    return normal;
  });
  return SmallVector<Value>{t.reshape(y, type.getShape())};
}

} // namespace tilewright::rms_norm
