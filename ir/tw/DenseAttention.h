// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ir/interfaces/KernelBuilder.h"
#include "ir/tw/Tw.h"

namespace tilewright::tw {

/// The kernel of the dense form of `tw.attention`, of static shapes. Fails with a diagnostic for others.
mlir::LogicalResult buildDenseAttention(AttentionOp op, KernelBuilder &kernel);

} // namespace tilewright::tw
