// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/Channels.h"

#include <algorithm>
#include <cmath>

namespace tilewright::quantization {

float quantizeChannel(std::span<const float> weights, std::span<int8_t> quants) {
  float largest = 0;
  for (float weight : weights)
    largest = std::isnan(weight) ? weight : std::max(largest, std::fabs(weight)); // stays NaN
  const float scale = largest / 127;
  for (size_t i = 0; i < weights.size(); ++i) {
    // In double: the quotient of two floats is then rounded once, to a whole number.
    const double quotient = scale > 0 && std::isfinite(scale) ? static_cast<double>(weights[i]) / scale : 0;
    quants[i] = static_cast<int8_t>(std::clamp(std::nearbyint(quotient), -127.0, 127.0));
  }
  return scale;
}

} // namespace tilewright::quantization
