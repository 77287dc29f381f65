// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block `grouped_query_attention`.
#include "frontend/api/AttentionBlock.h"
#include "plugins/grouped_query_attention/Share.h"

namespace tilewright::grouped_query_attention {

void registerBlocks(BlockRegistry &registry) {
  std::vector<BlockOption> options = attentionBlockOptions();
  options.push_back(BlockOption::integer("num_kv_heads", std::nullopt, /*least=*/0));
  registry.add(
      {"grouped_query_attention",
       "x [B, T, dim], and perhaps a mask: attention of num_heads on num_kv_heads key/value heads (none or 0: as many)",
       options,
       [](BlockBuilder &b, const BlockOptions &options, mlir::ValueRange inputs) {
         return buildAttentionBlock(b, options, options.integer("num_kv_heads", 0), inputs);
       },
       attentionBlockInputs()});
}

} // namespace tilewright::grouped_query_attention
