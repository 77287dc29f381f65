// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention modules. Where a case wants the weights of the keys as well, they are computed beside the attention, so
// that it stays one that kernels know.
#include "plugins/multi_head_attention/MultiHeadAttention.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"

#include <limits>

namespace tilewright::multi_head_attention {

using namespace mlir;

namespace {

/// What attention on these heads gives, and with which weights: [B, H, T, Dv] and [B, H, T, S].
struct Attended {
  Value result, weights;
};

/// A key is hidden from later positions on (`causal`, as many keys as queries), and behind the end of its sequence
/// (`lengths` [B], or null).
Attended attend(ImplicitLocOpBuilder &b, const tw::Heads &h, double scale, bool causal, Value lengths) {
  SmallVector<int64_t> shape(tw::tensorType(h.query).getShape());
  shape[3] = tw::tensorType(h.key).getDimSize(2);
  RankedTensorType type = tw::tensorType(h.query).clone(shape), indices = type.clone(b.getI32Type());
  Value scores = tw::BatchMatmulOp::create(b, type, h.query, h.key, /*transpose_b=*/true);
  scores = tw::MulOp::create(b, scores, tw::splat(b, scale, scores));

  Value visible;
  auto column = [&]() -> Value { return tw::IotaOp::create(b, indices, scores, 3); };
  if (causal)
    visible = tw::CompareOp::create(b, indices.clone(b.getI1Type()), "le", column(),
                                    tw::IotaOp::create(b, indices, scores, 2));
  if (lengths)
    visible =
        tw::CompareOp::create(b, indices.clone(b.getI1Type()), "lt", column(), tw::broadcast(b, lengths, scores, {0}));
  if (visible)
    scores = tw::SelectOp::create(b, visible, scores, tw::splat(b, -std::numeric_limits<double>::infinity(), scores));

  tw::AttentionOptions options{.scale = scale, .causal = causal ? "end" : "none"};
  if (lengths)
    options.mask = tw::slice(b, visible, 1, 0, 1); // [B, 1, T, S]
  // Of no scores there is no softmax: they are the weights.
  Value weights = type.getNumElements() == 0 ? scores : tw::SoftmaxOp::create(b, scores, 3);
  return {tw::attention(b, h.query, h.key, h.value, options), weights};
}

/// Queries of `x`, keys and values of `source`, by PyTorch's packed weights.
void buildPacked(GoldenCase &c, Value x, Value source, int64_t heads, bool causal) {
  tw::Heads h = tw::packedProjections(c.b, x, source, c.value("in_proj_weight"), c.value("in_proj_bias"), heads);
  const double scale = c.defaultScale(tw::tensorType(h.query).getShape().back());
  Attended attended = attend(c.b, h, scale, causal, c.value("memory_len"));
  c.output("y",
           tw::linear(c.b, tw::joinHeads(c.b, attended.result), c.value("out_proj_weight"), c.value("out_proj_bias")));
  c.output("weights", attended.weights);
}

/// Heads of any width and number, perhaps normalised one by one: the module op.
void buildModule(GoldenCase &c) {
  const std::string kind = c.oneOf("qk_norm", {"none", "rms", "layer"}, "none");
  const bool isNormed = kind != "none", causal = c.flag("causal", false);
  c.ignore({"eps"}); // of the norms
  const double epsilon = isNormed ? c.number("eps") : 0.0;
  const int64_t heads = c.count("H"), kvHeads = c.count("Hkv"), width = c.count("D");
  if (!c.inputs({{"x", 3}, {"w_q", 2}, {"w_k", 2}, {"w_v", 2}, {"w_o", 2}}, {{"b_q", 1},
                                                                             {"b_k", 1},
                                                                             {"b_v", 1},
                                                                             {"b_o", 1},
                                                                             {"q_norm_weight", 1},
                                                                             {"k_norm_weight", 1},
                                                                             {"q_norm_bias", 1},
                                                                             {"k_norm_bias", 1}}) ||
      !c.holdsFloats("w_q", {heads * width, ShapedType::kDynamic}))
    return;
  ImplicitLocOpBuilder &b = c.b;
  RankedTensorType x = tw::tensorType(c.value("x"));
  c.output("y", SelfAttentionOp::create(
                    b, x.clone({x.getDimSize(0), x.getDimSize(1), c.sizes("w_o")[0]}), c.value("x"), c.value("w_q"),
                    c.value("w_k"), c.value("w_v"), c.value("w_o"), c.value("b_q"), c.value("b_k"), c.value("b_v"),
                    c.value("b_o"), /*mask=*/Value(), c.value("q_norm_weight"), c.value("q_norm_bias"),
                    c.value("k_norm_weight"), c.value("k_norm_bias"), b.getI64IntegerAttr(heads),
                    b.getI64IntegerAttr(kvHeads), /*scale=*/FloatAttr(), b.getStringAttr(kind),
                    isNormed ? b.getF64FloatAttr(epsilon) : FloatAttr(), b.getStringAttr(causal ? "end" : "none")));
}

} // namespace

void buildGoldenMultiHead(GoldenCase &c) {
  if (c.has("qk_norm") || c.has("Hkv"))
    return buildModule(c);
  const int64_t heads = c.count("H");
  const bool causal = c.flag("causal");
  if (c.inputs({{"x", 3}, {"in_proj_weight", 2}, {"out_proj_weight", 2}}, {{"in_proj_bias", 1}, {"out_proj_bias", 1}}))
    buildPacked(c, c.value("x"), c.value("x"), heads, causal);
}

void buildGoldenCross(GoldenCase &c) {
  const int64_t heads = c.count("H");
  if (c.flag("causal"))
    c.unsupported("causal cross-attention");
  if (c.inputs({{"x", 3}, {"memory", 3}, {"in_proj_weight", 2}, {"out_proj_weight", 2}},
               {{"memory_len", 1}, {"in_proj_bias", 1}, {"out_proj_bias", 1}}))
    buildPacked(c, c.value("x"), c.value("memory"), heads, /*causal=*/false);
}

void buildGoldenTrainable(GoldenCase &c) {
  const bool causal = c.flag("causal"), fused = c.flag("fused");
  const bool isTransposed = c.oneOf("weight_layout", {"[E,C], Q = X W", "[C,E]"}) != "[C,E]";
  const bool isScaled = c.oneOf("scale", {"1/sqrt(C)", "1"}) != "1";
  SmallVector<GoldenCase::Input> wanted = {{"x"}}, optional;
  // Without any weight it is the untrained form, Q = K = V = X.
  const bool isUntrained = !fused && c.sizes("w_q").empty();
  if (fused) {
    wanted.push_back({"w_qkv", 2});
    optional.push_back({"b_qkv", 1});
  } else if (!isUntrained) {
    wanted.append({{"w_q", 2}, {"w_k", 2}, {"w_v", 2}});
    optional.append({{"b_q", 1}, {"b_k", 1}, {"b_v", 1}});
  }
  if (!c.inputs(wanted, optional))
    return;
  ImplicitLocOpBuilder &b = c.b;
  Value x = c.value("x"); // [T, E] or [B, T, E]
  SmallVector<int64_t> rows(tw::tensorType(x).getShape());
  const bool isSingle = rows.size() == 2;
  if (!isSingle && rows.size() != 3)
    return c.unsupported("input x of " + Twine(rows.size()) + " dimensions, wanted [T, E] or [B, T, E]");
  if (isSingle)
    x = tw::reshape(b, x, {1, rows[0], rows[1]});
  auto project = [&](StringRef name) {
    Value weight = c.value(("w_" + name).str());
    return tw::linear(b, x, isTransposed ? tw::transpose(b, weight, {1, 0}) : weight, c.value(("b_" + name).str()));
  };
  SmallVector<Value> parts;
  if (fused) {
    Value all = project("qkv");
    const int64_t width = tw::tensorType(all).getDimSize(2) / 3;
    for (int64_t i = 0; i < 3; ++i)
      parts.push_back(tw::slice(b, all, 2, i * width, width));
  } else {
    for (StringRef name : {"q", "k", "v"})
      parts.push_back(isUntrained ? x : project(name));
  }
  for (Value &part : parts)
    part = tw::splitHeads(b, part, 1);
  const double scale = isScaled ? c.defaultScale(tw::tensorType(parts[0]).getShape().back()) : 1.0;
  Attended attended = attend(b, {parts[0], parts[1], parts[2]}, scale, causal, Value());
  auto unheaded = [&](Value value) { // [B, 1, T, C] -> [B, T, C] or [T, C]
    ArrayRef<int64_t> shape = tw::tensorType(value).getShape();
    return tw::reshape(b, value,
                       isSingle ? SmallVector<int64_t>{shape[2], shape[3]}
                                : SmallVector<int64_t>{shape[0], shape[2], shape[3]});
  };
  c.output("context", unheaded(attended.result));
  c.output("weights", unheaded(attended.weights));
}

} // namespace tilewright::multi_head_attention
