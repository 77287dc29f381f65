// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module as the article has it: each key/value head repeated for its queries. Taking the repeats away is what
// grouped-query-attention-share does.
#include "plugins/grouped_query_attention/Share.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"

namespace tilewright::grouped_query_attention {

using namespace mlir;

void buildGolden(GoldenCase &c) {
  const int64_t heads = c.count("H"), kvHeads = c.count("Hkv"), width = c.count("D");
  const bool causal = c.flag("causal", false);
  const std::string norm = c.oneOf("qk_norm", {"rms", "layer"}, "");
  c.ignore({"eps"}); // of the norms
  const double epsilon = norm.empty() ? 0.0 : c.number("eps");
  SmallVector<GoldenCase::Input> wanted = {{"x", 3}, {"w_q", 2}, {"w_k", 2}, {"w_v", 2}, {"w_o", 2}},
                                 optional = {{"b_q", 1}, {"b_k", 1}, {"b_v", 1}, {"b_o", 1}};
  if (!norm.empty())
    wanted.append({{"q_norm_weight", 1}, {"k_norm_weight", 1}});
  if (norm == "layer")
    optional.append({{"q_norm_bias", 1}, {"k_norm_bias", 1}});
  if (!c.inputs(wanted, optional))
    return;
  constexpr int64_t any = ShapedType::kDynamic;
  if (!c.holdsFloats("w_q", {heads * width, any}) || !c.holdsFloats("w_k", {kvHeads * width, any}))
    return;
  if (heads % kvHeads != 0)
    return c.unsupported("H is " + Twine(heads) + ", wanted a multiple of Hkv, " + Twine(kvHeads));
  ImplicitLocOpBuilder &b = c.b;
  Value x = c.value("x");
  auto project = [&](StringRef name, int64_t count) {
    return tw::splitHeads(b, tw::linear(b, x, c.value(("w_" + name).str()), c.value(("b_" + name).str())), count);
  };
  auto normed = [&](StringRef name, Value x) {
    Value weight = c.value((name + "_norm_weight").str()), bias = c.value((name + "_norm_bias").str());
    return norm.empty()    ? x
           : norm == "rms" ? tw::rmsNorm(b, x, weight, epsilon)
                           : tw::layerNorm(b, x, weight, bias, epsilon);
  };
  Value q = normed("q", project("q", heads)), k = normed("k", project("k", kvHeads));
  SmallVector<int64_t> shape(tw::tensorType(q).getShape()),
      grouped = {shape[0], kvHeads, heads / kvHeads, shape[2], shape[3]};
  Value like = tw::reshape(b, q, grouped); // [B, Hkv, H / Hkv, T, D]
  auto repeated = [&](Value value) { return tw::reshape(b, tw::broadcast(b, value, like, {0, 1, 3, 4}), shape); };
  Value o = tw::attention(b, q, repeated(k), repeated(project("v", kvHeads)),
                          {.scale = c.defaultScale(width), .causal = causal ? "end" : "none"});
  c.output("y", tw::linear(b, tw::joinHeads(b, o), c.value("w_o"), c.value("b_o")));
}

} // namespace tilewright::grouped_query_attention
