// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference lowerings: both forms of attention of low rank, its two products by heads, and the latent array.
#include "plugins/latent_attention/LatentAttention.h"

#include "ir/tw/Layers.h"

#include <cmath>

namespace tilewright::latent_attention {

using namespace mlir;
using tw::tensorType;

namespace {

/// `times` copies of `value` one after another along `dim`, of which it has one element: size 1 never means broadcast.
Value repeat(ImplicitLocOpBuilder &b, Value value, int64_t dim, int64_t times) {
  if (times == 1)
    return value;
  Value half = repeat(b, value, dim, times / 2);
  SmallVector<Value> parts = {half, half};
  if (times % 2)
    parts.push_back(value);
  return tw::concat(b, dim, parts);
}

/// Rows [first, first + size) of each head's block of the up-projection: [H, size, rank].
Value partOfUp(ImplicitLocOpBuilder &b, Value up, int64_t heads, int64_t first, int64_t size, Type element) {
  RankedTensorType type = tensorType(up);
  Value blocks = tw::reshape(b, up, {heads, type.getDimSize(0) / heads, type.getDimSize(1)});
  return tw::castTo(b, tw::slice(b, blocks, 1, first, size), element);
}

/// y[..., h, :] of `x` [B, H, T, I] and a matrix for each head: [H, I, O], or [H, O, I] transposed.
Value byHeads(ImplicitLocOpBuilder &b, Value x, Value matrices, bool transposed) {
  RankedTensorType type = tensorType(x), matrix = tensorType(matrices);
  ArrayRef<int64_t> shape = type.getShape();
  int64_t out = matrix.getDimSize(transposed ? 1 : 2);
  bool dynamic = ShapedType::isDynamic(shape[0]) || ShapedType::isDynamic(shape[2]);
  int64_t rows = dynamic ? ShapedType::kDynamic : shape[0] * shape[2];
  Value flat = tw::reshape(b, tw::transpose(b, x, {1, 0, 2, 3}), {shape[1], rows, shape[3]});
  Value y = tw::BatchMatmulOp::create(b, type.clone({shape[1], rows, out}), flat, matrices, transposed);
  return tw::transpose(b, tw::reshape(b, y, {shape[1], shape[0], shape[2], out}), {1, 0, 2, 3});
}

tw::AttentionOptions optionsOf(AttentionOp op) {
  tw::AttentionOptions options;
  options.mask = op.getMask();
  options.scale = op.scaleOrDefault();
  options.causal = op.getCausal();
  options.window = op.getWindow();
  return options;
}

Value expanded(ImplicitLocOpBuilder &b, AttentionOp op) {
  int64_t heads = op.heads(), nope = op.nopeDim();
  Value both = tw::splitHeads(b, tw::linear(b, op.getLatent(), op.getUpWeight()), heads); // [B, H, S, Dn + Dv]
  Value rotary = repeat(b, tw::unsqueeze(b, op.getKRope(), 1), 1, heads);                 // [B, H, S, R]
  Value query = tw::concat(b, 3, {op.getQNope(), op.getQRope()});
  Value key = tw::concat(b, 3, {tw::slice(b, both, 3, 0, nope), rotary});
  return tw::attention(b, query, key, tw::slice(b, both, 3, nope, op.valueDim()), optionsOf(op));
}

/// The up-projection as floats, which products may read along rows and along columns: blocks of a storage type are
/// packed for the latter alone.
Value upOfFloats(ImplicitLocOpBuilder &b, AttentionOp op) {
  RankedTensorType type = op.getUpWeight().getType();
  if (isa<FloatType>(type.getElementType()))
    return op.getUpWeight();
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(type.getDimSize(0))));
  auto ids = DenseElementsAttr::get(RankedTensorType::get({type.getDimSize(0)}, b.getI32Type()), ArrayRef(numbers));
  Value rows = tw::ConstantOp::create(b, ids.getType(), ids);
  return tw::GatherOp::create(b, type.clone(b.getF32Type()), op.getUpWeight(), rows);
}

