// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/swiglu/Swiglu.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"

namespace tilewright::swiglu {

using namespace mlir;

namespace {

/// One of the two halves of fused rows [2F, ...]: the first or second F, or the even or odd ones.
Value half(ImplicitLocOpBuilder &b, Value fused, bool second, bool interleaved) {
  SmallVector<int64_t> shape(tw::tensorType(fused).getShape());
  int64_t rows = shape[0] / 2;
  if (!interleaved)
    return tw::slice(b, fused, 0, second ? rows : 0, rows);
  SmallVector<int64_t> pairs = shape; // [F, 2, ...]
  pairs[0] = 2;
  pairs.insert(pairs.begin(), rows);
  shape[0] = rows;
  return tw::reshape(b, tw::slice(b, tw::reshape(b, fused, pairs), 1, second, 1), shape);
}

/// The case's activation by the name that this plugin knows it by: of configs, three name one approximation. `further`:
/// what it may be besides those that a gate may have.
std::string activationOf(GoldenCase &c, ArrayRef<StringRef> further = {}) {
  SmallVector<StringRef> choices = {"silu", "gelu", "gelu_pytorch_tanh", "gelu_new", "gelu_fast", "relu", "sigmoid"};
  llvm::append_range(choices, further);
  std::string name = c.oneOf("act", choices);
  return name == "gelu_pytorch_tanh" || name == "gelu_new" || name == "gelu_fast" ? "gelu_tanh" : name;
}

} // namespace

void buildGoldenGlu(GoldenCase &c) {
  std::string activation = activationOf(c);
  double alpha = c.number("alpha", 1.0);
  std::optional<double> limit;
  if (c.has("clamp"))
    limit = c.number("clamp");
  std::string fused = c.oneOf("fused", {"gate_up", "up_gate", "interleaved"}, "");
  c.oneOf("weight_layout", {"[out,in]"});
  if (fused.empty()
          ? !c.inputs({{"x"}, {"w_gate", 2}, {"w_up", 2}, {"w_down", 2}}, {{"b_gate", 1}, {"b_up", 1}, {"b_down", 1}})
          : !c.inputs({{"x"}, {"w_fused", 2}, {"w_down", 2}}, {{"b_fused", 1}, {"b_down", 1}}))
    return;
  auto part = [&](StringRef kind, bool gate) {
    if (fused.empty())
      return c.value((kind + (gate ? "gate" : "up")).str());
    Value both = c.value((kind + "fused").str());
    return both ? half(c.b, both, /*second=*/gate == (fused == "up_gate"), fused == "interleaved") : both;
  };
  Value gate = tw::linear(c.b, c.value("x"), part("w_", true), part("b_", true));
  Value up = tw::linear(c.b, c.value("x"), part("w_", false), part("b_", false));
  // The clamped form adds 1 to the up projection.
  GluOp glu = GluOp::create(c.b, gate.getType(), gate, up, StringRef(activation), APFloat(alpha),
                            limit ? c.b.getF64FloatAttr(*limit) : FloatAttr(), APFloat(limit ? 1.0 : 0.0));
  c.output("y", tw::linear(c.b, glu, c.value("w_down"), c.value("b_down")));
}

void buildGoldenFeedForward(GoldenCase &c) {
  std::string activation = activationOf(c, {"relu2", "tanh"});
  c.oneOf("weight_layout", {"[out,in]"});
  if (!c.inputs({{"x"}, {"w1", 2}, {"w2", 2}}, {{"b1", 1}, {"b2", 1}}))
    return;
  Value hidden = tw::linear(c.b, c.value("x"), c.value("w1"), c.value("b1")); // [..., F]
  c.output("y", tw::linear(c.b, tw::activation(c.b, activation, hidden), c.value("w2"), c.value("b2")));
}

} // namespace tilewright::swiglu
