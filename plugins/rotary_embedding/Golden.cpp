// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/rotary_embedding/RotaryEmbedding.h"

#include "frontend/api/GoldenCase.h"

namespace tilewright::rotary_embedding {

using namespace mlir;

void buildGolden(GoldenCase &c) {
  c.oneOf("kind", {"default"});
  if (c.number("attention_factor", 1.0) != 1.0)
    c.unsupported("attention_factor other than 1");
  double base = c.number("base", 10000.0);
  int64_t rotaryDim = c.integer("rotary_dim");
  std::string layout = c.oneOf("layout", {"half", "interleaved"});
  c.ignore({"head_dim", "partial_rotary_factor", "seq_len"}); // the tensors' shapes and rotary_dim say the same
  if (!c.inputs({{"q", 4}, {"k", 4}, {"position_ids", 2}}))
    return;
  for (StringRef name : {"q", "k"}) {
    Value x = c.value(name);
    c.output(name, RotateOp::create(c.b, x.getType(), x, c.value("position_ids"), Value(), APFloat(base), rotaryDim,
                                    StringRef(layout)));
  }
}

} // namespace tilewright::rotary_embedding
