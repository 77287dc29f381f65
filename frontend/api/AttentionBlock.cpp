// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/AttentionBlock.h"

#include "ir/tw/Layers.h"

#include <cmath>

using namespace mlir;

namespace tilewright {

std::vector<BlockOption> attentionBlockOptions() {
  return {BlockOption::integer("dim", std::nullopt).mustBeGiven(),
          BlockOption::integer("num_heads", std::nullopt).mustBeGiven(), BlockOption::integer("head_dim", 64),
          BlockOption::number("dropout", 0.0, 0.0)};
}

/// `mask` as tw.attention takes it, for scores [B, heads, T, T].
static FailureOr<Value> scoresMask(BlockBuilder &b, Value mask, RankedTensorType x, int64_t heads) {
  auto type = dyn_cast<RankedTensorType>(mask.getType());
  SmallVector<int64_t> shape; // [B or 1, heads or 1, T or 1, T]
  if (type && type.getRank() >= 2 && type.getRank() <= 4) {
    shape.assign(type.getShape().begin(), type.getShape().end());
    shape.insert(shape.begin() + (shape.size() == 3 ? 1 : 0), 4 - shape.size(), 1);
  }
  const int64_t batch = x.getDimSize(0), length = x.getDimSize(1);
  const bool fits = type && type.getElementType().isInteger(1) && shape.size() == 4 &&
                    (shape[0] == batch || shape[0] == 1) && (shape[1] == heads || shape[1] == 1) &&
                    (shape[2] == length || shape[2] == 1) && shape[3] == length;
  if (!fits)
    return b.error() << "the mask is " << mask.getType() << ", wanted i1 of shape [T, T], [B, 1 or T, T] or [B or 1, "
                     << heads << " or 1, T or 1, T] for x, " << x;
  if (shape[2] == length)
    return type.getRank() == 3 ? tw::reshape(b.b, mask, shape) : mask;
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return b.error() << "the mask is " << mask.getType() << ", wanted a static shape, or one row for each query";
  Value rows = tw::reshape(b.b, mask, {shape[0], shape[1], shape[3]});
  shape[2] = length;
  auto full = RankedTensorType::get(shape, type.getElementType());
  Value like = tw::ConstantOp::create(b.b, full, DenseElementsAttr::get(full, true));
  return tw::broadcast(b.b, rows, like, {0, 1, 3});
}

BlockResults buildAttentionBlock(BlockBuilder &b, const BlockOptions &options, int64_t kvHeads, ValueRange inputs) {
  const int64_t dim = options.integer("dim"), heads = options.integer("num_heads"), width = options.integer("head_dim");
  if (kvHeads == 0)
    kvHeads = heads;
  if (kvHeads < 0 || heads % kvHeads != 0)
    return b.error() << "num_heads is " << heads << ", wanted a multiple of num_kv_heads, " << kvHeads;
  if (double dropout = options.number("dropout"); dropout != 0)
    return b.error() << "dropout is " << dropout << ", wanted 0: there is none at inference";
  Value x = inputs[0];
  if (failed(b.expectInput(x, "x", 3, dim)))
    return failure();
  RankedTensorType type = tw::tensorType(x);
  if (type.getNumDynamicDims() > 1)
    return b.error() << "x is " << type << ", wanted a static batch or a static length";
  tw::AttentionOptions attention{.scale = 1 / std::sqrt(static_cast<double>(width))};
  if (inputs.size() > 1) {
    FailureOr<Value> mask = scoresMask(b, inputs[1], type, heads);
    if (failed(mask))
      return failure();
    attention.mask = *mask;
  }
  auto project = [&](StringRef name, int64_t count) {
    return tw::splitHeads(b.b, b.linear(name, x, count * width), count);
  };
  Value query = project("q_proj", heads), key = project("k_proj", kvHeads), value = project("v_proj", kvHeads);
  Value joined = tw::joinHeads(b.b, tw::attention(b.b, query, key, value, attention)); // [B, T, num_heads * head_dim]
  return SmallVector<Value>{b.linear("o_proj", joined, dim)};
}

} // namespace tilewright
