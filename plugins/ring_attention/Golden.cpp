// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/ring_attention/RingAttention.h"

#include "frontend/api/AttentionCase.h"

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
  OperationState state(core.getLoc(), AttentionOp::getOperationName());
  state.addOperands(core->getOperands());
  state.addTypes(core->getResultTypes());
  state.addAttributes(core->getAttrDictionary().getValue());
  state.addAttribute("num_shards", c.b.getI64IntegerAttr(shards));
  auto ring = cast<AttentionOp>(c.b.create(state));
  core.erase();
  giveAttentionCase(c, ring->getResults(), ring.getSinks());
}

} // namespace tilewright::ring_attention
