// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Golden cases of attention, which several techniques store alike.
#pragma once

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Tw.h"

namespace tilewright {

/// The case as one tw.attention; null when it is unsupported.
tw::AttentionOp makeAttentionCase(GoldenCase &c);

/// Gives the case's outputs `o`, `lse`, `weights` and `lse_with_sink` from the results of that op, or of one that has
/// taken its place.
void giveAttentionCase(GoldenCase &c, mlir::ValueRange results, mlir::Value sinks);

} // namespace tilewright
