// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/Block.h"

#include "ir/tw/Layers.h"
#include "plugins/multi_token_prediction/MultiTokenPrediction.h"

#include <limits>

namespace tilewright::multi_token_prediction {

using namespace mlir;

namespace {

/// x [B, T, E] at the last position, [B, 1, E].
Value lastPosition(ImplicitLocOpBuilder &b, Value x) {
  RankedTensorType type = tw::tensorType(x);
  if (!type.isDynamicDim(1))
    return tw::slice(b, x, 1, type.getDimSize(1) - 1, 1);
  Value column = tw::reduce(b, "sum", x, {2}); // [B, T], for its shape
  Value places = tw::IotaOp::create(b, tw::tensorType(column).clone(b.getI32Type()), column, 1);
  Value last = tw::reduce(b, "max", tw::castTo(b, places, b.getF32Type()), {1}); // [B]
  Value ids = tw::reshape(b, tw::castTo(b, last, b.getI32Type()), {type.getDimSize(0), 1});
  return tw::GatherOp::create(b, type.clone({type.getDimSize(0), 1, type.getDimSize(2)}), x, ids, 1);
}

/// Logits [n, B, T, V] of x [B, T, E].
Value predict(BlockBuilder &b, Value x, Value weight, Value bias, Value vectors, Value matrices) {
  if (!vectors)
    return HeadsOp::create(b.b, x, weight, bias);
  return tw::linear(b.b, OffsetsOp::create(b.b, x, vectors, matrices), weight, bias);
}

BlockResults build(BlockBuilder &b, const BlockOptions &options, ValueRange inputs) {
  const int64_t width = options.integer("hidden_dim"), vocabulary = options.integer("vocab_size"),
                n = options.integer("num_predicted_tokens");
  Value x = inputs[0];
  if (failed(b.expectInput(x, "x", 3, width)))
    return failure();
  RankedTensorType type = tw::tensorType(x);
  if (type.getDimSize(1) == 0 || type.getNumDynamicDims() > 1)
    return b.error() << "x is " << type
                     << ", wanted [B, T, E] with a T of at least 1 and one dynamic dimension at most";
  Initial initial = Initial::ofLinear(width);
  Value weight, bias, vectors, matrices;
  if (options.flag("shared_prediction_head")) {
    weight = b.parameter("head.weight", {vocabulary, width}, initial);
    bias = b.parameter("head.bias", {vocabulary}, initial);
    matrices = b.parameter("offsets.weight", {n - 1, width, width}, initial);
    vectors = b.parameter("offsets.bias", {n - 1, width}, initial);
  } else {
    weight = b.parameter("heads.weight", {n, vocabulary, width}, initial);
    bias = b.parameter("heads.bias", {n, vocabulary}, initial);
  }
  Value last = predict(b, lastPosition(b.b, x), weight, bias, vectors, matrices); // [n, B, 1, V]
  Value perSequence = tw::reshape(b.b, last, {n, type.getDimSize(0), vocabulary});
  Value all = tw::transpose(b.b, perSequence, {1, 0, 2}); // [B, n, V]
  SmallVector<Value> results = {tw::slice(b.b, all, 1, 0, 1), all};
  if (inputs.size() > 1) {
    Value labels = inputs[1];
    RankedTensorType labelsType = tw::tensorType(labels);
    if (!labelsType.getElementType().isInteger(32) || labelsType.getShape() != type.getShape().drop_back())
      return b.error() << "labels are " << labels.getType() << ", wanted i32 of x's shape without the last dimension, "
                       << type;
    Value logits = predict(b, x, weight, bias, vectors, matrices);
    results.push_back(LossOp::create(b.b, logits, labels, options.integer("ignore_index"), false).getLoss());
  }
  return results;
}

} // namespace

void registerBlocks(BlockRegistry &registry) {
  registry.add(
      {"multi_token_prediction",
       "x [B, T, hidden_dim] -> logits of the next token [B, 1, V] and of the next n tokens [B, n, V] behind the "
       "last position; with labels [B, T] as a second input also the mean of the heads' losses",
       {BlockOption::integer("hidden_dim", std::nullopt).mustBeGiven(),
        BlockOption::integer("vocab_size", std::nullopt).mustBeGiven(), BlockOption::integer("num_predicted_tokens", 2),
        BlockOption::flag("shared_prediction_head", false),
        BlockOption::integer("ignore_index", -100, std::numeric_limits<int32_t>::min())},
       build,
       {.optional = {"labels"}}});
}

} // namespace tilewright::multi_token_prediction
