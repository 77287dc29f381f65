// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attention module that blocks of several techniques have in common: projections, heads, attention, projection.
#pragma once

#include "frontend/api/Block.h"
#include "ir/tw/Tw.h"

namespace tilewright {

/// dim and num_heads (to be given), head_dim (64, whatever dim / num_heads is), dropout (0; any other is an error,
/// there is none at inference).
std::vector<BlockOption> attentionBlockOptions();

/// x, and perhaps the mask.
BlockInputs attentionBlockInputs();

/// An error unless option `name` is 0.
llvm::LogicalResult expectNoDropout(BlockBuilder &b, const BlockOptions &options, llvm::StringRef name = "dropout");

/// The module on inputs {x [B, T, dim]} or {x, mask}, with `kvHeads` key/value heads (0: num_heads), never causal:
/// linear maps q_proj, k_proj, v_proj and o_proj with biases, scale 1/sqrt(head_dim), result [B, T, dim]. One of B and
/// T is static. The mask (integers or floats, 0 = hidden) is [T or 1, T], [B or 1, T or 1, T] or [B or 1, num_heads or
/// 1, T or 1, T]. Fails with a diagnostic: heads that are no multiple of kvHeads, other shapes. `form`, if given, puts
/// an op of its own in the place of the attention, which it erases.
using AttentionForm = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, tw::AttentionOp)>;
BlockResults buildAttentionBlock(BlockBuilder &b, const BlockOptions &options, int64_t kvHeads, mlir::ValueRange inputs,
                                 AttentionForm form = nullptr);

} // namespace tilewright
