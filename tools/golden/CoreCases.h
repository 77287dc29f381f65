// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builders of the golden cases of core: of what is no plugin's technique. One file each.
#pragma once

#include "frontend/api/GoldenCase.h"

namespace tilewright {

/// Adds all that follow.
void addCoreCases(GoldenRegistry &registry);

/// A layer of an encoder, and one of a decoder that reads an encoder's output.
void buildEncoderLayer(GoldenCase &c);
void buildDecoderLayer(GoldenCase &c);

/// tw.attention over the stored queries, keys and values.
void buildAttention(GoldenCase &c);

/// What a sampler chooses from, [B, V], computed by the sampler that generates text.
void computeSampling(GoldenHostCase &c);

} // namespace tilewright
