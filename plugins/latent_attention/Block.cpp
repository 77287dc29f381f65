// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block `latent_attention`: attention through a learned array of latents, with its parameters.
#include "plugins/latent_attention/LatentAttention.h"

#include "frontend/api/AttentionBlock.h"
#include "ir/tw/Build.h"

namespace tilewright::latent_attention {

using namespace mlir;
using tw::tensorType;

namespace {

BlockResults build(BlockBuilder &b, const BlockOptions &options, ValueRange inputs) {
  int64_t dim = options.integer("dim"), heads = options.integer("num_heads"), number = options.integer("num_latents");
  int64_t inner = heads * options.integer("head_dim");
  if (options.flag("causal") || options.has("window"))
    return b.error() << "every output sees every input, so there is neither a causal form nor a window; "
                        "latent_attention.attention, attention of low rank, has both";
  Value x = inputs[0], mask = inputs.size() > 1 ? inputs[1] : Value();
  if (failed(expectNoDropout(b, options)) || failed(b.expectInput(x, "x", 3, dim)))
    return failure();
  RankedTensorType type = tensorType(x);
  if (type.isDynamicDim(0))
    return b.error() << "x is " << type << ", wanted a static batch";
  if (mask) {
    RankedTensorType found = tensorType(mask);
    bool fits = found.getElementType().isSignlessIntOrFloat() && found.getRank() == 3 &&
                found.getDimSize(0) == type.getDimSize(0) &&
                (found.getDimSize(1) == 1 || found.getDimSize(1) == number) &&
                found.getDimSize(2) == type.getDimSize(1);
    if (!fits)
      return b.error() << "the mask is " << mask.getType() << ", wanted integers or floats of shape ["
                       << type.getDimSize(0) << ", 1 or " << number << ", length of x]";
  }
  Value latents = tw::reshape(b.b, b.parameter("latents", {1, number, dim}, Initial::normal(1.0)), {number, dim});
  Value weights[4], biases[4];
  constexpr StringLiteral names[4] = {"q_proj", "k_proj", "v_proj", "o_proj"};
  for (auto [i, name] : llvm::enumerate(names)) {
    int64_t out = i == 3 ? dim : inner, in = i == 3 ? inner : dim;
    weights[i] = b.parameter((name + ".weight").str(), {out, in}, Initial::ofLinear(in));
    biases[i] = b.parameter((name + ".bias").str(), {out}, Initial::ofLinear(in));
  }
  auto op = LatentArrayOp::create(
      b.b, type, type.clone({type.getDimSize(0), heads, number, options.integer("head_dim")}), x, latents, weights[0],
      weights[1], weights[2], weights[3], biases[0], biases[1], biases[2], biases[3], Value(), Value(), Value(),
      Value(), Value(), Value(), mask, heads, FloatAttr(), "updated", "none", IntegerAttr());
  return SmallVector<Value>{op.getResult()};
}

} // namespace

void registerBlocks(BlockRegistry &registry) {
  registry.add({"latent_attention",
                "x [B, L, dim], and perhaps a mask [B, 1 or num_latents, L] that hides inputs from the latents: "
                "attention through "
                "num_latents learned vectors, never causal",
                {BlockOption::integer("dim", std::nullopt).mustBeGiven(),
                 BlockOption::integer("num_heads", std::nullopt).mustBeGiven(), BlockOption::integer("num_latents", 64),
                 BlockOption::integer("head_dim", 64), BlockOption::number("dropout", 0.0, 0.0),
                 BlockOption::flag("causal", false), BlockOption::integer("window", std::nullopt)},
                build,
                attentionBlockInputs()});
}

} // namespace tilewright::latent_attention
