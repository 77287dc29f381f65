// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `multi_head_attention` dialect (MultiHeadAttention.td) and its passes.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "plugins/multi_head_attention/MultiHeadAttentionDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/multi_head_attention/MultiHeadAttention.h.inc"

namespace tilewright {
class GoldenCase; // frontend/api/GoldenCase.h
}

namespace tilewright::multi_head_attention {

/// multi-head-attention-expand (stage simplify): modules become projections and tw.attention.
std::unique_ptr<mlir::Pass> createExpand();

/// multi-head-attention-recognise (stage recognise): raises softmax(scale Q K^T + bias, masked) V written in `tw` ops
/// to tw.attention.
///
/// Recognised are: scales (also `/ sqrt(d)`) on scores, queries or keys, any number of them; a soft-cap; biases before
/// or behind the scale; masks by select, either way round, or added; causality and windows, from comparisons of indices
/// or from constants, as attributes, any other mask as an operand; sinks joined as one more column; the row's maximum
/// taken off; queries, keys and values as [T, D], [N, T, D], [B, H, T, D] or [B, Hkv, G, T, D], with scores reshaped on
/// the way; keys transposed before the product or scores behind it; casts between float types. The softmax itself is
/// tw.softmax (simplify-raise-softmax makes it).
///
/// A candidate is a softmax between two products; the receipt of one that is left names the first condition that
/// failed.
std::unique_ptr<mlir::Pass> createRecognise();

/// multi-head-attention-stack (stage recognise): heads that are computed one by one and joined become one tw.attention,
/// on as many key/value heads as there are different ones.
std::unique_ptr<mlir::Pass> createStack();

/// Graphs of golden cases.
void buildGoldenMultiHead(GoldenCase &golden);
void buildGoldenTrainable(GoldenCase &golden);
void buildGoldenCross(GoldenCase &golden);

} // namespace tilewright::multi_head_attention
