// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Tw.h"

using namespace mlir;

namespace tilewright::tw {

FailureOr<SmallVector<Value>> ReshapeOp::lowerTile(OpBuilder &builder) {
  return emitOpError("has no kernel form for a tile of type ") << getType();
}

} // namespace tilewright::tw
