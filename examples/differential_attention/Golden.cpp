// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Golden cases: the technique as a whole, from queries, keys and values to normalised heads.
#include "DifferentialAttention.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"

#include <cmath>

namespace tilewright::differential_attention {

using namespace mlir;

void buildGolden(GoldenCase &c) {
  double epsilon = c.number("epsilon"), start = c.number("lambda_init");
  bool causal = c.flag("causal", false);
  if (!c.inputs({{"q1", 4}, {"k1", 4}, {"q2", 4}, {"k2", 4}, {"v", 4}, {"lambda", 1}}, {{"weight", 1}}))
    return;
  tw::AttentionOptions options;
  options.scale = 1 / std::sqrt(static_cast<double>(tw::tensorType(c.value("q1")).getShape().back()));
  options.causal = causal ? "end" : "none";
  Value positive = tw::attention(c.b, c.value("q1"), c.value("k1"), c.value("v"), options);
  Value negative = tw::attention(c.b, c.value("q2"), c.value("k2"), c.value("v"), options);
  c.output("y", CombineOp::create(c.b, positive.getType(), positive, negative, c.value("lambda"), c.value("weight"),
                                  c.b.getF64FloatAttr(epsilon), c.b.getF64FloatAttr(1 - start)));
}

} // namespace tilewright::differential_attention
