// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/swiglu/Swiglu.h"

#include "ir/tw/Layers.h"

#include <cmath>

#include "plugins/swiglu/SwigluDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/swiglu/Swiglu.cpp.inc"

namespace tilewright::swiglu {

using namespace mlir;

void SwigluDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/swiglu/Swiglu.cpp.inc"
      >();
}

LogicalResult GluOp::verify() {
  double alpha = getAlpha().convertToDouble(), offset = getUpOffset().convertToDouble();
  if (!std::isfinite(alpha) || alpha == 0) // (C1)
    return emitOpError("wants a finite alpha other than 0, found ") << alpha;
  if (alpha != 1 && getActivation() != "silu") // (C1)
    return emitOpError("has alpha ") << alpha << ", which only activation \"silu\" takes; found \"" << getActivation()
                                     << "\"";
  if (std::optional<APFloat> limit = getLimit()) // (C2)
    if (double value = limit->convertToDouble(); !std::isfinite(value) || value <= 0)
      return emitOpError("wants a finite limit above 0, found ") << value;
  if (!std::isfinite(offset)) // (C3)
    return emitOpError("wants a finite up_offset, found ") << offset;
  return success();
}

FailureOr<SmallVector<Value>> GluOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  tw::GateOptions options{getAlpha().convertToDouble(), std::nullopt, getUpOffset().convertToDouble()};
  if (std::optional<APFloat> limit = getLimit())
    options.limit = limit->convertToDouble();
  return SmallVector<Value>{tw::gatedUnit(b, getActivation(), getGate(), getUp(), options)};
}

StringRef GluOp::getFusionKind() { return "feed_forward"; }

NumericsBound GluOp::getNumericsBound(StringRef mode) {
  // One activation by a polynomial, two products.
  bool narrow = getGate().getType().getElementTypeBitWidth() < 32;
  return {0.0, narrow ? 1e-2 : mode == "precise" ? 1e-5 : 1e-4};
}

} // namespace tilewright::swiglu
