// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `ring_attention` dialect (RingAttention.td).
#pragma once

#include "frontend/api/Block.h"
#include "frontend/api/GoldenCase.h"
#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "plugins/ring_attention/RingAttentionDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/ring_attention/RingAttention.h.inc"

namespace tilewright::ring_attention {

/// ring-attention-distribute (stage distribute): cuts ring attention into the attentions of its shards.
std::unique_ptr<mlir::Pass> createDistribute();

/// Cases of attention; the number of shards is that of the case's name ("..._P3").
void buildGolden(GoldenCase &c);

/// ring_attention.
void registerBlocks(BlockRegistry &registry);

} // namespace tilewright::ring_attention
