// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block `swiglu`.
#include "frontend/api/Block.h"
#include "plugins/swiglu/Swiglu.h"

namespace tilewright::swiglu {

using namespace mlir;

static BlockResults build(BlockBuilder &b, const BlockOptions &options, ValueRange inputs) {
  const int64_t in = options.integer("dim_in"), hidden = options.integer("dim_hidden", 4 * in);
  const bool bias = options.flag("bias");
  Value x = inputs[0];
  if (failed(b.expectInput(x, "x", std::nullopt, in)))
    return failure();
  Value gate = b.linear("w1", x, hidden, bias), up = b.linear("w2", x, hidden, bias);
  Value middle =
      GluOp::create(b.b, gate.getType(), gate, up, StringRef("silu"), APFloat(1.0), FloatAttr(), APFloat(0.0));
  return SmallVector<Value>{b.linear("w3", middle, options.integer("dim_out", in), bias)};
}

void registerBlocks(BlockRegistry &registry) {
  registry.add(
      {"swiglu",
       "x [..., dim_in]: w3(silu(w1 x) * (w2 x)), [..., dim_out]; dim_hidden is 4 dim_in and dim_out dim_in by default",
       {BlockOption::integer("dim_in", std::nullopt).mustBeGiven(), BlockOption::integer("dim_hidden", std::nullopt),
        BlockOption::integer("dim_out", std::nullopt), BlockOption::flag("bias", true)},
       build});
}

} // namespace tilewright::swiglu
