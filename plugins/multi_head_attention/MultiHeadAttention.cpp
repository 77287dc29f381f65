// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/multi_head_attention/MultiHeadAttention.h"

#include "ir/tw/Layers.h"

#include <cmath>

#include "plugins/multi_head_attention/MultiHeadAttentionDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/multi_head_attention/MultiHeadAttention.cpp.inc"

namespace tilewright::multi_head_attention {

using namespace mlir;

void MultiHeadAttentionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/multi_head_attention/MultiHeadAttention.cpp.inc"
      >();
}

namespace {
RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// [B, T, E] with at most one dynamic dimension among B and T, so that heads can be split off.
template <typename Op> LogicalResult checkSequence(Op op, StringRef name, Value value) {
  RankedTensorType type = typeOf(value);
  if (type.getRank() != 3 || type.isDynamicDim(2) || (type.isDynamicDim(0) && type.isDynamicDim(1))) // (C1)
    return op.emitOpError("wants ") << name << " [B, T, E] with E and one of B, T static, found " << type;
  return success();
}

template <typename Op>
LogicalResult checkWeight(Op op, StringRef name, Value weight, int64_t rowMultiple, int64_t columns) {
  RankedTensorType type = typeOf(weight);
  if (type.getRank() != 2 || !type.hasStaticShape() || type.getDimSize(1) != columns || type.getDimSize(0) < 1 ||
      type.getDimSize(0) % rowMultiple != 0) // (C3)
    return op.emitOpError("wants a ") << name << " weight of a multiple of " << rowMultiple << " rows by " << columns
                                      << ", found " << type;
  return success();
}

template <typename Op> LogicalResult checkBias(Op op, StringRef name, Value bias, Value weight) {
  if (!bias)
    return success();
  if (!weight || typeOf(bias).getRank() != 1 || typeOf(bias).getDimSize(0) != typeOf(weight).getDimSize(0)) // (C4)
    return op.emitOpError("wants a ") << name << " bias with as many elements as its weight has rows, found "
                                      << typeOf(bias);
  return success();
}

/// `width`: of a head.
template <typename Op> LogicalResult checkHeadNorms(Op op, int64_t width) { // (C8)
  StringRef kind = op.getQkNorm();
  for (auto [name, parameter, needsLayer] : {std::tuple("query norm weight", op.getQueryNormWeight(), false),
                                             {"query norm bias", op.getQueryNormBias(), true},
                                             {"key norm weight", op.getKeyNormWeight(), false},
                                             {"key norm bias", op.getKeyNormBias(), true}}) {
    if (!parameter)
      continue;
    if (kind == "none" || (needsLayer && kind != "layer"))
      return op.emitOpError("has a ") << name << ", which qk_norm \"" << kind << "\" does not take";
    if (typeOf(parameter).getRank() != 1 || typeOf(parameter).getDimSize(0) != width)
      return op.emitOpError("wants a ") << name << " of shape [" << width << "], found " << typeOf(parameter);
  }
  std::optional<APFloat> epsilon = op.getQkNormEpsilon();
  if (kind == "none" && epsilon)
    return op.emitOpError("has a qk_norm_epsilon and no qk_norm");
  if (kind != "none" && !(epsilon && epsilon->isFinite() && !epsilon->isNegative()))
    return op.emitOpError("wants a finite qk_norm_epsilon of at least 0");
  return success();
}

/// Keys and values come from `source`.
template <typename Op> LogicalResult checkModule(Op op, Value source) {
  if (failed(checkSequence(op, "an input", op.getInput())) || failed(checkSequence(op, "a source", source)))
    return failure();
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  if (kvHeads < 1 || heads < 1 || heads % kvHeads != 0) // (C2)
    return op.emitOpError("wants heads to be a multiple of kv_heads, both at least 1, found ")
           << heads << " and " << kvHeads;
  if (failed(checkWeight(op, "query", op.getQueryWeight(), heads, typeOf(op.getInput()).getDimSize(2))) ||
      failed(checkWeight(op, "key", op.getKeyWeight(), kvHeads, typeOf(source).getDimSize(2))) ||
      failed(checkWeight(op, "value", op.getValueWeight(), kvHeads, typeOf(source).getDimSize(2))))
    return failure();
  int64_t width = typeOf(op.getQueryWeight()).getDimSize(0) / heads;
  if (typeOf(op.getKeyWeight()).getDimSize(0) / kvHeads != width) // (C3)
    return op.emitOpError("has query heads of width ")
           << width << " and key heads of width " << typeOf(op.getKeyWeight()).getDimSize(0) / kvHeads
           << ", wanted equal ones";
  if (failed(checkHeadNorms(op, width)))
    return failure();
  int64_t joined = typeOf(op.getValueWeight()).getDimSize(0) / kvHeads * heads;
  if (op.getOutputWeight() && failed(checkWeight(op, "output", op.getOutputWeight(), 1, joined)))
    return failure();
  if (failed(checkBias(op, "query", op.getQueryBias(), op.getQueryWeight())) ||
      failed(checkBias(op, "key", op.getKeyBias(), op.getKeyWeight())) ||
      failed(checkBias(op, "value", op.getValueBias(), op.getValueWeight())) ||
      failed(checkBias(op, "output", op.getOutputBias(), op.getOutputWeight())))
    return failure();
  RankedTensorType input = typeOf(op.getInput()), result = op.getType();
  auto wanted = input.clone({input.getDimSize(0), input.getDimSize(1),
                             op.getOutputWeight() ? typeOf(op.getOutputWeight()).getDimSize(0) : joined});
  if (result != wanted) // (C5)
    return op.emitOpError("has result ") << result << ", wanted " << wanted;
  if (op.getScale() && !op.getScale()->isFinite()) // (C6)
    return op.emitOpError("wants a finite scale");
  if (Value mask = op.getMask()) { // (C7); tw.attention compares the rest when this op is lowered
    int64_t rank = typeOf(mask).getRank();
    if (rank < 2 || rank > 4)
      return op.emitOpError("wants a mask of rank 2 to 4, found ") << typeOf(mask);
  }
  return success();
}

/// linear, split into heads, attention, join, linear.
template <typename Op> Value lower(Op op, Value source, StringRef causal, OpBuilder &builder) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  Value q = tw::splitHeads(b, tw::linear(b, op.getInput(), op.getQueryWeight(), op.getQueryBias()), heads);
  Value k = tw::splitHeads(b, tw::linear(b, source, op.getKeyWeight(), op.getKeyBias()), kvHeads);
  Value v = tw::splitHeads(b, tw::linear(b, source, op.getValueWeight(), op.getValueBias()), kvHeads);
  if (op.getQkNorm() != "none") {
    double epsilon = op.getQkNormEpsilon()->convertToDouble();
    auto norm = [&](Value x, Value weight, Value bias) {
      return op.getQkNorm() == "rms" ? tw::rmsNorm(b, x, weight, epsilon) : tw::layerNorm(b, x, weight, bias, epsilon);
    };
    q = norm(q, op.getQueryNormWeight(), op.getQueryNormBias());
    k = norm(k, op.getKeyNormWeight(), op.getKeyNormBias());
  }
  double scale = op.getScale() ? op.getScale()->convertToDouble() : 1 / std::sqrt(double(typeOf(q).getDimSize(3)));
  Value joined = tw::joinHeads(b, tw::attention(b, q, k, v, {.mask = op.getMask(), .scale = scale, .causal = causal}));
  return op.getOutputWeight() ? tw::linear(b, joined, op.getOutputWeight(), op.getOutputBias()) : joined;
}
} // namespace

LogicalResult SelfAttentionOp::verify() { return checkModule(*this, getInput()); }

LogicalResult CrossAttentionOp::verify() {
  if (failed(checkModule(*this, getSource())))
    return failure();
  if (typeOf(getSource()).getDimSize(0) != typeOf(getInput()).getDimSize(0)) // (C1)
    return emitOpError("wants input and source of one batch size, found ")
           << typeOf(getInput()) << " and " << typeOf(getSource());
  return success();
}

FailureOr<SmallVector<Value>> SelfAttentionOp::lowerToReference(OpBuilder &builder) {
  return SmallVector<Value>{lower(*this, getInput(), getCausal(), builder)};
}

FailureOr<SmallVector<Value>> CrossAttentionOp::lowerToReference(OpBuilder &builder) {
  return SmallVector<Value>{lower(*this, getSource(), "none", builder)};
}

} // namespace tilewright::multi_head_attention
