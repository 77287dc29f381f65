// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of pre_norm.add_norm on a tile of whole rows: the sum, and the norm's own kernel form on it.
#include "plugins/pre_norm/PreNorm.h"

#include "ir/interfaces/TileBuilder.h"
#include "ir/interfaces/Verify.h"

namespace tilewright::pre_norm {

using namespace mlir;

FailureOr<SmallVector<Value>> AddNormOp::lowerTile(OpBuilder &builder) {
  RankedTensorType type = getInput().getType();
  if (!type.hasStaticShape())
    return emitOpError("has no kernel form for a tile of type ") << type << ", wanted a static shape";
  TileBuilder t(builder, getLoc());
  Value sum = t.elementwise({getInput(), getUpdate()}, t.empty(type.getShape(), type.getElementType()),
                            [](TileBuilder &s, ValueRange a) { return s.add(a[0], a[1]); });
  Operation *norm = buildNorm(builder, *this, sum);
  auto lowering = dyn_cast<TileLowering>(norm);
  FailureOr<SmallVector<Value>> normed = failure();
  if (lowering)
    normed = lowering.lowerTile(builder);
  else
    emitOpError("has no kernel form: '") << getNorm() << "' has none";
  bool isRight = succeeded(normed) && succeeded(verifyGivenTypes(norm, "TileLowering", *normed));
  norm->erase();
  if (!isRight)
    return failure();
  return SmallVector<Value>{sum, normed->front()};
}

} // namespace tilewright::pre_norm
