// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/flash_attention/FlashAttention.h"

#include "frontend/api/AttentionCase.h"

namespace tilewright::flash_attention {

using namespace mlir;

void buildGolden(GoldenCase &c) {
  tw::AttentionOp core = makeAttentionCase(c);
  if (!core)
    return;
  if (core.getSizes().queries != 1)
    return giveAttentionCase(c, core->getResults(), core.getSinks());
  OperationState state(core.getLoc(), AttentionOp::getOperationName());
  state.addOperands(core->getOperands());
  state.addTypes(core->getResultTypes());
  state.addAttributes(core->getAttrDictionary().getValue());
  auto op = cast<AttentionOp>(c.b.create(state));
  Value sinks = op.getSinks();
  core.erase();
  SmallVector<Value> results = splitKeys(op, 4);
  c.b.setInsertionPointToEnd(results.front().getParentBlock());
  giveAttentionCase(c, results, sinks);
}

} // namespace tilewright::flash_attention
