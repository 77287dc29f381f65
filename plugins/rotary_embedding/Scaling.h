// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that belong to a kind of rotary scaling and that no run-time position changes.
#pragma once

namespace tilewright::rotary_embedding {

/// YaRN's factor of cosines and sines (Peng et al., 2023): `0.1 ln(factor) + 1`, or the quotient of
/// `0.1 mscale ln(factor) + 1` and the same with mscaleAllDim where both are given (not 0); 1 for factors up to 1.
double yarnAttentionFactor(double factor, double mscale = 0.0, double mscaleAllDim = 0.0);

/// What multiplies the scale of the scores besides, in models that have mscale_all_dim:
/// `(0.1 mscaleAllDim ln(factor) + 1)^2`; 1 where it is 0.
double yarnScoreFactor(double factor, double mscaleAllDim);

/// LongRoPE's factor of cosines and sines (Ding et al., 2024): `sqrt(1 + ln(factor) / ln(originalPositions))`; 1 for
/// factors up to 1. originalPositions is above 1.
double longropeAttentionFactor(double factor, double originalPositions);

} // namespace tilewright::rotary_embedding
