// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every comparison with the reference means by near, and how it says where values differ.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>

namespace tilewright::reference {

/// |found - wanted|: 0 for equal numbers, infinities of one sign and two NaN; infinite where just one of both is
/// finite, or a number.
double distance(double found, double wanted);

/// The largest |value| of the finite ones, which relative bounds refer to; 0 when there is none.
double largestMagnitude(llvm::ArrayRef<double> values);

/// "[1, 2]" of a row-major position.
std::string placeText(int64_t position, llvm::ArrayRef<int64_t> shape);

/// With digits enough to tell two f32 apart.
std::string numberText(double number);

} // namespace tilewright::reference
