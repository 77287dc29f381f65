// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `broken` dialect (Broken.td).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/Tiling.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "tests/conformance/broken/BrokenDialect.h.inc"

#define GET_OP_CLASSES
#include "tests/conformance/broken/Broken.h.inc"

namespace tilewright::broken {
/// `broken-simplify`: two negations are none. In other files, since `verify --bisect` is tried with it too.
std::unique_ptr<mlir::Pass> createSimplify();
} // namespace tilewright::broken
