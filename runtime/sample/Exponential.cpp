// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/sample/Exponential.h"

#include <bit>
#include <cstdint>

#pragma STDC FP_CONTRACT OFF

namespace tilewright {

double portableExp(double x) {
  // Behind e^-708 doubles become subnormal; no sampling can tell such a weight from 0.
  if (!(x >= -708))
    return 0;
  // x = k ln 2 + r with |r| <= ln 2 / 2; ln 2 in two parts, the first short enough that k times it is exact.
  constexpr double ln2High = 0x1.62e42fefap-1, ln2Low = 0x1.cf79abc9e3b3ap-40, log2e = 0x1.71547652b82fep+0;
  const auto k = static_cast<int64_t>(x * log2e - 0.5);
  const double r = (x - static_cast<double>(k) * ln2High) - static_cast<double>(k) * ln2Low;
  // Taylor's series: the first term left out is below 2^-58.
  constexpr double inverse[] = {1.0 / 2, 1.0 / 3, 1.0 / 4,  1.0 / 5,  1.0 / 6,  1.0 / 7,
                                1.0 / 8, 1.0 / 9, 1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13};
  double sum = 1;
  for (int i = 11; i >= 0; --i)
    sum = 1 + r * inverse[i] * sum;
  sum = 1 + r * sum;
  return sum * std::bit_cast<double>((k + 1023) << 52);
}

} // namespace tilewright
