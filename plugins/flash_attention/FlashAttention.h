// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `flash_attention` dialect (FlashAttention.td) and its pass.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "plugins/flash_attention/FlashAttentionDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/flash_attention/FlashAttention.h.inc"

namespace tilewright {
class BlockRegistry; // frontend/api/Block.h
}

namespace tilewright::flash_attention {

/// Why there is no flash kernel for this attention: the first condition that fails. Empty when there is one.
std::string missingKernel(tw::AttentionOp op);

/// flash-attention-fuse (stage fuse): turns tw.attention into flash_attention.attention where there is a kernel for it.
std::unique_ptr<mlir::Pass> createFuse();

/// The block `flash_attention`.
void registerBlocks(BlockRegistry &registry);

} // namespace tilewright::flash_attention
