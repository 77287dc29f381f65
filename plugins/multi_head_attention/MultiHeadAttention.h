// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `multi_head_attention` dialect (MultiHeadAttention.td) and its pass.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "plugins/multi_head_attention/MultiHeadAttentionDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/multi_head_attention/MultiHeadAttention.h.inc"

namespace tilewright::multi_head_attention {

/// multi-head-attention-recognise (stage recognise): raises softmax(scale Q K^T + bias, masked) V written in `tw` ops to
/// tw.attention.
std::unique_ptr<mlir::Pass> createRecognise();

} // namespace tilewright::multi_head_attention
