// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builders of the golden cases of core: of what is no plugin's technique. One file each.
#pragma once

#include "frontend/api/GoldenCase.h"

namespace tilewright {

/// Adds all that follow.
void addCoreCases(GoldenRegistry &registry);

/// What a sampler chooses from, [B, V], computed by the sampler that generates text.
void computeSampling(GoldenHostCase &c);

} // namespace tilewright
