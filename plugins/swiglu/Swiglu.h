// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `swiglu` dialect (Swiglu.td) and its passes.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/Tiling.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "plugins/swiglu/SwigluDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/swiglu/Swiglu.h.inc"

namespace tilewright {
class GoldenCase;    // frontend/api/GoldenCase.h
class BlockRegistry; // frontend/api/Block.h
} // namespace tilewright

namespace tilewright::swiglu {

/// swiglu-recognise-glu (stage recognise): raises `act(x) * u` written in `tw` ops to swiglu.glu.
std::unique_ptr<mlir::Pass> createRecogniseGlu();

/// Graphs of golden cases: of gated units, and of feed-forward blocks without a gate.
void buildGoldenGlu(GoldenCase &golden);
void buildGoldenFeedForward(GoldenCase &golden);

/// The block `swiglu`.
void registerBlocks(BlockRegistry &registry);

} // namespace tilewright::swiglu
