// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ir/interfaces/Interfaces.h"

namespace tilewright {

/// Replaces `op` by its reference lowering, one step: what it makes may have lowerings of its own. Fails with a
/// diagnostic on the op when it has no decomposition or the results' types differ; then only dead ops are left behind.
///
/// The op that makes a result carries the old op's name as `tw.origin` and its location, and the result's number as
/// `tw.origin_result` where there are several; locations of the ops before it lose their metadata (names, and the
/// tag of ir/interfaces/ValueTags.h), so that a location names one value still.
mlir::LogicalResult decompose(ReferenceLowering op);

/// Rounds of decompositions that make ops to decompose, before a caller says that they do not end.
inline constexpr unsigned maxDecompositions = 16;

/// Replaces the ops below `root` that are `wanted` by their reference lowerings, and what these make, until none is
/// left. Fails with a diagnostic on the first op that still stands after maxDecompositions rounds.
mlir::LogicalResult decomposeAll(mlir::Operation *root, llvm::function_ref<bool(ReferenceLowering)> wanted);

} // namespace tilewright
