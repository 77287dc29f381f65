// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `rotary_embedding` dialect (RotaryEmbedding.td).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/Tiling.h"
#include "ir/tw/Tw.h"

#include "plugins/rotary_embedding/RotaryEmbeddingDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/rotary_embedding/RotaryEmbedding.h.inc"

namespace tilewright {
class GoldenCase; // frontend/api/GoldenCase.h
}

namespace tilewright::rotary_embedding {

/// base^(-2i/rotaryDim) for i < rotaryDim / 2: the angle of pair i per position.
llvm::SmallVector<double> angleRates(double base, int64_t rotaryDim);

/// Graph of a golden case of this technique.
void buildGolden(GoldenCase &golden);

} // namespace tilewright::rotary_embedding
