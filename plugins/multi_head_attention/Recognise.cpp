// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/multi_head_attention/MultiHeadAttention.h"

#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"

#include <cmath>

namespace tilewright::multi_head_attention {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "multi-head-attention-recognise";
constexpr double hiddenFill = -1e4; // anything at or below hides a key

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// What was collected on the way from the softmax down to Q K^T.
struct Scores {
  Value query, key; ///< [B, H, T, D], [B, Hkv, S, D]
  Value mask, bias;
  double scale = 1;
  std::optional<double> softcap;
  bool finiteFill = false;
  std::string fault;
};

/// `value` without a broadcast along leading dimensions: attention repeats masks and biases itself.
Value withoutLeadingBroadcast(Value value) {
  auto broadcast = value.getDefiningOp<tw::BroadcastOp>();
  if (!broadcast)
    return value;
  ArrayRef<int64_t> dims = broadcast.getDims();
  int64_t rank = broadcast.getType().getRank(), count = dims.size();
  for (int64_t i = 0; i < count; ++i)
    if (dims[i] != rank - count + i)
      return value;
  return count >= 2 ? broadcast.getInput() : value;
}

/// The other factor, when `value` is a product with (or quotient by) a constant.
Value stripScale(Value value, double &scale) {
  if (auto mul = value.getDefiningOp<tw::MulOp>()) {
    for (auto [x, factor] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (auto constant = tw::splatConstant(factor)) {
        scale *= *constant;
        return x;
      }
  }
  if (auto div = value.getDefiningOp<tw::DivOp>())
    if (auto constant = tw::splatConstant(div.getRhs()); constant && *constant != 0) {
      scale /= *constant;
      return div.getLhs();
    }
  return value;
}

/// Walks from the softmax's input to the product of queries and keys.
Scores matchScores(Value scores) {
  Scores found;
  auto fault = [&](const Twine &reason) {
    found.fault = reason.str();
    return found;
  };
  if (auto select = scores.getDefiningOp<tw::SelectOp>()) {
    auto fill = tw::splatConstant(select.getOnFalse());
    if (!fill)
      return fault("masked scores are not a constant");
    if (*fill > hiddenFill)
      return fault("masked scores are " + std::to_string(*fill) + ", which does not hide a key");
    found.finiteFill = std::isfinite(*fill) && *fill > -3e38;
    found.mask = withoutLeadingBroadcast(select.getCondition());
    scores = select.getOnTrue();
  }
  if (auto add = scores.getDefiningOp<tw::AddOp>()) {
    // The bias is the summand that is not made of scores.
    auto isScore = [](Value value) {
      double ignored = 1;
      Value inner = stripScale(value, ignored);
      return inner.getDefiningOp<tw::BatchMatmulOp>() || inner.getDefiningOp<tw::TanhOp>();
    };
    if (isScore(add.getLhs()) == isScore(add.getRhs()))
      return fault("the sum in front of the softmax is not scores plus a bias");
    bool scoresLeft = isScore(add.getLhs());
    found.bias = withoutLeadingBroadcast(scoresLeft ? add.getRhs() : add.getLhs());
    scores = scoresLeft ? add.getLhs() : add.getRhs();
  }
  double outer = 1;
  scores = stripScale(scores, outer);
  if (auto tanh = scores.getDefiningOp<tw::TanhOp>()) {
    // c * tanh(s / c): the inner factor is scale / c.
    if (outer <= 0)
      return fault("the factor of tanh is " + std::to_string(outer) + ", wanted a positive soft-cap");
    found.softcap = outer;
    found.scale = outer;
    scores = stripScale(tanh.getInput(), found.scale);
    scores = stripScale(scores, found.scale);
  } else {
    found.scale = outer;
  }
  auto product = scores.getDefiningOp<tw::BatchMatmulOp>();
  if (!product)
    return fault("the softmax's input is no product of queries and keys");
  found.query = stripScale(product.getLhs(), found.scale);
  Value key = stripScale(product.getRhs(), found.scale);
  if (!product.getTransposeB()) {
    auto transpose = key.getDefiningOp<tw::TransposeOp>();
    ArrayRef<int64_t> perm = transpose ? transpose.getPerm() : ArrayRef<int64_t>();
    if (perm == ArrayRef<int64_t>{0, 1, 3, 2}) {
      key = transpose.getInput();
    } else if (perm == ArrayRef<int64_t>{0, 2, 3, 1}) { // from [B, S, H, D] at once
      OpBuilder builder(transpose);
      ImplicitLocOpBuilder b(transpose.getLoc(), builder);
      key = tw::transpose(b, transpose.getInput(), {0, 2, 1, 3});
    } else {
      return fault("keys are not transposed in their last two dimensions");
    }
  }
  found.key = key;
  if (typeOf(found.query).getRank() != 4)
    return fault("queries have rank " + std::to_string(typeOf(found.query).getRank()) + ", wanted [B, H, T, D]");
  return found;
}

class Recognise : public PassWrapper<Recognise, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Recognise)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Raises softmax(Q K^T) V written in tw ops to tw.attention"; }

