// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers of the transformer (Vaswani et al., 2017) as PyTorch's nn.Transformer has them, norms behind or in front of
// the sub-layers, in core ops alone: what plugins know of them, they recognise.
#include "tools/golden/CoreCases.h"

#include "ir/tw/Layers.h"

#include <list>

using namespace mlir;

namespace tilewright {

namespace {

class Layer {
public:
  explicit Layer(GoldenCase &c)
      : c(c), b(c.b), heads(c.count("H")), epsilon(c.number("eps")), isPreNorm(c.flag("norm_first")),
        isCausal(c.flag("self_causal")), activation(c.oneOf("activation", {"relu", "gelu"})) {}

  bool inputs(bool isDecoder) {
    SmallVector<GoldenFacts::Input> wanted = {{"x", 3}}, optional;
    auto parameters = [&](StringRef name, StringRef joint, int64_t rank) {
      wanted.push_back({keep("p." + name + joint + "weight"), rank});
      optional.push_back({keep("p." + name + joint + "bias"), 1});
    };
    if (isDecoder)
      wanted.push_back({"memory", 3});
    for (StringRef module : {"self_attn", "multihead_attn"})
      if (module == "self_attn" || isDecoder) {
        parameters(module, ".in_proj_", 2);
        parameters(module, ".out_proj.", 2);
      }
    for (StringRef name : {"linear1", "linear2"})
      parameters(name, ".", 2);
    for (StringRef name : {"norm1", "norm2", "norm3"})
      if (name != "norm3" || isDecoder)
        parameters(name, ".", 1);
    return c.inputs(wanted, optional);
  }

  /// x + f(norm(x)), or norm(x + f(x)).
  Value residual(Value x, StringRef norm, function_ref<Value(Value)> f) {
    auto normalise = [&](Value v) { return tw::layerNorm(b, v, weight(norm), bias(norm), epsilon); };
    if (isPreNorm)
      return tw::AddOp::create(b, x, f(normalise(x)));
    return normalise(tw::AddOp::create(b, x, f(x)));
  }

  Value attention(Value x, Value source, StringRef module, bool causal) {
    tw::Heads h = tw::packedProjections(b, x, source, c.value(("p." + module + ".in_proj_weight").str()),
                                        c.value(("p." + module + ".in_proj_bias").str()), heads);
    const double scale = c.defaultScale(tw::tensorType(h.query).getShape().back());
    Value o = tw::attention(b, h.query, h.key, h.value, {.scale = scale, .causal = causal ? "end" : "none"});
    std::string out = (module + ".out_proj").str();
    return tw::linear(b, tw::joinHeads(b, o), weight(out), bias(out));
  }

  Value selfAttention(Value x) { return attention(x, x, "self_attn", isCausal); }

  Value feedForward(Value x) {
    Value hidden = tw::linear(b, x, weight("linear1"), bias("linear1"));
    return tw::linear(b, tw::activation(b, activation, hidden), weight("linear2"), bias("linear2"));
  }

private:
  Value weight(StringRef name) { return c.value(("p." + name + ".weight").str()); }
  Value bias(StringRef name) { return c.value(("p." + name + ".bias").str()); }
  StringRef keep(const Twine &name) { return names.emplace_back(name.str()); }

  GoldenCase &c;
  ImplicitLocOpBuilder &b;
  int64_t heads;
  double epsilon;
  bool isPreNorm, isCausal;
  std::string activation;
  std::list<std::string> names; ///< of inputs
};

} // namespace

void buildEncoderLayer(GoldenCase &c) {
  Layer layer(c);
  if (!layer.inputs(/*isDecoder=*/false))
    return;
  Value x = layer.residual(c.value("x"), "norm1", [&](Value v) { return layer.selfAttention(v); });
  c.output("y", layer.residual(x, "norm2", [&](Value v) { return layer.feedForward(v); }));
}

void buildDecoderLayer(GoldenCase &c) {
  Layer layer(c);
  if (!layer.inputs(/*isDecoder=*/true))
    return;
  Value x = layer.residual(c.value("x"), "norm1", [&](Value v) { return layer.selfAttention(v); });
  x = layer.residual(
      x, "norm2", [&](Value v) { return layer.attention(v, c.value("memory"), "multihead_attn", /*causal=*/false); });
  c.output("y", layer.residual(x, "norm3", [&](Value v) { return layer.feedForward(v); }));
}

} // namespace tilewright
