// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the ops mean, in core ops. They are compiled as these too: routing fuses with the router, the experts' linear
// maps are tw.grouped_linear over rows sorted by expert.
#include "plugins/mixture_of_experts/MixtureOfExperts.h"

#include "ir/tw/Layers.h"

#include <limits>

namespace tilewright::mixture_of_experts {

using namespace mlir;

namespace {

Type innerType(Value value) { return tw::wideFloat(tw::tensorType(value).getElementType()); }

Value add(ImplicitLocOpBuilder &b, Value x, Value y) { return tw::AddOp::create(b, x, y); }
Value sub(ImplicitLocOpBuilder &b, Value x, Value y) { return tw::SubOp::create(b, x, y); }
Value mul(ImplicitLocOpBuilder &b, Value x, Value y) { return tw::MulOp::create(b, x, y); }
Value div(ImplicitLocOpBuilder &b, Value x, Value y) { return tw::DivOp::create(b, x, y); }

tw::TopkOp topk(ImplicitLocOpBuilder &b, Value keys, Value take, int64_t k) {
  SmallVector<int64_t> shape(tw::tensorType(keys).getShape());
  shape.back() = std::min(shape.back(), k);
  return tw::TopkOp::create(b, tw::tensorType(keys).clone(shape), RankedTensorType::get(shape, b.getI32Type()), keys,
                            take, k);
}

/// `keys` [N, E] where the expert's group is one of the `best`, else -inf.
Value withinBestGroups(ImplicitLocOpBuilder &b, Value keys, int64_t groups, int64_t best) {
  RankedTensorType type = tw::tensorType(keys);
  int64_t rows = type.getDimSize(0), size = type.getDimSize(1) / groups;
  Value grouped = tw::reshape(b, keys, {rows, groups, size});
  Value sums = tw::reduce(b, "sum", topk(b, grouped, {}, 2).getValues(), {2}); // [N, groups]
  Value chosen = topk(b, sums, {}, best).getIndices();                         // [N, best]
  RankedTensorType perGroup = tw::tensorType(sums);
  Value numbers = tw::IotaOp::create(b, perGroup.clone(b.getI32Type()), sums, 1);
  Value one = tw::splat(b, 1.0, sums), found = tw::splat(b, 0.0, sums);
  for (int64_t r = 0; r < best; ++r) {
    Value group = tw::broadcast(b, tw::reshape(b, tw::slice(b, chosen, 1, r, 1), {rows}), sums, {0});
    Value here = tw::CompareOp::create(b, perGroup.clone(b.getI1Type()), "eq", numbers, group);
    found = tw::SelectOp::create(b, perGroup, here, one, found);
  }
  RankedTensorType three = tw::tensorType(grouped);
  Value inside = tw::CompareOp::create(b, three.clone(b.getI1Type()), "gt", tw::broadcast(b, found, grouped, {0, 1}),
                                       tw::splat(b, 0.0, grouped));
  Value outside = tw::splat(b, -std::numeric_limits<double>::infinity(), grouped);
  return tw::reshape(b, tw::SelectOp::create(b, three, inside, grouped, outside), type.getShape());
}

/// Tokens by expert: counts [E] as floats of `element`, and how many tokens there are, as one number.
std::pair<Value, Value> countsOf(ImplicitLocOpBuilder &b, Value indices, int64_t experts, Type element) {
  RankedTensorType type = tw::tensorType(indices);
  int64_t rows = type.getDimSize(0), k = type.getDimSize(1);
  auto flat = RankedTensorType::get({ShapedType::isDynamic(rows) ? rows : rows * k}, b.getI32Type());
  auto grouped = tw::GroupRowsOp::create(b, flat, flat, flat.clone({experts + 1}),
                                         tw::reshape(b, indices, flat.getShape()), experts, k);
  Value offsets = tw::castTo(b, grouped.getOffsets(), element);
  Value counts = sub(b, tw::slice(b, offsets, 0, 1, experts), tw::slice(b, offsets, 0, 0, experts));
  Value all = tw::reduce(b, "sum", counts, {0});
  return {counts, div(b, all, tw::splat(b, static_cast<double>(k), all))};
}

} // namespace

FailureOr<SmallVector<Value>> RouteOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Type element = getLogits().getType().getElementType(), inner = innerType(getLogits());
  Value logits = tw::castTo(b, getLogits(), inner), scores = logits; // [N, E]
  if (getGating() == "softmax")
    scores = tw::SoftmaxOp::create(b, logits.getType(), logits, 1);
  else if (getGating() == "sigmoid")
    scores = tw::SigmoidOp::create(b, logits);
  Value keys = scores;
  if (getSelectionBias())
    keys = add(b, keys, tw::broadcast(b, tw::castTo(b, getSelectionBias(), inner), keys, {1}));
  if (getGroups() > 1)
    keys = withinBestGroups(b, keys, getGroups(), getTopGroups());
  tw::TopkOp chosen = topk(b, keys, keys == scores ? Value() : scores, getTopK());
  Value weights = chosen.getValues(); // [N, k]
  if (getGating() == "chosen_softmax")
    weights = tw::SoftmaxOp::create(b, weights.getType(), weights, 1);
  if (getRenormalize()) {
    Value sum = tw::reduce(b, "sum", weights, {1});
    sum = add(b, sum, tw::splat(b, 1e-20, sum));
    weights = div(b, weights, tw::broadcast(b, sum, weights, {0}));
  }
  if (double scaling = getScaling().convertToDouble(); scaling != 1)
    weights = mul(b, weights, tw::splat(b, scaling, weights));
  return SmallVector<Value>{tw::castTo(b, weights, element), chosen.getIndices()};
}

