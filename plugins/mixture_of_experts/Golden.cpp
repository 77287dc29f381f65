// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/mixture_of_experts/MixtureOfExperts.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"

namespace tilewright::mixture_of_experts {

using namespace mlir;

namespace {

/// A SwiGLU beside the experts.
Value shared(GoldenCase &c, Value x) {
  Value gate = tw::linear(c.b, x, c.value("ws_gate")), up = tw::linear(c.b, x, c.value("ws_up"));
  return tw::linear(c.b, tw::gatedUnit(c.b, "silu", gate, up), c.value("ws_down"));
}

} // namespace

void buildGolden(GoldenCase &c) {
  std::string gating = c.oneOf("gating", {"topk_softmax", "softmax_topk", "sigmoid_group"});
  std::string expert = c.oneOf("expert", {"relu_mlp", "swiglu", "clamped_swiglu"});
  int64_t topK = c.count("top_k"), out = c.count("out_dim");
  bool isClamped = expert == "clamped_swiglu";
  // The article's and gpt-oss's softmax over the chosen experts is normalised as it is.
  bool renormalize = gating != "topk_softmax" && c.flag("renorm", false);
  double scaling = c.number("scaling", 1.0);
  int64_t groups = c.count("n_group", 1, 1), topGroups = c.count("topk_group", 1, 1);
  double alpha = isClamped ? c.number("alpha") : 1.0, limit = isClamped ? c.number("limit") : 0.0;
  std::vector<GoldenCase::Input> required = {{"x", 2}, {"router", 2}};
  if (expert == "relu_mlp")
    required.insert(required.end(), {{"w1", 3}, {"b1", 2}, {"w2", 3}, {"b2", 2}});
  else if (expert == "swiglu")
    required.insert(required.end(), {{"w_gate", 3}, {"w_up", 3}, {"w_down", 3}});
  else
    required.insert(required.end(), {{"w_gate_up", 3}, {"b_gate_up", 2}, {"w_down", 3}, {"b_down", 2}});
  if (!c.inputs(required, {{"router_bias", 1}, {"corr_bias", 1}, {"ws_gate", 2}, {"ws_up", 2}, {"ws_down", 2}}))
    return;

  ImplicitLocOpBuilder &b = c.b;
  Value x = c.value("x"), logits = tw::linear(b, x, c.value("router"), c.value("router_bias"));
  RankedTensorType type = tw::tensorType(logits);
  int64_t experts = type.getDimSize(1);
  StringRef form = gating == "topk_softmax" ? "chosen_softmax" : gating == "softmax_topk" ? "softmax" : "sigmoid";
  SmallVector<int64_t> chosen = {type.getDimSize(0), std::min(topK, experts)};
  auto route = RouteOp::create(b, type.clone(chosen), RankedTensorType::get(chosen, b.getI32Type()), logits,
                               c.value("corr_bias"), form, topK, renormalize, APFloat(scaling), groups, topGroups);

  RankedTensorType result = tw::tensorType(x).clone({type.getDimSize(0), out});
  Value weights = route.getWeights(), indices = route.getIndices(), y;
  auto build = [&](StringRef up, StringRef upBias, StringRef down, StringRef downBias, StringRef activation,
                   StringAttr fused) {
    return ExpertsOp::create(b, result, x, weights, indices, c.value(up), c.value(down),
                             expert == "swiglu" ? c.value("w_gate") : Value(), c.value(upBias), c.value(downBias),
                             Value(), b.getStringAttr(activation), fused, b.getBoolAttr(isClamped),
                             b.getF64FloatAttr(alpha), isClamped ? b.getF64FloatAttr(limit) : FloatAttr(),
                             b.getF64FloatAttr(isClamped ? 1.0 : 0.0));
  };
  if (expert == "relu_mlp")
    y = build("w1", "b1", "w2", "b2", "relu", {});
  else if (expert == "swiglu")
    y = build("w_up", "", "w_down", "", "silu", {});
  else
    y = build("w_gate_up", "b_gate_up", "w_down", "b_down", "silu", b.getStringAttr("interleaved"));
  if (c.value("ws_gate"))
    y = tw::AddOp::create(b, y, shared(c, x));
  c.output("y", y);
  c.output("logits", logits);
  c.output("topk_weight", weights);
  c.output("topk_index", indices);
  c.output("counts", CountsOp::create(b, RankedTensorType::get({experts}, b.getI32Type()), indices, experts));
  if (!c.outputType("balance_article")) // of no tokens there is none
    return;
  Value scores = form == "sigmoid" ? tw::SigmoidOp::create(b, logits).getResult()
                                   : tw::SoftmaxOp::create(b, type, logits, 1).getResult();
  auto loss = [&](Value values, StringRef lossForm) {
    return BalanceLossOp::create(b, type.clone(ArrayRef<int64_t>()), values, indices, lossForm, experts);
  };
  c.output("balance_article", loss(weights, "mean_weight"));
  c.output("balance_switch", loss(scores, "switch"));
  c.output("balance_switch_hf", loss(scores, "choices"));
}

} // namespace tilewright::mixture_of_experts
