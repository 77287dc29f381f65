// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `rms_norm` dialect (RmsNorm.td).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/Tiling.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "plugins/rms_norm/RmsNormDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/rms_norm/RmsNorm.h.inc"

namespace tilewright {
class GoldenCase;    // frontend/api/GoldenCase.h
class BlockRegistry; // frontend/api/Block.h
} // namespace tilewright

namespace tilewright::rms_norm {

/// rms-norm-recognise (stage recognise): raises norms written in `tw` ops to rms_norm.norm and rms_norm.layer_norm.
std::unique_ptr<mlir::Pass> createRecognise();

/// Graphs of golden cases of these techniques.
void buildGoldenRms(GoldenCase &golden);
void buildGoldenLayer(GoldenCase &golden);

/// The block `rms_norm`.
void registerBlocks(BlockRegistry &registry);

} // namespace tilewright::rms_norm
