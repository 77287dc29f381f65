// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block `rms_norm`.
#include "frontend/api/Block.h"
#include "plugins/rms_norm/RmsNorm.h"

namespace tilewright::rms_norm {

using namespace mlir;

static BlockResults build(BlockBuilder &b, const BlockOptions &options, ValueRange inputs) {
  Value x = inputs[0];
  const int64_t dim = options.integer("dim");
  if (failed(b.expectInput(x, "x", std::nullopt, dim)))
    return failure();
  Value weight = options.flag("elementwise_affine") ? b.parameter("weight", {dim}, Initial::constant(1)) : Value();
  return SmallVector<Value>{
      NormOp::create(b.b, x.getType(), x, weight, Value(), APFloat(options.number("eps")), false, false)};
}

void registerBlocks(BlockRegistry &registry) {
  registry.add({"rms_norm",
                "x [..., dim]: each row divided by its root mean square",
                {BlockOption::integer("dim", std::nullopt).mustBeGiven(), BlockOption::number("eps", 1e-8, 0.0),
                 BlockOption::flag("elementwise_affine", true)},
                build});
}

} // namespace tilewright::rms_norm
