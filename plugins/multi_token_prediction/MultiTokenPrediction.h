// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `multi_token_prediction` dialect (MultiTokenPrediction.td).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"

#include "plugins/multi_token_prediction/MultiTokenPredictionDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/multi_token_prediction/MultiTokenPrediction.h.inc"

namespace tilewright {
class BlockRegistry;
class GoldenCase;
} // namespace tilewright

namespace tilewright::multi_token_prediction {

/// Graphs of golden cases: every form, with its losses.
void buildGolden(GoldenCase &golden);

/// The block multi_token_prediction.
void registerBlocks(BlockRegistry &registry);

} // namespace tilewright::multi_token_prediction
