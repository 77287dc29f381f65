// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of rms_norm.layer_norm on a tile of whole rows. The mean of a row far from 0 is off by its rounding; the
// mean of the distances from it is that error, and costs one more sweep over a row in the cache (the corrected two-pass
// algorithm of Chan, Golub and LeVeque, 1983).
#include "plugins/rms_norm/RmsNorm.h"

#include "ir/interfaces/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace tilewright::rms_norm {

using namespace mlir;

FailureOr<SmallVector<Value>> LayerNormOp::lowerTile(OpBuilder &builder) {
  RankedTensorType type = getInput().getType();
  if (!type.hasStaticShape() || type.getElementTypeBitWidth() > 32)
    return emitOpError("has no kernel form for a tile of type ")
           << type << ", wanted a static shape of f32 or narrower";
  TileBuilder t(builder, getLoc());
  Type element = type.getElementType(), f32 = builder.getF32Type();
  int64_t width = type.getShape().back(), rows = type.getNumElements() / width;
  double epsilon = getEpsilon().convertToDouble();
  AffineMap elements = t.map(2, {t.d(0), t.d(1)}), perRow = t.map(2, {t.d(0), t.zero()}),
            perColumn = t.map(2, {t.d(1)});

  // What the bodies read: x, and the row's numbers found so far, each [rows, 1].
  SmallVector<Value> ins = {t.reshape(getInput(), {rows, width})};
  SmallVector<AffineMap> maps = {elements};
  auto centred = [](TileBuilder &s, ValueRange a, size_t means) {
    Value d = s.toF32(a[0]);
    for (Value mean : a.slice(1, means))
      d = s.sub(d, mean);
    return d;
  };
  auto rowNumber = [&](TileBuilder::Body summand, TileBuilder::Body ofMean) {
    SmallVector<AffineMap> sumMaps = maps;
    sumMaps.push_back(t.map(2, {t.d(0)}));
    Value sum = t.generic(ins, t.filled({rows}, 0.0), sumMaps, "pr",
                          [&](TileBuilder &s, ValueRange a) { return s.add(a.back(), summand(s, a)); });
    Value number = t.elementwise(sum, t.empty({rows}, f32), [&](TileBuilder &s, ValueRange a) {
      Value mean = s.mul(a[0], s.f32(1.0 / width));
      return ofMean(s, mean);
    });
    ins.push_back(t.reshape(number, {rows, 1}));
    maps.push_back(perRow);
  };
  auto same = [](TileBuilder &, ValueRange a) { return a[0]; };
  rowNumber([&](TileBuilder &s, ValueRange a) { return centred(s, a, 0); }, same); // the mean
  rowNumber([&](TileBuilder &s, ValueRange a) { return centred(s, a, 1); }, same); // what it is off by
  rowNumber(
      [&](TileBuilder &s, ValueRange a) {
        Value d = centred(s, a, 2);
        return s.mul(d, d);
      },
      [&](TileBuilder &s, ValueRange a) {
        return s.div(s.f32(1.0), math::SqrtOp::create(s.b, s.loc, s.add(a[0], s.f32(epsilon))));
      });

  for (Value vector : {getWeight(), getBias()})
    if (vector) {
      ins.push_back(vector);
      maps.push_back(perColumn);
    }
  maps.push_back(elements);
  Value y = t.generic(ins, t.empty({rows, width}, element), maps, "pp", [&](TileBuilder &s, ValueRange a) -> Value {
    Value normal = s.mul(centred(s, a, 2), a[3]);
    if (getWeight())
      normal = s.mul(normal, s.toF32(a[4]));
    if (getBias())
      normal = s.add(normal, s.toF32(a[a.size() - 2]));
    return element.isF32() ? normal : arith::TruncFOp::create(s.b, s.loc, element, normal).getResult();
  });
  return SmallVector<Value>{t.reshape(y, type.getShape())};
}

} // namespace tilewright::rms_norm
