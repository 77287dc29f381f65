// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blocks `flash_attention` and `flash_attention_packed`. Tiles are chosen by the backend for each shape class:
// whatever their size, the result is that of attention, so block_size is what the article's callers may give, and
// nothing depends on it.
#include "frontend/api/AttentionBlock.h"
#include "ir/tw/Build.h"
#include "plugins/flash_attention/FlashAttention.h"

#include <cmath>

namespace tilewright::flash_attention {

using namespace mlir;

/// Attention alone, without projections, of queries, keys and values in one tensor.
static BlockResults buildPacked(BlockBuilder &b, const BlockOptions &options, ValueRange inputs) {
  Value packed = inputs[0];
  RankedTensorType type = tw::tensorType(packed);
  if (failed(expectNoDropout(b, options, "dropout_p")))
    return failure();
  if (type.getRank() != 5 || type.getDimSize(2) != 3 || type.isDynamicDim(3) || type.isDynamicDim(4))
    return b.error() << "qkv is " << type << ", wanted [B, T, 3, H, D] with a static H and D";
  ArrayRef<int64_t> shape = type.getShape();
  const double scale =
      options.has("softmax_scale") ? options.number("softmax_scale") : 1 / std::sqrt(static_cast<double>(shape[4]));
  auto op = tw::AttentionOp::create(b.b, type.clone({shape[0], shape[1], shape[3], shape[4]}), packed, Value(), Value(),
                                    scale);
  op.setLayout("bt3hd");
  op.setCausal(options.flag("causal") ? "end" : "none");
  return SmallVector<Value>{op.getResult()};
}

void registerBlocks(BlockRegistry &registry) {
  std::vector<BlockOption> options = attentionBlockOptions();
  options.push_back(BlockOption::integer("block_size", 1024));
  registry.add({"flash_attention",
                "x [B, T, dim], and perhaps a mask: attention by tiles, whose size the compiler chooses", options,
                [](BlockBuilder &b, const BlockOptions &options, ValueRange inputs) {
                  return buildAttentionBlock(b, options, /*kvHeads=*/0, inputs);
                },
                attentionBlockInputs()});
  registry.add({"flash_attention_packed",
                "qkv [B, T, 3, H, D], queries, keys and values of each head: attention by tiles [B, T, H, D], without "
                "projections; softmax_scale is 1/sqrt(D) by default",
                {BlockOption::number("dropout_p", 0.0, 0.0), BlockOption::flag("causal", false),
                 BlockOption::number("softmax_scale", std::nullopt)},
                buildPacked,
                {.required = {"qkv"}}});
}

} // namespace tilewright::flash_attention
