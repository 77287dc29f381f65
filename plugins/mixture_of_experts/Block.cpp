// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/Block.h"

#include "ir/tw/Build.h"
#include "plugins/mixture_of_experts/MixtureOfExperts.h"

namespace tilewright::mixture_of_experts {

using namespace mlir;

/// Experts of one hidden layer with ReLU, softmax over the chosen ones.
static BlockResults build(BlockBuilder &builder, const BlockOptions &options, ValueRange inputs) {
  ImplicitLocOpBuilder &b = builder.b;
  int64_t in = options.integer("input_dim"), hidden = options.integer("hidden_dim"),
          out = options.integer("output_dim");
  int64_t experts = options.integer("num_experts"), k = std::min(options.integer("top_k"), experts);
  double noiseStd = options.number("noise_std");
  Value x = inputs[0];
  if (failed(builder.expectInput(x, "x", 3, in)))
    return failure();
  RankedTensorType type = tw::tensorType(x);
  SmallVector<int64_t> leading(type.getShape().drop_back());
  if (type.getNumDynamicDims() > 1)
    return builder.error() << "x is " << type << ", wanted at most one dynamic dimension";
  int64_t tokens = type.getNumDynamicDims() ? ShapedType::kDynamic : leading[0] * leading[1];
  Value rows = tw::reshape(b, x, {tokens, in});

  Value logits = builder.linear("router", rows, experts);
  if (inputs.size() == 2) {
    if (failed(builder.expectInput(inputs[1], "noise", 3, experts)))
      return failure();
    if (tw::tensorType(inputs[1]).getShape().drop_back() != ArrayRef(leading))
      return builder.error() << "noise is " << inputs[1].getType() << ", wanted the tokens of x, " << type;
    Value noise = tw::reshape(b, inputs[1], {tokens, experts});
    logits = tw::AddOp::create(b, logits, tw::MulOp::create(b, noise, tw::splat(b, noiseStd, noise)));
  }
  SmallVector<int64_t> chosen = {tokens, k};
  auto route = RouteOp::create(b, type.clone(chosen), RankedTensorType::get(chosen, b.getI32Type()), logits, Value(),
                               "chosen_softmax", k, false, APFloat(1.0), 1, 1);
  auto parameter = [&](StringRef name, ArrayRef<int64_t> shape, int64_t from) {
    return builder.parameter(name, shape, Initial::ofLinear(from));
  };
  Value up = parameter("experts.up.weight", {experts, hidden, in}, in),
        upBias = parameter("experts.up.bias", {experts, hidden}, in);
  Value down = parameter("experts.down.weight", {experts, out, hidden}, hidden),
        downBias = parameter("experts.down.bias", {experts, out}, hidden);
  Value y = ExpertsOp::create(b, type.clone({tokens, out}), rows, route.getWeights(), route.getIndices(), up, down,
                              Value(), upBias, downBias, Value(), b.getStringAttr("relu"), StringAttr(),
                              b.getBoolAttr(false), b.getF64FloatAttr(1.0), FloatAttr(), b.getF64FloatAttr(0.0));
  Value loss = BalanceLossOp::create(b, type.clone(ArrayRef<int64_t>()), route.getWeights(), route.getIndices(),
                                     "mean_weight", experts);
  leading.push_back(out);
  return SmallVector<Value>{tw::reshape(b, y, leading), loss};
}

void registerBlocks(BlockRegistry &registry) {
  registry.add(
      {"mixture_of_experts",
       "x [B, T, input_dim], and for training noise [B, T, num_experts] of standard deviation 1: the chosen experts' "
       "weighted sum [B, T, output_dim], and the balance loss of the mean weights",
       {BlockOption::integer("input_dim", std::nullopt).mustBeGiven(),
        BlockOption::integer("hidden_dim", std::nullopt).mustBeGiven(),
        BlockOption::integer("output_dim", std::nullopt).mustBeGiven(), BlockOption::integer("num_experts", 4),
        BlockOption::integer("top_k", 2), BlockOption::number("noise_std", 1.0, 0.0)},
       build,
       {.optional = {"noise"}}});
}

} // namespace tilewright::mixture_of_experts
