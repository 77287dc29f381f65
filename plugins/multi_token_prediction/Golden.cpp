// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/multi_token_prediction/MultiTokenPrediction.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"

namespace tilewright::multi_token_prediction {

using namespace mlir;

namespace {

/// The chain of modules of DeepSeek-V3, each a decoder layer with causal attention and a SwiGLU.
class Sequential {
public:
  Sequential(GoldenCase &c, int64_t heads, double epsilon, StringRef order)
      : c(c), b(c.b), heads(heads), epsilon(epsilon), order(order) {}

  /// [n, B, T, V].
  Value logits(int64_t n) {
    Value state = c.value("hidden");
    SmallVector<Value> all;
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0)
        state = module(state, i - 1);
      Value y = tw::linear(b, norm(state, "out_norm", i), c.value("lm_head")); // [B, T, V]
      all.push_back(tw::unsqueeze(b, y, 0));
    }
    return tw::concat(b, 0, all);
  }

private:
  Value weight(StringRef name, int64_t i) { return tw::pick(b, c.value(name), i); }
  Value norm(Value x, StringRef name, int64_t i) { return tw::rmsNorm(b, x, weight(name, i), epsilon); }
  Value linear(Value x, StringRef name, int64_t i) { return tw::linear(b, x, weight(name, i)); }

  /// Token t+1+i in place t; the last token stands in for what is past the end.
  Value shiftedTokens(int64_t i) {
    Value ids = c.value("input_ids"); // [B, T]
    const int64_t length = tw::tensorType(ids).getDimSize(1), ahead = std::min(i + 1, length);
    SmallVector<Value> parts = {tw::slice(b, ids, 1, ahead, length - ahead)};
    parts.append(ahead, tw::slice(b, ids, 1, length - 1, 1));
    return tw::concat(b, 1, parts);
  }

  Value module(Value state, int64_t i) {
    Value embedding = tw::GatherOp::create(b, state.getType(), c.value("embed"), shiftedTokens(i));
    Value y = JoinOp::create(b, embedding, state, weight("enorm", i), weight("hnorm", i), weight("eh_proj", i),
                             APFloat(epsilon), order);
    Value a = norm(y, "in_norm", i);
    auto project = [&](StringRef name) { return tw::splitHeads(b, linear(a, name, i), heads); };
    Value q = project("wq"), k = project("wk"), v = project("wv");
    tw::AttentionOptions options;
    options.scale = c.defaultScale(tw::tensorType(q).getDimSize(3));
    options.causal = "end";
    Value attention = tw::joinHeads(b, tw::attention(b, q, k, v, options));
    y = tw::AddOp::create(b, y, linear(attention, "wo", i));
    Value z = norm(y, "post_norm", i);
    Value gated = tw::gatedUnit(b, "silu", linear(z, "w_gate", i), linear(z, "w_up", i));
    return tw::AddOp::create(b, y, linear(gated, "w_down", i));
  }

  GoldenCase &c;
  ImplicitLocOpBuilder &b;
  int64_t heads;
  double epsilon;
  StringRef order;
};

/// The form's logits [n, B, T, V]; null when something of the case is unsupported.
Value logitsOf(GoldenCase &c) {
  const std::string form = c.oneOf("form", {"separate", "shared", "sequential"});
  const int64_t n = c.count("n"), heads = c.count("H");
  const double epsilon = c.number("eps");
  const std::string order = c.oneOf("concat", {"embedding_first", "hidden_first"}, "embedding_first");
  if (form == "separate")
    return c.inputs({{"hidden", 3}, {"labels", 2}, {"heads", 3}}, {{"heads_bias", 2}})
               ? HeadsOp::create(c.b, c.value("hidden"), c.value("heads"), c.value("heads_bias")).getResult()
               : Value();
  if (form == "shared") {
    if (!c.inputs({{"hidden", 3}, {"labels", 2}, {"lm_head", 2}, {"t_bias", 2}}, {{"t_weight", 3}}))
      return {};
    Value states = OffsetsOp::create(c.b, c.value("hidden"), c.value("t_bias"), c.value("t_weight"));
    return tw::linear(c.b, states, c.value("lm_head"));
  }
  if (!c.inputs({{"hidden", 3},
                 {"labels", 2},
                 {"lm_head", 2},
                 {"embed", 2},
                 {"input_ids", 2},
                 {"enorm", 2},
                 {"hnorm", 2},
                 {"eh_proj", 3},
                 {"in_norm", 2},
                 {"post_norm", 2},
                 {"out_norm", 2},
                 {"wq", 3},
                 {"wk", 3},
                 {"wv", 3},
                 {"wo", 3},
                 {"w_gate", 3},
                 {"w_up", 3},
                 {"w_down", 3}}) ||
      !c.holdsFloats("out_norm", {n, ShapedType::kDynamic}))
    return {};
  return Sequential(c, heads, epsilon, order).logits(n);
}

} // namespace

void buildGolden(GoldenCase &c) {
  const int64_t ignored = c.integer("ignore_index");
  Value logits = logitsOf(c);
  if (!logits)
    return;
  auto loss = [&](bool pooled) { return LossOp::create(c.b, logits, c.value("labels"), ignored, pooled); };
  LossOp mean = loss(false);
  c.output("logits", logits);
  c.output("loss", mean.getLoss());
  c.output("loss_per_head", mean.getPerHead());
  c.output("loss_pooled", loss(true).getLoss());
}

} // namespace tilewright::multi_token_prediction
