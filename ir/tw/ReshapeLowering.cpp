// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of tw.reshape: the tile's elements in another shape.
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Tw.h"

using namespace mlir;

namespace tilewright::tw {

FailureOr<SmallVector<Value>> ReshapeOp::lowerTile(OpBuilder &builder) {
  if (!getType().hasStaticShape() || !getInput().getType().hasStaticShape())
    return emitOpError("has no kernel form for a tile of type ") << getType() << ", wanted a static shape";
  return SmallVector<Value>{TileBuilder(builder, getLoc()).reshape(getInput(), getType().getShape())};
}

} // namespace tilewright::tw
