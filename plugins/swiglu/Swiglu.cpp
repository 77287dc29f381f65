// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/swiglu/Swiglu.h"

#include "ir/tw/Build.h"

#include <cmath>
#include <numbers>

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
    return emitOpError("has alpha ") << alpha << ", which only activation \"silu\" takes; found \"" << getActivation() << "\"";
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
  Type inner = element.getIntOrFloatBitWidth() < 32 ? b.getF32Type() : element;
  Value g = tw::castTo(b, getGate(), inner), u = tw::castTo(b, getUp(), inner);
  auto constant = [&](double value) { return tw::splat(b, value, g); };
  auto mul = [&](Value x, Value y) -> Value { return tw::MulOp::create(b, x, y); };
  auto add = [&](Value x, Value y) -> Value { return tw::AddOp::create(b, x, y); };

  if (std::optional<APFloat> limit = getLimit()) {
    double value = limit->convertToDouble();
    g = tw::MinimumOp::create(b, g, constant(value));
    u = tw::MaximumOp::create(b, tw::MinimumOp::create(b, u, constant(value)), constant(-value));
  }
  Value activated;
  StringRef activation = getActivation();
  if (activation == "silu") {
    double alpha = getAlpha().convertToDouble();
    Value scaled = alpha == 1 ? g : mul(g, constant(alpha));
    activated = mul(g, tw::SigmoidOp::create(b, scaled));
  } else if (activation == "gelu") {
    Value erf = tw::ErfOp::create(b, mul(g, constant(std::numbers::sqrt2 / 2)));
    activated = mul(mul(g, constant(0.5)), add(erf, constant(1)));
  } else if (activation == "gelu_tanh") {
    Value cubed = mul(mul(g, g), g);
    Value inside = mul(add(g, mul(cubed, constant(0.044715))), constant(std::sqrt(2 / std::numbers::pi)));
    activated = mul(mul(g, constant(0.5)), add(tw::TanhOp::create(b, inside), constant(1)));
  } else if (activation == "relu") {
    activated = tw::MaximumOp::create(b, g, constant(0));
  } else {
    activated = tw::SigmoidOp::create(b, g);
  }
  if (double offset = getUpOffset().convertToDouble(); offset != 0)
    u = add(u, constant(offset));
  return SmallVector<Value>{tw::castTo(b, mul(activated, u), element)};
}

StringRef GluOp::getFusionKind() { return "feed_forward"; }

NumericsBound GluOp::getNumericsBound(StringRef mode) {
  // One activation by a polynomial, two products.
  bool narrow = getGate().getType().getElementTypeBitWidth() < 32;
  return {0.0, narrow ? 1e-2 : mode == "precise" ? 1e-5 : 1e-4};
}

} // namespace tilewright::swiglu
