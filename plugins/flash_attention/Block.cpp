// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block `flash_attention`. Tiles are chosen by the backend for each shape class: whatever their size, the result is
// that of attention, so block_size is what the article's callers may give, and nothing depends on it.
#include "frontend/api/AttentionBlock.h"
#include "plugins/flash_attention/FlashAttention.h"

namespace tilewright::flash_attention {

void registerBlocks(BlockRegistry &registry) {
  std::vector<BlockOption> options = attentionBlockOptions();
  options.push_back(BlockOption::integer("block_size", 1024));
  registry.add({"flash_attention",
                "x [B, T, dim], and perhaps a mask: attention by tiles, whose size the compiler chooses", options,
                [](BlockBuilder &b, const BlockOptions &options, mlir::ValueRange inputs) {
                  return buildAttentionBlock(b, options, /*kvHeads=*/0, inputs);
                }});
}

} // namespace tilewright::flash_attention
