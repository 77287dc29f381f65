// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/ring_attention/RingAttention.h"

#include "frontend/api/AttentionCase.h"
#include "ir/tw/AttentionForm.h"

namespace tilewright::ring_attention {

using namespace mlir;

void buildGolden(GoldenCase &c) {
  RankedTensorType sizes = c.explanationType("block_sizes");
  if (!sizes || sizes.getRank() != 1 || sizes.getDimSize(0) < 1)
    return c.unsupported("no aux.block_sizes, which say how many shards there are");
  c.oneOf("layout", {"BHTD"});
  if (c.outputType("weights"))
    return c.unsupported("output weights: a ring holds no row of them");
  if (!c.sizes("cu_seqlens_q").empty() || !c.sizes("cu_seqlens_kv").empty())
    return c.unsupported("inputs cu_seqlens_q and cu_seqlens_kv: packed sequences are not for a ring");
  tw::AttentionOp core = makeAttentionCase(c);
  if (!core)
    return;
  auto ring = tw::attentionAs<AttentionOp>(c.b, core, core->getResultTypes(),
                                           c.b.getNamedAttr("num_shards", c.b.getI64IntegerAttr(sizes.getDimSize(0))));
  core.erase();
  giveAttentionCase(c, ring->getResults(), ring.getSinks());
}

} // namespace tilewright::ring_attention
