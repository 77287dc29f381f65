// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/check/Check.h"

#include "ir/check/CheckDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ir/check/Check.cpp.inc"

namespace tilewright::check {

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/check/Check.cpp.inc"
      >();
}

mlir::LogicalResult ExpectCloseOp::verify() {
  // (C1)
  for (auto [name, bound] : {std::pair("absolute", getAbsolute()), {"relative", getRelative()}})
    if (!bound.isFinite() || bound.isNegative())
      return emitOpError(name) << " is " << bound.convertToDouble() << ", wanted a finite number >= 0";
  return mlir::success();
}

} // namespace tilewright::check
