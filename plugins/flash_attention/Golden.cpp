// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/flash_attention/FlashAttention.h"

#include "frontend/api/AttentionCase.h"
#include "ir/tw/AttentionForm.h"

namespace tilewright::flash_attention {

using namespace mlir;

void buildGolden(GoldenCase &c) {
  tw::AttentionOp core = makeAttentionCase(c);
  if (!core)
    return;
  if (core.getSizes().queries != 1 || core.getCuSeqlensQ()) // no decode, or packed: keys are not split
    return giveAttentionCase(c, core->getResults(), core.getSinks());
  auto op = tw::attentionAs<AttentionOp>(c.b, core, core->getResultTypes());
  Value sinks = op.getSinks();
  core.erase();
  SmallVector<Value> results = splitKeys(op, 4);
  c.b.setInsertionPointToEnd(results.front().getParentBlock());
  giveAttentionCase(c, results, sinks);
}

} // namespace tilewright::flash_attention
