// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Tw.h"

using namespace mlir;

namespace tilewright::tw {

FailureOr<SmallVector<Value>> QuantizeRowsOp::lowerTile(OpBuilder &builder) {
  return emitOpError("has no kernel form for a tile of type ") << getQuants().getType();
}

FailureOr<SmallVector<Value>> PackedLinearOp::lowerTile(OpBuilder &builder) {
  return emitOpError("has no kernel form for a tile of type ") << getType();
}

} // namespace tilewright::tw
