// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `flash_attention` dialect (FlashAttention.td), its passes, golden cases and block.
#pragma once

#include "frontend/api/GoldenCase.h"
#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/StateReader.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "plugins/flash_attention/FlashAttentionDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/flash_attention/FlashAttention.h.inc"

namespace tilewright {
class BlockRegistry; // frontend/api/Block.h
}

namespace tilewright::flash_attention {

/// Attention with its keys in `parts`, joined again by core ops: the same results. The op, of a dense form without
/// cu_seqlens and of static shapes, is replaced.
mlir::SmallVector<mlir::Value> splitKeys(AttentionOp op, int64_t parts);

/// Golden cases of attention; those of one query row with the keys in four parts.
void buildGolden(GoldenCase &c);

/// flash-attention-split-keys (stage fuse): cuts keys in parts where few rows meet many keys.
std::unique_ptr<mlir::Pass> createSplitKeys();

/// flash-attention-fuse (stage fuse): turns tw.attention into flash_attention.attention where there is a kernel for it.
std::unique_ptr<mlir::Pass> createFuse();

/// The block `flash_attention`.
void registerBlocks(BlockRegistry &registry);

} // namespace tilewright::flash_attention
