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
  Type element = getGate().getType().getElementType();
  Type inner = tw::wideFloat(element);
  Value g = tw::castTo(b, getGate(), inner), u = tw::castTo(b, getUp(), inner);
  auto constant = [&](double value) { return tw::splat(b, value, g); };
  if (std::optional<APFloat> limit = getLimit()) {
    double value = limit->convertToDouble();
    g = tw::MinimumOp::create(b, g, constant(value));
    u = tw::MaximumOp::create(b, tw::MinimumOp::create(b, u, constant(value)), constant(-value));
  }
  Value activated = tw::activation(b, getActivation(), g, getAlpha().convertToDouble());
  if (double offset = getUpOffset().convertToDouble(); offset != 0)
    u = tw::AddOp::create(b, u, constant(offset));
  return SmallVector<Value>{tw::castTo(b, tw::MulOp::create(b, activated, u), element)};
}

StringRef GluOp::getFusionKind() { return "feed_forward"; }

NumericsBound GluOp::getNumericsBound(StringRef mode) {
  // One activation by a polynomial, two products.
  bool narrow = getGate().getType().getElementTypeBitWidth() < 32;
  return {0.0, narrow ? 1e-2 : mode == "precise" ? 1e-5 : 1e-4};
}

} // namespace tilewright::swiglu
