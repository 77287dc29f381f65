// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/reference/Tensor.h"
#include "ir/check/Check.h"

namespace tilewright::reference {

/// Fails with a diagnostic on the op when what it expects is not so.
mlir::LogicalResult evaluateExpectation(check::ExpectEqOp op, const Tensor &found, const Tensor &wanted);
mlir::LogicalResult evaluateExpectation(check::ExpectCloseOp op, const Tensor &found, const Tensor &wanted);

} // namespace tilewright::reference
