// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/ring_attention/RingAttention.h"

#include "ir/tw/AttentionForm.h"
#include "ir/tw/AttentionMerge.h"
#include "ir/tw/Build.h"
#include "ir/tw/Numerics.h"
#include "ir/tw/Shapes.h"

#include "plugins/ring_attention/RingAttentionDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/ring_attention/RingAttention.cpp.inc"

namespace tilewright::ring_attention {

using namespace mlir;

void RingAttentionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/ring_attention/RingAttention.cpp.inc"
      >();
}

namespace {

/// Rows or keys from `begin` to before `end`.
struct Shard {
  int64_t begin, end;
};

SmallVector<Shard> shardsOf(int64_t extent, int64_t count) {
  SmallVector<Shard> shards;
  const int64_t size = llvm::divideCeil(extent, count);
  for (int64_t begin = 0; begin < extent; begin += size)
    shards.push_back({begin, std::min(begin + size, extent)});
  return shards;
}

/// A shard of queries and what it meets.
class Ring {
public:
  Ring(AttentionOp op, OpBuilder &builder) : op(op), b(op.getLoc(), builder) {}

  SmallVector<Value> lower();

private:
  tw::PartialAttention rowsOf(Shard rows);
  tw::PartialAttention meet(Shard rows, Shard keys);
  /// The shard's rows of a mask or bias.
  Value scoreRows(Value scores, Shard rows);

  AttentionOp op;
  ImplicitLocOpBuilder b;
  int64_t batches = 0, heads = 0, queries = 0, keys = 0, valueDim = 0;
};

Value Ring::scoreRows(Value scores, Shard rows) {
  int64_t dim = tw::tensorType(scores).getRank() - 2;
  // One row is that of all.
  if (tw::tensorType(scores).getDimSize(dim) == 1)
    return scores;
  return tw::slice(b, scores, dim, rows.begin, rows.end - rows.begin);
}

tw::PartialAttention Ring::meet(Shard rows, Shard shard) {
  const int64_t count = rows.end - rows.begin;
  Type wide = tw::wideFloat(op.getType().getElementType());
  SmallVector<Type> types = {RankedTensorType::get({batches, heads, count, valueDim}, wide),
                             RankedTensorType::get({batches, heads, count}, wide)};
  tw::AttentionOp core = tw::coreAttention(op, types, op.getNumShardsAttrName());
  b.insert(core.getOperation());
  b.setInsertionPoint(core);
  core.getQueryMutable().assign(tw::slice(b, op.getQuery(), 2, rows.begin, count));
  core.getSinksMutable().clear();
  if (op.getMask())
    core.getMaskMutable().assign(scoreRows(op.getMask(), rows));
  if (op.getBias())
    core.getBiasMutable().assign(scoreRows(op.getBias(), rows));
  // Rows keep their positions, and keys theirs: the others are hidden.
  int64_t offset = rows.begin + op.getOffset().value_or(0);
  if (op.getCausal() == "end") {
    offset = rows.begin + keys - queries;
    core.setCausal("start");
  }
  core.setOffset(offset);
  auto [from, to] = tw::keyRange(b, batches, shard.begin, shard.end, op.getKvStart(), op.getKvEnd());
  core.getKvStartMutable().assign(from);
  core.getKvEndMutable().assign(to);
  b.setInsertionPointAfter(core);
  return {core.getResult(), core.getLse()};
}

tw::PartialAttention Ring::rowsOf(Shard rows) {
  SmallVector<tw::PartialAttention> parts;
  const int64_t shift = op.getCausal() == "end" ? keys - queries : op.getOffset().value_or(0);
  for (Shard shard : shardsOf(keys, op.getNumShards())) {
    // Keys of the future; a prefix may show them all the same.
    if (op.getCausal() != "none" && !op.getPrefixLen() && shard.begin > rows.end - 1 + shift && !parts.empty())
      continue;
    parts.push_back(meet(rows, shard));
  }
  return tw::mergeAttention(b, parts, op.getSinks(), /*headsFirst=*/true);
}

SmallVector<Value> Ring::lower() {
  RankedTensorType q = op.getQuery().getType(), k = cast<RankedTensorType>(op.getKey().getType());
  batches = q.getDimSize(0), heads = q.getDimSize(1), queries = q.getDimSize(2), keys = k.getDimSize(2);
  valueDim = op.getType().getShape().back();
  if (op.getNumShards() == 1 || queries == 0 || keys == 0)
    return SmallVector<Value>(
        b.insert(tw::coreAttention(op, op->getResultTypes(), op.getNumShardsAttrName()).getOperation())->getResults());
  SmallVector<Value> outs, lses;
  for (Shard rows : shardsOf(queries, op.getNumShards())) {
    tw::PartialAttention done = rowsOf(rows);
    outs.push_back(done.out);
    lses.push_back(done.lse);
  }
  auto joined = [&](ArrayRef<Value> shards, Type type) {
    Value whole = shards.size() == 1 ? shards.front() : tw::concat(b, 2, shards);
    return tw::castTo(b, whole, cast<RankedTensorType>(type).getElementType());
  };
  SmallVector<Value> results = {joined(outs, op.getType())};
  if (Value lse = op.getLse())
    results.push_back(joined(lses, lse.getType()));
  return results;
}

} // namespace

LogicalResult AttentionOp::verify() {
  // (C1) One set of rules: the core op's.
  if (failed(OwningOpRef<tw::AttentionOp>(tw::coreAttention(*this, getResultTypes(), getNumShardsAttrName()))
                 ->verifyInvariants()))
    return failure();
  if (static_cast<int64_t>(getNumShards()) < 1) // (C2)
    return emitOpError("num_shards is ") << static_cast<int64_t>(getNumShards()) << ", wanted at least 1";
  if (getState() || getCuSeqlensQ() || getLayout() != "bhtd" || getWeights()) // (C3)
    return emitOpError(
        "wants the dense form in the layout bhtd, without cu_seqlens_q and without the weights as a result");
  RankedTensorType q = getQuery().getType(), k = cast<RankedTensorType>(getKey().getType());
  if (getNumShards() > 1 && (q.isDynamicDim(0) || q.isDynamicDim(2) || k.isDynamicDim(2))) // (C4)
    return emitOpError("cuts a query of shape ") << tw::shapeText(q.getShape()) << " and a key of shape "
                                                 << tw::shapeText(k.getShape()) << ", wanted static B, T and S";
  return success();
}

FailureOr<SmallVector<Value>> AttentionOp::lowerToReference(OpBuilder &builder) { return Ring(*this, builder).lower(); }

NumericsBound AttentionOp::getNumericsBound(StringRef mode) {
  return attentionBound(getQuery().getType(), mode); // each part is rounded once more
}

} // namespace tilewright::ring_attention
