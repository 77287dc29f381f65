// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block `pre_norm`: x + fn(norm(x)).
#include "frontend/api/Block.h"
#include "ir/tw/Layers.h"
#include "plugins/pre_norm/PreNorm.h"

namespace tilewright::pre_norm {

using namespace mlir;

static BlockResults build(BlockBuilder &b, const BlockOptions &options, ValueRange inputs) {
  const int64_t dim = options.integer("dim");
  Value x = inputs[0];
  if (!options.body)
    return b.error() << "has no function fn, wanted one that takes norm(x)";
  if (failed(b.expectInput(x, "x", std::nullopt, dim)))
    return failure();
  Value weight = b.parameter("norm.weight", {dim}, Initial::constant(1));
  SmallVector<Value> inner(inputs); // masks and the like go on to fn
  inner[0] = options.text("norm_type") == "rms"
                 ? tw::rmsNorm(b.b, x, weight, 1e-8)
                 : tw::layerNorm(b.b, x, weight, b.parameter("norm.bias", {dim}, Initial::constant(0)), 1e-5);
  BlockResults results = options.body(b, inner);
  if (failed(results))
    return failure();
  if (results->empty() || results->front().getType() != x.getType()) {
    InFlightDiagnostic diagnostic = b.error();
    diagnostic << "fn gives ";
    if (results->empty())
      diagnostic << "nothing";
    else
      diagnostic << results->front().getType();
    return diagnostic << ", wanted x's type, " << x.getType();
  }
  results->front() = tw::AddOp::create(b.b, x, results->front());
  return results;
}

void registerBlocks(BlockRegistry &registry) {
  registry.add(
      {"pre_norm",
       "x [..., dim] and what else fn takes: x + fn(norm(x), ...); further results of fn are given back as they are",
       {BlockOption::integer("dim", std::nullopt).mustBeGiven(),
        BlockOption::text("norm_type", "layer", {"layer", "rms"})},
       build,
       {.others = true}});
}

} // namespace tilewright::pre_norm
