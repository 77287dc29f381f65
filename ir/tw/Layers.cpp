// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Layers.h"

#include <cmath>
#include <numbers>

namespace tilewright::tw {

using mlir::ImplicitLocOpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

Value linear(ImplicitLocOpBuilder &builder, Value x, Value weight, Value bias) {
  llvm::SmallVector<int64_t> shape(tensorType(x).getShape());
  shape.back() = tensorType(weight).getDimSize(0);
  return LinearOp::create(builder, tensorType(x).clone(shape), x, weight, bias);
}

/// `vector` [E] in each row of x [..., E].
static Value perColumn(ImplicitLocOpBuilder &b, Value vector, Value x) {
  return broadcast(b, castTo(b, vector, tensorType(x).getElementType()), x, {tensorType(x).getRank() - 1});
}

/// x / sqrt(mean(x^2) + epsilon)
static Value normalised(ImplicitLocOpBuilder &b, Value x, double epsilon) {
  int64_t last = tensorType(x).getRank() - 1;
  Value meanSquare = reduce(b, "mean", MulOp::create(b, x, x), {last}); // [rows...]
  Value inverse = RsqrtOp::create(b, AddOp::create(b, meanSquare, splat(b, epsilon, meanSquare)));
  return MulOp::create(b, x, broadcast(b, inverse, x, llvm::to_vector(llvm::seq<int64_t>(0, last))));
}

Value rmsNorm(ImplicitLocOpBuilder &b, Value x, Value weight, double epsilon) {
  Value y = normalised(b, castTo(b, x, wideFloat(tensorType(x).getElementType())), epsilon);
  if (weight)
    y = MulOp::create(b, y, perColumn(b, weight, y));
  return castTo(b, y, tensorType(x).getElementType());
}

Value layerNorm(ImplicitLocOpBuilder &b, Value x, Value weight, Value bias, double epsilon) {
  int64_t last = tensorType(x).getRank() - 1;
  Value wide = castTo(b, x, wideFloat(tensorType(x).getElementType()));
  Value mean = broadcast(b, reduce(b, "mean", wide, {last}), wide, llvm::to_vector(llvm::seq<int64_t>(0, last)));
  Value y = normalised(b, SubOp::create(b, wide, mean), epsilon);
  if (weight)
    y = MulOp::create(b, y, perColumn(b, weight, y));
  if (bias)
    y = AddOp::create(b, y, perColumn(b, bias, y));
  return castTo(b, y, tensorType(x).getElementType());
}

Value activation(ImplicitLocOpBuilder &b, llvm::StringRef name, Value x, double alpha) {
  auto constant = [&](double value) { return splat(b, value, x); };
  auto mul = [&](Value l, Value r) -> Value { return MulOp::create(b, l, r); };
  auto add = [&](Value l, Value r) -> Value { return AddOp::create(b, l, r); };
  if (name == "silu")
    return mul(x, SigmoidOp::create(b, alpha == 1 ? x : mul(x, constant(alpha))));
  if (name == "gelu") {
    Value erf = ErfOp::create(b, mul(x, constant(std::numbers::sqrt2 / 2)));
    return mul(mul(x, constant(0.5)), add(erf, constant(1)));
  }
  if (name == "gelu_tanh") {
    Value inside = mul(add(x, mul(mul(mul(x, x), x), constant(0.044715))), constant(std::sqrt(2 / std::numbers::pi)));
    return mul(mul(x, constant(0.5)), add(TanhOp::create(b, inside), constant(1)));
  }
  if (name == "sigmoid")
    return SigmoidOp::create(b, x);
  if (name == "tanh")
    return TanhOp::create(b, x);
  assert((name == "relu" || name == "relu2") && "an activation that no verifier has checked");
  Value positive = MaximumOp::create(b, x, constant(0));
  return name == "relu" ? positive : mul(positive, positive);
}

Value gatedUnit(ImplicitLocOpBuilder &b, llvm::StringRef name, Value gate, Value up, const GateOptions &options) {
  mlir::Type element = tensorType(gate).getElementType(), inner = wideFloat(element);
  Value g = castTo(b, gate, inner), u = castTo(b, up, inner);
  auto constant = [&](double value) { return splat(b, value, g); };
  if (options.limit) {
    g = MinimumOp::create(b, g, constant(*options.limit));
    u = MaximumOp::create(b, MinimumOp::create(b, u, constant(*options.limit)), constant(-*options.limit));
  }
  Value activated = activation(b, name, g, options.alpha);
  if (options.upOffset != 0)
    u = AddOp::create(b, u, constant(options.upOffset));
  return castTo(b, MulOp::create(b, activated, u), element);
}

Value splitHeads(ImplicitLocOpBuilder &b, Value x, int64_t heads) {
  RankedTensorType type = tensorType(x);
  Value parts = reshape(b, x, {type.getDimSize(0), type.getDimSize(1), heads, type.getDimSize(2) / heads});
  return transpose(b, parts, {0, 2, 1, 3});
}

Value joinHeads(ImplicitLocOpBuilder &b, Value x) {
  RankedTensorType type = tensorType(x);
  Value rows = transpose(b, x, {0, 2, 1, 3}); // [B, T, H, D]
  return reshape(b, rows, {type.getDimSize(0), type.getDimSize(2), type.getDimSize(1) * type.getDimSize(3)});
}

Heads packedProjections(ImplicitLocOpBuilder &b, Value x, Value source, Value weight, Value bias, int64_t heads) {
  const int64_t width = tensorType(weight).getDimSize(0) / 3;
  auto part = [&](Value input, int64_t which) {
    Value rows = slice(b, weight, 0, which * width, width);
    return splitHeads(b, linear(b, input, rows, bias ? slice(b, bias, 0, which * width, width) : Value()), heads);
  };
  return {part(x, 0), part(source, 1), part(source, 2)};
}

Value attention(ImplicitLocOpBuilder &b, Value query, Value key, Value value, const AttentionOptions &options) {
  llvm::SmallVector<int64_t> shape(tensorType(query).getShape());
  shape.back() = tensorType(value).getShape().back();
  auto op = AttentionOp::create(b, tensorType(query).clone(shape), query, key, value, options.scale);
  if (options.mask)
    op.getMaskMutable().assign(options.mask);
  if (options.bias)
    op.getBiasMutable().assign(options.bias);
  op.setCausal(options.causal);
  if (options.window)
    op.setWindow(*options.window);
  return op.getResult();
}

} // namespace tilewright::tw
