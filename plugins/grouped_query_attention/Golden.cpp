// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module as the article has it: each key/value head repeated for its queries. Taking the repeats away is what
// grouped-query-attention-share does.
#include "plugins/grouped_query_attention/Share.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"

#include <cmath>

namespace tilewright::grouped_query_attention {

using namespace mlir;

void buildGolden(GoldenCase &c) {
  const int64_t heads = c.integer("H"), kvHeads = c.integer("Hkv"), width = c.integer("D");
  c.ignore({"eps"}); // of the norms of queries and keys, which these cases do not have
  if (c.has("qk_norm"))
    c.unsupported("norms of queries and keys");
  if (!c.inputs({{"x", 3}, {"w_q", 2}, {"w_k", 2}, {"w_v", 2}, {"w_o", 2}},
                {{"b_q", 1}, {"b_k", 1}, {"b_v", 1}, {"b_o", 1}}))
    return;
  ImplicitLocOpBuilder &b = c.b;
  Value x = c.value("x");
  auto project = [&](StringRef name, int64_t count) {
    return tw::splitHeads(b, tw::linear(b, x, c.value(("w_" + name).str()), c.value(("b_" + name).str())), count);
  };
  Value q = project("q", heads);
  SmallVector<int64_t> shape(tw::tensorType(q).getShape()),
      grouped = {shape[0], kvHeads, heads / kvHeads, shape[2], shape[3]};
  Value like = tw::reshape(b, q, grouped); // [B, Hkv, H / Hkv, T, D]
  auto repeated = [&](Value value) { return tw::reshape(b, tw::broadcast(b, value, like, {0, 1, 3, 4}), shape); };
  Value o = tw::attention(b, q, repeated(project("k", kvHeads)), repeated(project("v", kvHeads)),
                          {.scale = 1 / std::sqrt(double(width))});
  c.output("y", tw::linear(b, tw::joinHeads(b, o), c.value("w_o"), c.value("b_o")));
}

} // namespace tilewright::grouped_query_attention
