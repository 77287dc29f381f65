// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// grouped-query attention (Ainslie et al., 2023): several query heads share one key/value head.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tilewright {
class GoldenCase;    // frontend/api/GoldenCase.h
class BlockRegistry; // frontend/api/Block.h
} // namespace tilewright

namespace tilewright::grouped_query_attention {

/// grouped-query-attention-share (stage share): where keys and values are repeated, head by head, before tw.attention,
/// the repeat is removed and attention reads the Hkv heads that there are. Where they are repeated before tw.append,
/// the state is declared with Hkv heads, in every function that passes it on, provided that all appends to it have such
/// repeats and nothing but tw.append and tw.attention reads it.
///
/// Recognised are a new dimension behind the heads that is broadcast, or stacked, and then joined with them
/// (repeat_interleave, expand and reshape), concatenations of slices of heads, and gathers of heads by constant
/// indices. A repeat of the whole list of heads (head h is h % Hkv) is another function, is left alone, and its receipt
/// says so.
std::unique_ptr<mlir::Pass> createShare();

/// Graph of a golden case of this technique.
void buildGolden(GoldenCase &golden);

/// The block `grouped_query_attention`.
void registerBlocks(BlockRegistry &registry);

} // namespace tilewright::grouped_query_attention
