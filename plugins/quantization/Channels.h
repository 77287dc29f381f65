// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights to signed bytes with one scale for each output channel. No MLIR here.
#pragma once

#include <cstdint>
#include <span>

namespace tilewright::quantization {

/// Quantises one channel, symmetric: returns the scale, max|w| / 127 in f32, and writes w / scale to nearest, halves to
/// even, to `quants` (of the same length). A channel of zeros has scale 0 and quants 0; one with a number that is not
/// finite has a scale that is not finite, and quants 0.
float quantizeChannel(std::span<const float> weights, std::span<int8_t> quants);

} // namespace tilewright::quantization
