// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block `ring_attention`: the attention module, its attention over shards of the sequence.
#include "frontend/api/AttentionBlock.h"
#include "ir/tw/AttentionForm.h"
#include "plugins/ring_attention/RingAttention.h"

namespace tilewright::ring_attention {

using namespace mlir;

void registerBlocks(BlockRegistry &registry) {
  std::vector<BlockOption> options = attentionBlockOptions();
  options.push_back(BlockOption::integer("num_shards", 4));
  registry.add(
      {"ring_attention", "x [B, T, dim], and perhaps a mask: attention of num_shards shards of the sequence", options,
       [](BlockBuilder &b, const BlockOptions &options, ValueRange inputs) -> BlockResults {
         const int64_t shards = options.integer("num_shards");
         if (Type x = inputs[0].getType(); shards > 1 && !cast<RankedTensorType>(x).hasStaticShape())
           return b.error() << "x is " << x << ", wanted a static shape for " << shards << " shards";
         return buildAttentionBlock(
             b, options, /*kvHeads=*/0, inputs, [&](ImplicitLocOpBuilder &builder, tw::AttentionOp core) {
               auto ring =
                   tw::attentionAs<AttentionOp>(builder, core, core->getResultTypes(),
                                                builder.getNamedAttr("num_shards", builder.getI64IntegerAttr(shards)));
               core.erase();
               return ring->getResult(0);
             });
       },
       attentionBlockInputs()});
}

} // namespace tilewright::ring_attention
