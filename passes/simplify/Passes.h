// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `simplify` stage: forms that exporters write in many ways become one, before anything is recognised.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tilewright {

/// exp(x) over its sum along one dimension becomes tw.softmax, with or without the maximum subtracted first, as a
/// quotient or as a product with the reciprocal.
std::unique_ptr<mlir::Pass> createSimplifyRaiseSoftmaxPass();

} // namespace tilewright
