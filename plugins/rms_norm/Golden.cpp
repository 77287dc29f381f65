// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/rms_norm/RmsNorm.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Build.h"

namespace tilewright::rms_norm {

using namespace mlir;

void buildGoldenRms(GoldenCase &c) {
  double epsilon = c.number("eps");
  bool unitOffset = c.flag("plus_one"), outside = !c.flag("eps_inside", true);
  c.oneOf("storage", {"bf16"}, "bf16");
  if (!c.inputs({{"x"}}, {{"weight", 1}, {"bias", 1}}))
    return;
  auto norm = [&](Value x, Value weight, Value bias) -> Value {
    return NormOp::create(c.b, x.getType(), x, weight, bias, APFloat(epsilon), unitOffset, outside);
  };
  Value x = c.value("x"), weight = c.value("weight"), bias = c.value("bias");
  c.output("y", norm(x, weight, bias));
  // The other convention for 16-bit tensors: all in f32, rounded once.
  if (c.outputType("y_single_rounding")) {
    Type f32 = c.b.getF32Type();
    auto wide = [&](Value value) { return value ? tw::castTo(c.b, value, f32) : value; };
    c.output("y_single_rounding",
             tw::castTo(c.b, norm(wide(x), wide(weight), wide(bias)), tw::tensorType(x).getElementType()));
  }
}

void buildGoldenLayer(GoldenCase &c) {
  double epsilon = c.number("eps");
  if (c.flag("plus_one", false) || !c.flag("eps_inside", true))
    c.unsupported("a layer norm with an offset weight, or with its epsilon outside of the root");
  if (!c.inputs({{"x"}}, {{"weight", 1}, {"bias", 1}}))
    return;
  Value x = c.value("x");
  c.output("y", LayerNormOp::create(c.b, x.getType(), x, c.value("weight"), c.value("bias"), APFloat(epsilon)));
}

} // namespace tilewright::rms_norm
