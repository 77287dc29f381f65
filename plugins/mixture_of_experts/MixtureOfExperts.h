// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `mixture_of_experts` dialect (MixtureOfExperts.td), its golden cases and its block.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"

#include "plugins/mixture_of_experts/MixtureOfExpertsDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/mixture_of_experts/MixtureOfExperts.h.inc"

namespace tilewright {
class BlockRegistry; // frontend/api/Block.h
class GoldenCase;    // frontend/api/GoldenCase.h
} // namespace tilewright

namespace tilewright::mixture_of_experts {

/// Graph of a golden case of this technique.
void buildGolden(GoldenCase &golden);

/// The block of this technique's name.
void registerBlocks(BlockRegistry &registry);

} // namespace tilewright::mixture_of_experts