Value absorbed(ImplicitLocOpBuilder &b, AttentionOp op) {
  int64_t heads = op.heads(), nope = op.nopeDim();
  Type element = op.getType().getElementType();
  Value up = upOfFloats(b, op), toLatents = partOfUp(b, up, heads, 0, nope, element);
  Value query = tw::concat(b, 3, {byHeads(b, op.getQNope(), toLatents, false), op.getQRope()});
  Value key = tw::unsqueeze(b, tw::concat(b, 2, {op.getLatent(), op.getKRope()}), 1);
  Value sums = tw::attention(b, query, key, tw::unsqueeze(b, op.getLatent(), 1), optionsOf(op));
  return byHeads(b, sums, partOfUp(b, up, heads, nope, op.valueDim(), element), true);
}

Value overState(ImplicitLocOpBuilder &b, AttentionOp op) {
  RankedTensorType rows = op.getQNope().getType();
  auto latents = rows.clone({rows.getDimSize(0), op.heads(), op.rank()});
  Value up = upOfFloats(b, op), query = AbsorbOp::create(b, latents, "key", op.getQNope(), up);
  query = tw::concat(b, 2, {query, op.getQRope()});
  auto sums = tw::AttentionOp::create(b, latents, query, Value(), Value(), op.scaleOrDefault());
  sums.getStateMutable().assign(op.getState());
  sums.getRowStartMutable().assign(op.getRowStart());
  sums.getKvLenMutable().assign(op.getKvLen());
  sums.getPositionsMutable().assign(op.getPositions());
  sums.setCausalAttr(op.getCausalAttr());
  sums.setWindowAttr(op.getWindowAttr());
  return AbsorbOp::create(b, op.getType(), "value", sums.getResult(), up);
}

} // namespace

FailureOr<SmallVector<Value>> AttentionOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  if (isRagged())
    return SmallVector<Value>{overState(b, *this)};
  return SmallVector<Value>{getForm() == "absorbed" ? absorbed(b, *this) : expanded(b, *this)};
}

FailureOr<SmallVector<Value>> AbsorbOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  RankedTensorType weight = getWeight().getType();
  int64_t heads = getType().getDimSize(1), block = weight.getDimSize(0) / heads;
  bool isKey = getPart() == "key";
  int64_t size = (isKey ? getInput().getType() : getType()).getDimSize(2);
  Value part = partOfUp(b, getWeight(), heads, isKey ? 0 : block - size, size, getType().getElementType());
  Value byHead = tw::transpose(b, getInput(), {1, 0, 2}); // [H, N, columns]
  auto type = getType().clone({heads, getType().getDimSize(0), getType().getDimSize(2)});
  Value y = tw::BatchMatmulOp::create(b, type, byHead, part, /*transpose_b=*/!isKey);
  return SmallVector<Value>{tw::transpose(b, y, {1, 0, 2})};
}

FailureOr<SmallVector<Value>> LatentArrayOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  int64_t heads = getHeads(), batch = getInput().getType().getDimSize(0);
  auto project = [&](Value x, Value weight, Value bias) {
    return tw::splitHeads(b, tw::linear(b, x, weight, bias), heads);
  };
  Value latents = tw::unsqueeze(b, getLatents(), 0);
  // [1, H, N, D] of the latents is one for all of the batch.
  auto ofLatents = [&](Value own, Value ownBias, Value weight, Value bias) {
    return repeat(b, own ? project(latents, own, ownBias) : project(latents, weight, bias), 0, batch);
  };
  Value query = project(getInput(), getQueryWeight(), getQueryBias());
  tw::AttentionOptions options;
  options.scale = getScale() ? getScale()->convertToDouble()
                             : 1.0 / std::sqrt(static_cast<double>(tensorType(query).getDimSize(3)));
  tw::AttentionOptions masked = options;
  masked.mask = getMask();
  Value updated = tw::attention(
      b, ofLatents(getLatentQueryWeight(), getLatentQueryBias(), getQueryWeight(), getQueryBias()),
      project(getInput(), getKeyWeight(), getKeyBias()), project(getInput(), getValueWeight(), getValueBias()), masked);
  Value value = updated;
  if (getValues() == "own")
    value = ofLatents(getLatentValueWeight(), getLatentValueBias(), getValueWeight(), getValueBias());
  Value key = ofLatents(getLatentKeyWeight(), getLatentKeyBias(), getKeyWeight(), getKeyBias());
  Value joined = tw::joinHeads(b, tw::attention(b, query, key, value, options));
  return SmallVector<Value>{tw::linear(b, joined, getOutputWeight(), getOutputBias()), updated};
}

} // namespace tilewright::latent_attention
