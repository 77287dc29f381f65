// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// position_encoding.relation_attention.
#include "plugins/position_encoding/PositionEncoding.h"

#include "ir/tw/Layers.h"
#include "plugins/position_encoding/Places.h"

#include <cmath>

namespace tilewright::position_encoding {

using namespace mlir;

LogicalResult RelationAttentionOp::verify() {
  RankedTensorType q = getQuery().getType(), k = getKey().getType(), v = getValue().getType(),
                   relation = getRelation().getType();
  auto isStatic = [](RankedTensorType type) {
    return type.getRank() == 4 && !type.isDynamicDim(1) && !type.isDynamicDim(3);
  };
  if (!isStatic(q) || !isStatic(k) || !isStatic(v)) // (C1)
    return emitOpError("wants query, key and value of rank 4 with static heads and last dimension, found ")
           << q << ", " << k << " and " << v;
  int64_t heads = q.getDimSize(1), kvHeads = k.getDimSize(1), batch = q.getDimSize(0), rows = q.getDimSize(2),
          keys = k.getDimSize(2);
  if (kvHeads < 1 || heads % kvHeads != 0) // (C1)
    return emitOpError("has ") << heads << " query heads, wanted a multiple of the " << kvHeads << " key heads";
  auto wantShape = [&](StringRef what, RankedTensorType found, ArrayRef<int64_t> wanted) {
    return verifyShape(*this, found, wanted, what);
  };
  if (failed(wantShape("key", k, {batch, kvHeads, keys, q.getDimSize(3)})) ||
      failed(wantShape("value", v, {batch, kvHeads, keys, v.getDimSize(3)})) ||
      failed(wantShape("result", getType(), {batch, heads, rows, v.getDimSize(3)}))) // (C1)
    return failure();
  if (relation.getRank() != 2 && relation.getRank() != 3) // (C2)
    return emitOpError("wants a relation [T, S] or [B, T, S], found ") << relation;
  if (failed(relation.getRank() == 2 ? wantShape("relation", relation, {rows, keys})
                                     : wantShape("relation", relation, {batch, rows, keys}))) // (C2)
    return failure();
  if (!getKeyTable() && !getValueTable()) // (C3)
    return emitOpError("wants a key_table, a value_table or both");
  for (auto [name, table, width] :
       {std::tuple("key_table", getKeyTable(), q.getDimSize(3)), {"value_table", getValueTable(), v.getDimSize(3)}})
    if (table)
      if (failed(wantShape(name, tw::tensorType(table), {ShapedType::kDynamic, width}))) // (C3)
        return failure();
  if (Value bias = getBias()) { // (C4)
    RankedTensorType type = tw::tensorType(bias);
    bool isShared = type.getRank() == 4 && type.getDimSize(0) == 1;
    if (failed(wantShape("bias", type, {isShared ? 1 : batch, heads, rows, keys})))
      return failure();
  }
  if (getMask())
    if (failed(wantShape("mask", getMask().getType(), {rows, keys}))) // (C4)
      return failure();
  if (!std::isfinite(getScale().convertToDouble())) // (C5)
    return emitOpError("wants a finite scale, found ") << getScale().convertToDouble();
  return success();
}

namespace {

/// scale times the product of each query with the key vector of its relation to each key: [B, H, T, S]. Products with
/// all rows of the table first, then each pair takes its own.
Value keyTerm(ImplicitLocOpBuilder &b, RelationAttentionOp op, Type inner) {
  Value query = tw::transpose(b, tw::castTo(b, op.getQuery(), inner), {0, 2, 1, 3}); // [B, T, H, D]
  Value table = tw::castTo(b, op.getKeyTable(), inner);                              // [R, D]
  Value all = tw::linear(b, query, table);                                           // [B, T, H, R]
  bool isBatched = op.getRelation().getType().getRank() == 3;
  // One relation for all sequences: they are part of the row that is taken.
  all = tw::transpose(
      b, all, isBatched ? ArrayRef<int64_t>{0, 1, 3, 2} : ArrayRef<int64_t>{1, 3, 0, 2}); // [B, T, R, H], [T, R, B, H]
  SmallVector<int64_t> shape(op.getRelation().getType().getShape());
  llvm::append_range(shape, tw::tensorType(all).getShape().drop_front(isBatched ? 3 : 2));
  Value own = tw::GatherOp::create(b, tw::tensorType(all).clone(shape), all, op.getRelation(), isBatched ? 2 : 1);
  own = tw::transpose(b, own, isBatched ? ArrayRef<int64_t>{0, 3, 1, 2} : ArrayRef<int64_t>{2, 3, 0, 1});
  return tw::MulOp::create(b, own, tw::splat(b, op.getScale().convertToDouble(), own));
}

/// tw.attention of the op's queries, keys and values with `bias`, and where there are value vectors with the weights
/// that values are multiplied with as a further result, of type `element`.
tw::AttentionOp attention(ImplicitLocOpBuilder &b, RelationAttentionOp op, Value bias, Type element) {
  ArrayRef<int64_t> q = op.getQuery().getType().getShape(), k = op.getKey().getType().getShape();
  Type type = op.getQuery().getType().clone({q[0], q[1], q[2], op.getValue().getType().getDimSize(3)});
  OperationState state(op.getLoc(), tw::AttentionOp::getOperationName());
  tw::AttentionOp::build(b, state, type, op.getQuery(), op.getKey(), op.getValue(), op.getScale().convertToDouble());
  if (op.getValueTable())
    state.addTypes(RankedTensorType::get({q[0], q[1], q[2], k[2]}, element));
  auto attention = cast<tw::AttentionOp>(b.create(state));
  attention.setCausal(op.getCausal());
  if (bias)
    attention.getBiasMutable().assign(bias);
  if (op.getMask())
    attention.getMaskMutable().assign(op.getMask());
  return attention;
}

/// The value vectors of the relations of each query, weighed: [B, H, T, Dv].
Value valueTerm(ImplicitLocOpBuilder &b, RelationAttentionOp op, Value weights) {
  Value relation = op.getRelation();
  if (op.getRelation().getType().getRank() == 2) {
    Value like = tw::reduce(b, "sum", tw::slice(b, weights, 1, 0, 1), {1}); // [B, T, S]
    relation = tw::broadcast(b, relation, like, {1, 2});
  }
  Value table = tw::castTo(b, op.getValueTable(), tw::tensorType(weights).getElementType());
  SmallVector<int64_t> shape(tw::tensorType(relation).getShape());
  shape.push_back(tw::tensorType(table).getDimSize(1));
  Value vectors = tw::GatherOp::create(b, tw::tensorType(table).clone(shape), table, relation); // [B, T, S, Dv]
  Value perRow = tw::transpose(b, weights, {0, 2, 1, 3});                                       // [B, T, H, S]
  SmallVector<int64_t> product(tw::tensorType(perRow).getShape());
  product.back() = shape.back();
  return tw::transpose(b, tw::BatchMatmulOp::create(b, tw::tensorType(table).clone(product), perRow, vectors),
                       {0, 2, 1, 3});
}

} // namespace

FailureOr<SmallVector<Value>> RelationAttentionOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Type element = getQuery().getType().getElementType(), inner = tw::wideFloat(element);
  Value bias = getBias();
  if (getKeyTable()) {
    Value term = keyTerm(b, *this, inner);
    if (bias) {
      bias = tw::castTo(b, bias, inner);
      if (tw::tensorType(bias).getDimSize(0) == 1 && tw::tensorType(term).getDimSize(0) != 1)
        bias = tw::broadcast(b, tw::reduce(b, "sum", bias, {0}), term, {1, 2, 3});
      term = tw::AddOp::create(b, term, bias);
    }
    bias = term;
  }
  tw::AttentionOp attended = attention(b, *this, bias, inner);
  if (!getValueTable())
    return SmallVector<Value>{attended.getResult()};
  Value y =
      tw::AddOp::create(b, tw::castTo(b, attended.getResult(), inner), valueTerm(b, *this, attended.getWeights()));
  return SmallVector<Value>{tw::castTo(b, y, element)};
}

NumericsBound RelationAttentionOp::getNumericsBound(StringRef mode) {
  // Two softmax-weighted sums of products, in another order.
  bool narrow = getType().getElementTypeBitWidth() < 32;
  return {0.0, narrow ? 2e-2 : mode == "precise" ? 1e-5 : 1e-4};
}

} // namespace tilewright::position_encoding
