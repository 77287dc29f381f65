// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `latent_attention` dialect (LatentAttention.td), its pass, and what chooses a form.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/StateReader.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "plugins/latent_attention/LatentAttentionDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/latent_attention/LatentAttention.h.inc"

namespace tilewright {
class BlockRegistry; // frontend/api/Block.h
class GoldenCase;    // frontend/api/GoldenCase.h
} // namespace tilewright

namespace tilewright::latent_attention {

/// What a form costs for one sequence.
struct FormCost {
  double multiplyAdds, bytes;
  /// Both as multiply-adds: a core does some ten of f32 in the time of a byte that it reads from or writes to memory.
  double total() const { return multiplyAdds + 10.0 * bytes; }
};

/// Costs of the two forms of an op with these head sizes, for T queries and S keys in f32, causality apart:
///
///   expanded: S H rank (Dn + Dv) + T S H (Dn + R + Dv) multiply-adds; latents are read once, keys and values of all
///   heads
///             written and read;
///   absorbed: T H rank (Dn + Dv) + T S H (2 rank + R) multiply-adds; latents are read once, the queries' and the sums'
///             latents of all heads written and read.
///
/// Both read the up-projection.
struct FormCosts {
  FormCost expanded, absorbed;
};
FormCosts costsOf(AttentionOp op, int64_t queries, int64_t keys);

/// A length that is not known when the form is chosen counts as this.
inline constexpr int64_t kUnknownLength = 1024;

/// latent-attention-choose-form (stage share): decides for each latent_attention.attention which form computes it, by
/// `costsOf` where both can, says so in a receipt with the costs, and puts that form's core ops in its place, so that
/// the attention in them is fused; those of a latent_attention.latent_array too.
std::unique_ptr<mlir::Pass> createChooseForm();

/// Graph of a golden case of this technique.
void buildGolden(GoldenCase &golden);

/// The block `latent_attention`.
void registerBlocks(BlockRegistry &registry);

} // namespace tilewright::latent_attention
