// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Tw.h"

using namespace mlir;

namespace tilewright::tw {

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  auto condition = dyn_cast_or_null<SplatElementsAttr>(adaptor.getCondition());
  if (!condition)
    return {};
  return condition.getSplatValue<bool>() ? getOnTrue() : getOnFalse();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

} // namespace tilewright::tw
