// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `differential_attention` dialect (DifferentialAttention.td) and its passes.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/Tiling.h"
#include "ir/tw/Tw.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Pass/Pass.h"

#include "DifferentialAttentionDialect.h.inc"

#define GET_OP_CLASSES
#include "DifferentialAttention.h.inc"

namespace tilewright {
class GoldenCase; // frontend/api/GoldenCase.h
} // namespace tilewright

namespace tilewright::differential_attention {

/// differential-attention-recognise (stage recognise): raises the difference of two tw.attention, with the norm behind
/// it, to differential_attention.combine.
std::unique_ptr<mlir::Pass> createRecognise();

/// Golden cases of technique differential_attention: q1, k1, q2, k2 [B, H, T, D], v [B, H, S, Dv], lambda [H], weight
/// [Dv].
void buildGolden(GoldenCase &golden);

} // namespace tilewright::differential_attention
