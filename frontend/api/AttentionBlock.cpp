// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/AttentionBlock.h"

#include "ir/tw/Layers.h"
#include "ir/tw/Tw.h"

#include <cmath>

using namespace mlir;

namespace tilewright {

std::vector<BlockOption> attentionBlockOptions() {
  return {BlockOption::integer("dim", std::nullopt).mustBeGiven(),
          BlockOption::integer("num_heads", std::nullopt).mustBeGiven(), BlockOption::integer("head_dim", 64),
          BlockOption::number("dropout", 0.0, 0.0)};
}

BlockInputs attentionBlockInputs() { return {.optional = {"mask"}}; }

LogicalResult expectNoDropout(BlockBuilder &b, const BlockOptions &options, StringRef name) {
  const double dropout = options.number(name);
  if (dropout == 0)
    return success();
  return b.error() << name << " is " << textOf(dropout) << ", wanted 0: there is none at inference";
}

/// Whether `mask` is one for scores [B, heads, T, T]; the sizes 1 are for all, as tw.attention has them.
static bool fitsScores(Value mask, RankedTensorType x, int64_t heads) {
  RankedTensorType type = tw::tensorType(mask);
  if (!type.getElementType().isSignlessIntOrFloat() || type.getRank() < 2 || type.getRank() > 4)
    return false;
  const int64_t length = x.getDimSize(1);
  SmallVector<int64_t> most = {x.getDimSize(0), heads, length, length};
  if (type.getRank() == 3)
    most.erase(most.begin() + 1);
  ArrayRef<int64_t> wanted = ArrayRef(most).take_back(type.getRank());
  return type.getDimSize(type.getRank() - 1) == length &&
         llvm::all_of(llvm::zip_equal(type.getShape(), wanted),
                      [](auto sizes) { return std::get<0>(sizes) == std::get<1>(sizes) || std::get<0>(sizes) == 1; });
}

BlockResults buildAttentionBlock(BlockBuilder &b, const BlockOptions &options, int64_t kvHeads, ValueRange inputs,
                                 AttentionForm form) {
  const int64_t dim = options.integer("dim"), heads = options.integer("num_heads"), width = options.integer("head_dim");
  if (kvHeads == 0)
    kvHeads = heads;
  if (kvHeads < 0 || heads % kvHeads != 0)
    return b.error() << "num_heads is " << heads << ", wanted a multiple of num_kv_heads, " << kvHeads;
  Value x = inputs[0];
  if (failed(expectNoDropout(b, options)) || failed(b.expectInput(x, "x", 3, dim)))
    return failure();
  RankedTensorType type = tw::tensorType(x);
  if (type.getNumDynamicDims() > 1)
    return b.error() << "x is " << type << ", wanted a static batch or a static length";
  tw::AttentionOptions attention{.scale = 1 / std::sqrt(static_cast<double>(width))};
  if (inputs.size() > 1) {
    if (!fitsScores(inputs[1], type, heads))
      return b.error() << "the mask is " << inputs[1].getType()
                       << ", wanted integers or floats of shape [T or 1, T], [B or 1, T or 1, T] or [B or 1, " << heads
                       << " or 1, T or 1, T] for x, " << type;
    attention.mask = inputs[1];
  }
  auto project = [&](StringRef name, int64_t count) {
    return tw::splitHeads(b.b, b.linear(name, x, count * width), count);
  };
  Value query = project("q_proj", heads), key = project("k_proj", kvHeads), value = project("v_proj", kvHeads);
  Value attended = tw::attention(b.b, query, key, value, attention);
  if (form)
    attended = form(b.b, attended.getDefiningOp<tw::AttentionOp>());
  Value joined = tw::joinHeads(b.b, attended); // [B, T, num_heads * head_dim]
  return SmallVector<Value>{b.linear("o_proj", joined, dim)};
}

} // namespace tilewright
