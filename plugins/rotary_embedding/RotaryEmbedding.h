// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `rotary_embedding` dialect (RotaryEmbedding.td).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/Tiling.h"
#include "ir/tw/Tw.h"
#include "plugins/rotary_embedding/Angles.h"

#include "mlir/Pass/Pass.h"

#include "plugins/rotary_embedding/RotaryEmbeddingDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/rotary_embedding/RotaryEmbedding.h.inc"

namespace tilewright {
class BlockRegistry; // frontend/api/Block.h
class GoldenCase;    // frontend/api/GoldenCase.h
} // namespace tilewright

namespace tilewright::rotary_embedding {

/// `rotary-embedding-fold-tables`: apply of tables becomes rotate.
std::unique_ptr<mlir::Pass> createFoldTables();

/// The block `rotary_embedding`.
void registerBlocks(BlockRegistry &registry);

/// Graph of a golden case of this technique.
void buildGolden(GoldenCase &golden);

} // namespace tilewright::rotary_embedding