  void runOnOperation() final {
    SmallVector<tw::SoftmaxOp> candidates;
    getOperation()->walk([&](tw::SoftmaxOp op) { candidates.push_back(op); });
    for (tw::SoftmaxOp softmax : candidates)
      raise(softmax);
  }

private:
  static void raise(tw::SoftmaxOp softmax) {
    auto missed = [&](const Twine &reason) { receipt::missed(softmax, passFlag, "attention", reason); };
    int64_t rank = softmax.getType().getRank();
    if (int64_t(softmax.getDim()) != rank - 1)
      return missed("the softmax is over dimension " + Twine(softmax.getDim()) + ", wanted the last one");
    if (!softmax->hasOneUse())
      return missed("the softmax has " + Twine(std::distance(softmax->use_begin(), softmax->use_end())) +
                    " uses, wanted one: the weights themselves are asked for");
    auto product = dyn_cast<tw::BatchMatmulOp>(*softmax->getUsers().begin());
    if (!product || product.getLhs() != softmax.getResult())
      return missed("the softmax is not multiplied with values");
    Scores scores = matchScores(softmax.getInput());
    if (!scores.fault.empty())
      return missed(scores.fault);

    OpBuilder builder(product);
    ImplicitLocOpBuilder b(product.getLoc(), builder);
    Value values = product.getRhs();
    if (product.getTransposeB())
      values = tw::transpose(b, values, {0, 1, 3, 2});
    int64_t heads = typeOf(scores.query).getDimSize(1);
    if (ShapedType::isDynamic(heads) || typeOf(scores.key).getDimSize(1) != heads || typeOf(values).getDimSize(1) != heads)
      return missed("queries, keys and values do not have one static number of heads");
    for (Value operand : {scores.mask, scores.bias}) {
      if (!operand)
        continue;
      int64_t operandRank = typeOf(operand).getRank();
      if (operandRank < 2 || operandRank > 4)
        return missed("mask or bias has rank " + Twine(operandRank) + ", wanted 2 to 4");
    }
    std::string what = "raised to tw.attention with scale " + llvm::formatv("{0}", scores.scale).str();
    if (scores.finiteFill)
      what += "; rows whose keys are all masked now give 0 instead of the mean of the values";
    receipt::done(product, passFlag, "attention", what);
    auto attention = tw::AttentionOp::create(
        b, product.getType(), scores.query, scores.key, values, Value(), Value(), Value(), Value(), scores.mask,
        scores.bias, Value(), b.getF64FloatAttr(scores.scale), b.getStringAttr("none"), IntegerAttr(),
        scores.softcap ? b.getF64FloatAttr(*scores.softcap) : FloatAttr());
    product.getResult().replaceAllUsesWith(attention.getResult());
    tw::eraseDead(product);
  }
};
} // namespace

std::unique_ptr<Pass> createRecognise() { return std::make_unique<Recognise>(); }

} // namespace tilewright::multi_head_attention
