// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block `rotary_embedding`.
#include "frontend/api/Block.h"
#include "ir/tw/Build.h"
#include "plugins/rotary_embedding/RotaryEmbedding.h"

#include <numeric>

namespace tilewright::rotary_embedding {

using namespace mlir;

/// 0, ..., T - 1 for x [B, H, T, D].
static Value positionsOf(ImplicitLocOpBuilder &b, Value x) {
  int64_t count = tw::tensorType(x).getDimSize(2);
  auto type = RankedTensorType::get({count}, b.getI32Type());
  if (ShapedType::isDynamic(count)) // like a tensor of that length
    return tw::IotaOp::create(b, type, tw::reduce(b, "sum", x, {0, 1, 3}), 0);
  SmallVector<int32_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0);
  return tw::ConstantOp::create(b, type, DenseElementsAttr::get(type, ArrayRef<int32_t>(positions)));
}

static BlockResults build(BlockBuilder &b, const BlockOptions &options, ValueRange inputs) {
  const int64_t dim = options.integer("dim");
  if (dim % 2 != 0)
    return b.error() << "dim is " << dim << ", wanted an even number";
  if (options.number("base") <= 0)
    return b.error() << "base is " << options.number("base") << ", wanted a number above 0";
  auto isPositions = [](Value input) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    return type && type.getElementType().isInteger(32);
  };
  ValueRange turned = isPositions(inputs.back()) ? inputs.drop_back() : inputs;
  if (turned.empty() || llvm::any_of(turned, isPositions))
    return b.error() << "wants heads [B, H, T, " << dim << "], and behind them at most one tensor of positions";
  for (Value x : turned)
    if (failed(b.expectInput(x, "x", 4, dim)))
      return failure();
  Value positions = turned.size() == inputs.size() ? positionsOf(b.b, turned[0]) : inputs.back();
  RankedTensorType rows = tw::tensorType(positions);
  SmallVector<int64_t> shape(rows.getShape());
  shape.push_back(dim);
  auto type = RankedTensorType::get(shape, tw::tensorType(turned[0]).getElementType());
  StringRef layout = options.flag("interleaved") ? "interleaved" : "half";
  auto tables = TablesOp::create(b.b, type, type, positions, Value(), dim, APFloat(options.number("base")), layout,
                                 APFloat(1.0), DenseI64ArrayAttr());
  SmallVector<Value> results;
  for (Value x : turned)
    results.push_back(ApplyOp::create(b.b, x.getType(), x, tables.getCosine(), tables.getSine(), layout));
  results.append({tables.getCosine(), tables.getSine()});
  return results;
}

void registerBlocks(BlockRegistry &registry) {
  registry.add({"rotary_embedding",
                "heads x [B, H, T, dim], one tensor or more (queries, keys), and behind them, if not 0 to T - 1, their "
                "positions [T] or [B, T]: each turned, then the tables of cosines and sines [T, dim]",
                {BlockOption::integer("dim", std::nullopt, 2).mustBeGiven(), BlockOption::number("base", 10000.0),
                 BlockOption::flag("interleaved", false)},
                build,
                {.others = true}});
}

} // namespace tilewright::rotary_embedding
