// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads that stand more than once in a value.
#pragma once

#include "mlir/IR/Value.h"

#include <string>

namespace tilewright::grouped_query_attention {

/// The dimension of heads: of [B, H, S, D] and of rows [N, H, D].
inline constexpr int64_t headDim = 1;

/// What stands behind a value with repeated heads.
struct Repeat {
  mlir::Value source; ///< with Hkv heads, otherwise of the value's shape; null when nothing is repeated
  int64_t times = 1;  ///< how often each head stands
  std::string fault;  ///< why a repeat that was met is not one by groups
};

/// Follows `value` back through concatenations and slices of heads, gathers of heads by constant indices, stacks, and
/// dimensions that are broadcast and joined with the heads.
Repeat matchRepeat(mlir::Value value);

} // namespace tilewright::grouped_query_attention