/// act(gate) * (up + offset), or act(up) without a gate.
static Value activate(ImplicitLocOpBuilder &b, ExpertsOp op, Value gate, Value up) {
  const double alpha = op.getAlpha().convertToDouble();
  if (!gate) {
    Value wide = tw::activation(b, op.getActivation(), tw::castTo(b, up, innerType(up)), alpha);
    return tw::castTo(b, wide, tw::tensorType(up).getElementType());
  }
  tw::GateOptions options{alpha, std::nullopt, op.getUpOffset().convertToDouble()};
  if (std::optional<APFloat> limit = op.getLimit())
    options.limit = limit->convertToDouble();
  return tw::gatedUnit(b, op.getActivation(), gate, up, options);
}

FailureOr<SmallVector<Value>> ExpertsOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  RankedTensorType type = getX().getType();
  int64_t experts = getUp().getType().getDimSize(0), tokens = type.getDimSize(0),
          k = getIndices().getType().getDimSize(1);
  int64_t rows = ShapedType::isDynamic(tokens) ? tokens : tokens * k;
  auto flat = RankedTensorType::get({rows}, b.getI32Type());
  auto sorted = tw::GroupRowsOp::create(b, flat, flat, flat.clone({experts + 1}), tw::reshape(b, getIndices(), {rows}),
                                        experts, k);
  auto gather = [&](Value table, Value ids) -> Value {
    return tw::GatherOp::create(b, tw::tensorType(table).clone({rows, tw::tensorType(table).getDimSize(1)}), table,
                                ids);
  };
  auto linear = [&](Value input, Value weight, Value bias) -> Value { // [N * k, out]
    int64_t out = tw::tensorType(weight).getDimSize(getInOut() ? 2 : 1);
    return tw::GroupedLinearOp::create(b, tw::tensorType(input).clone({rows, out}), input, weight, sorted.getOffsets(),
                                       bias, getInOut());
  };
  Value x = gather(getX(), sorted.getRows());
  Value up = linear(x, getUp(), getUpBias()), gate = getGate() ? linear(x, getGate(), getGateBias()) : Value();
  if (std::optional<StringRef> fused = getFused()) {
    int64_t hidden = tw::tensorType(up).getDimSize(1) / 2;
    auto part = [&](Value both, bool second) -> Value {
      if (*fused != "interleaved")
        return tw::slice(b, both, 1, second ? hidden : 0, hidden);
      return tw::reshape(b, tw::slice(b, tw::reshape(b, both, {rows, hidden, 2}), 2, second, 1), {rows, hidden});
    };
    Value both = up;
    gate = part(both, *fused == "up_gate");
    up = part(both, *fused != "up_gate");
  }
  Value y = gather(linear(activate(b, *this, gate, up), getDown(), getDownBias()), sorted.getPlaces());
  // Back in the tokens' order: [N, k, out].
  Type inner = innerType(y);
  y = tw::castTo(b, tw::reshape(b, y, {tokens, k, tw::tensorType(y).getDimSize(1)}), inner);
  Value weighted = mul(b, y, tw::broadcast(b, tw::castTo(b, getWeights(), inner), y, {0, 1}));
  return SmallVector<Value>{tw::castTo(b, tw::reduce(b, "sum", weighted, {1}), type.getElementType())};
}

FailureOr<SmallVector<Value>> CountsOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  auto [counts, tokens] = countsOf(b, getIndices(), getExperts(), b.getF32Type());
  return SmallVector<Value>{tw::castTo(b, counts, b.getI32Type())};
}

FailureOr<SmallVector<Value>> BalanceLossOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Type element = getValues().getType().getElementType(), inner = innerType(getValues());
  int64_t experts = getExperts(), k = getIndices().getType().getDimSize(1), rows = getValues().getType().getDimSize(0);
  Value values = tw::castTo(b, getValues(), inner);
  auto [counts, tokens] = countsOf(b, getIndices(), experts, inner);
  Value one = tw::splat(b, 1.0, tokens);
  Value divisor = tw::MaximumOp::create(b, tokens, one), any = tw::MinimumOp::create(b, tokens, one);
  auto mean = [&](Value sums) { return div(b, sums, tw::broadcast(b, divisor, sums, {})); };
  auto number = [&](double value) { return tw::splat(b, value, counts); };

  Value terms;
  if (getForm() == "mean_weight") {
    // Each choice's row of the unit matrix, times its weight.
    int64_t all = ShapedType::isDynamic(rows) ? rows : rows * k;
    SmallVector<Attribute> unit(experts * experts, b.getFloatAttr(inner, 0.0));
    for (int64_t e = 0; e < experts; ++e)
      unit[e * experts + e] = b.getFloatAttr(inner, 1.0);
    auto square = RankedTensorType::get({experts, experts}, inner);
    Value table = tw::ConstantOp::create(b, square, DenseElementsAttr::get(square, unit));
    Value chosen = tw::GatherOp::create(b, square.clone({all, experts}), table, tw::reshape(b, getIndices(), {all}));
    Value spread = mul(b, chosen, tw::broadcast(b, tw::reshape(b, values, {all}), chosen, {0}));
    Value away = sub(b, mean(tw::reduce(b, "sum", spread, {0})), number(1.0 / static_cast<double>(experts)));
    terms = mul(b, away, away);
  } else {
    double perToken = getForm() == "switch" ? static_cast<double>(k) : 1.0;
    Value share = div(b, mean(counts), number(perToken));
    terms = mul(b, mul(b, share, mean(tw::reduce(b, "sum", values, {0}))), number(static_cast<double>(experts)));
  }
  return SmallVector<Value>{tw::castTo(b, mul(b, tw::reduce(b, "sum", terms, {0}), any), element)};
}

} // namespace tilewright::mixture_of_experts
