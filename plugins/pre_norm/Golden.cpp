// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks x + f(x) with their norms in every place, f a linear map. They are built of core ops, as a model is that comes
// from somewhere: recognising the norms and fusing them with the sums is what passes do.
#include "plugins/pre_norm/PreNorm.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"

namespace tilewright::pre_norm {

using namespace mlir;

void buildGolden(GoldenCase &c) {
  std::string kind = c.oneOf("kind", {"post", "pre", "sandwich", "parallel", "fused"});
  const bool isLayer = c.oneOf("norm", {"layer", "rms"}) == "layer";
  const double epsilon = c.number("eps");
  // Every case stores f and two norms, also where it has no use for them.
  SmallVector<GoldenFacts::Input> wanted = {
      {"x", 3}, {"f_weight", 2}, {"f_bias", 1}, {"norm1_weight", 1}, {"norm2_weight", 1}};
  if (isLayer)
    wanted.append({{"norm1_bias", 1}, {"norm2_bias", 1}});
  if (kind == "parallel")
    wanted.append({{"g_weight", 2}, {"g_bias", 1}});
  if (kind == "fused")
    wanted.push_back({"delta", 3});
  if (!c.inputs(wanted))
    return;

  auto norm = [&](Value x, StringRef name) {
    Value weight = c.value((name + "_weight").str()), bias = c.value((name + "_bias").str());
    return isLayer ? tw::layerNorm(c.b, x, weight, bias, epsilon) : tw::rmsNorm(c.b, x, weight, epsilon);
  };
  auto map = [&](StringRef name, Value x) {
    return tw::linear(c.b, x, c.value((name + "_weight").str()), c.value((name + "_bias").str()));
  };
  auto add = [&](Value a, Value b) -> Value { return tw::AddOp::create(c.b, a, b); };
  Value x = c.value("x");
  if (kind == "post") {
    c.output("y", norm(add(x, map("f", x)), "norm1"));
  } else if (kind == "pre") {
    c.output("y", add(x, map("f", norm(x, "norm1"))));
  } else if (kind == "sandwich") {
    c.output("y", add(x, norm(map("f", norm(x, "norm1")), "norm2")));
  } else if (kind == "parallel") {
    Value n = norm(x, "norm1");
    c.output("y", add(add(x, map("f", n)), map("g", n)));
  } else {
    Value sum = add(x, c.value("delta"));
    c.output("residual", sum);
    c.output("y", norm(sum, "norm1"));
  }
}

} // namespace tilewright::pre_norm
