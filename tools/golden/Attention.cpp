// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/AttentionCase.h"
#include "tools/golden/CoreCases.h"

namespace tilewright {

void buildAttention(GoldenCase &c) {
  if (tw::AttentionOp op = makeAttentionCase(c))
    giveAttentionCase(c, op.getResults(), op.getSinks());
}

} // namespace tilewright
