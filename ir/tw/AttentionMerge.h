// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention over some of the keys at a time, put together again as core ops.
#pragma once

#include "ir/tw/Tw.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::tw {

/// What rows get from some of their keys.
struct PartialAttention {
  mlir::Value out; ///< [B, H, T, Dv], or [B, T, H, Dv]
  mlir::Value lse; ///< [B, H, T]: logarithm of the sum of exponentials of the scores; -inf without a key
};

/// The attention over the keys of all parts, which are disjoint: outputs weighted with exp(lse). `sinks` [H] or null
/// join the denominator of the output only. One part without sinks is given back as it is.
PartialAttention mergeAttention(mlir::ImplicitLocOpBuilder &builder, llvm::ArrayRef<PartialAttention> parts,
                                mlir::Value sinks, bool headsFirst);

/// Keys from `first` to before `end` only: kv_start and kv_end [B] of an attention whose own are `start` and `stop`, or
/// null for none.
std::pair<mlir::Value, mlir::Value> keyRange(mlir::ImplicitLocOpBuilder &builder, int64_t batches, int64_t first,
                                             int64_t end, mlir::Value start, mlir::Value stop);

} // namespace tilewright::tw
