// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Golden cases: the technique as a whole, from queries, keys and values to normalised heads.
#include "DifferentialAttention.h"

#include "frontend/api/GoldenCase.h"

#include <cmath>

namespace tilewright::differential_attention {

using namespace mlir;

void buildGolden(GoldenCase &c) {
  double epsilon = c.number("epsilon"), start = c.number("lambda_init");
  bool causal = c.flag("causal", false);
  if (!c.inputs({{"q1", 4}, {"k1", 4}, {"q2", 4}, {"k2", 4}, {"v", 4}, {"lambda", 1}}, {{"weight", 1}}))
    return;
  auto attention = [&](Value query, Value key) -> Value {
    auto type = cast<RankedTensorType>(query.getType());
    SmallVector<int64_t> shape(type.getShape()); // [B, H, T, D]
    double scale = 1 / std::sqrt(static_cast<double>(shape.back()));
    shape.back() = cast<RankedTensorType>(c.value("v").getType()).getShape().back();
    return tw::AttentionOp::create(c.b, type.clone(shape), query, key, c.value("v"), Value(), Value(), Value(), Value(),
                                   Value(), Value(), Value(), c.b.getF64FloatAttr(scale),
                                   c.b.getStringAttr(causal ? "end" : "none"), IntegerAttr(), FloatAttr());
  };
  Value positive = attention(c.value("q1"), c.value("k1")), negative = attention(c.value("q2"), c.value("k2"));
  c.output("y", CombineOp::create(c.b, positive.getType(), positive, negative, c.value("lambda"), c.value("weight"),
                                  c.b.getF64FloatAttr(epsilon), c.b.getF64FloatAttr(1 - start)));
}

} // namespace tilewright::differential_attention
