// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// Adds patterns that make arithmetic of math.sin and math.cos on f32: within 1.2e-7 of the value for arguments below
/// 2^17 in magnitude, at both signs and near the roots as well, where upstream's approximation is within 1e-7 of 1.
/// Their benefit is 2.
void populateSineExpansion(mlir::RewritePatternSet &patterns);

} // namespace tilewright
