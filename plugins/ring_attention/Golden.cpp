// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/ring_attention/RingAttention.h"

#include "frontend/api/AttentionCase.h"
#include "ir/tw/AttentionForm.h"

namespace tilewright::ring_attention {

using namespace mlir;

void buildGolden(GoldenCase &c) {
  // ring_partials_P4_uneven: four shards.
  int64_t shards = 0;
  StringRef number = c.name().split("_P").second;
  if (number.consumeInteger(10, shards) || shards < 1)
    return c.unsupported("a name that says no number of shards (\"..._P4\")");
  tw::AttentionOp core = makeAttentionCase(c);
  if (!core)
    return;
  auto ring = tw::attentionAs<AttentionOp>(c.b, core, core->getResultTypes(),
                                           c.b.getNamedAttr("num_shards", c.b.getI64IntegerAttr(shards)));
  core.erase();
  giveAttentionCase(c, ring->getResults(), ring.getSinks());
}

} // namespace tilewright::ring_attention
