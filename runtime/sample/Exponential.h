// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An exponential function whose every bit is the same on every machine; that of the C library may differ with its
// version and with the processor, and a seeded text would differ with it.
#pragma once

namespace tilewright {

/// e^x for x <= 0, including -infinity, within 2 units in the last place; 0 below -708 and for NaN. Uses additions and
/// multiplications only, each rounded on its own.
double portableExp(double x);

} // namespace tilewright
