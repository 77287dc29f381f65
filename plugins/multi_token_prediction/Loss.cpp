// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// multi_token_prediction.loss.
#include "plugins/multi_token_prediction/MultiTokenPrediction.h"

#include "ir/tw/Build.h"

#include <limits>

namespace tilewright::multi_token_prediction {

using namespace mlir;

namespace {

/// f32 counts this far; labels and places are computed in it.
constexpr int64_t exactLimit = int64_t{1} << 24;

/// What loss and gradient have in common, in f32 or wider.
class LossBuilder {
public:
  LossBuilder(OpBuilder &builder, LossOp op)
      : b(op.getLoc(), builder), op(op), wide(cast<RankedTensorType>(op.getLoss().getType()).getElementType()),
        logits(tw::castTo(b, op.getLogits(), wide)) {
    Value largest = tw::reduce(b, "max", logits, {3}); // [n, B, T]
    target = targets(largest);
    counts = compare("ne", target, number(op.getIgnoreIndex(), target));
    counted = tw::reduce(b, "sum", whereCounted(number(1, target)), {1, 2}); // [n]
    below = tw::SubOp::create(b, logits, perPlace(largest));
    exponentials = tw::ExpOp::create(b, below);
    sum = tw::reduce(b, "sum", exponentials, {3}); // [n, B, T]
    isTarget = compare("eq", places(logits, 3), perPlace(target));
  }

  /// loss [] and per_head [n].
  SmallVector<Value> losses() {
    Value sums = tw::reduce(b, "sum", whereCounted(negativeLogLikelihood()), {1, 2}); // [n]
    Value perHead = mean(sums, counted);
    Value loss = op.getPooled() ? mean(tw::reduce(b, "sum", sums, {0}), all()) : tw::reduce(b, "mean", perHead, {0});
    return {loss, perHead};
  }

  /// (softmax(y) - one at the label), by what a place of head i weighs: its part of the head's mean, or of the pooled
  /// one.
  Value gradient(Value ofLoss, Value ofHeads) {
    Value repeated = tw::broadcast(b, ofLoss, counted, {}); // [n]
    Value n = number(tw::tensorType(logits).getDimSize(0), counted);
    Value weight = op.getPooled() ? tw::AddOp::create(b, mean(repeated, tw::broadcast(b, all(), counted, {})),
                                                      mean(ofHeads, counted))
                                        .getResult()
                                  : mean(tw::AddOp::create(b, tw::DivOp::create(b, repeated, n), ofHeads), counted);
    Value place = whereCounted(tw::broadcast(b, weight, target, {0})); // [n, B, T]
    Value softmax = tw::DivOp::create(b, exponentials, perPlace(sum));
    Value one = tw::SelectOp::create(b, isTarget, number(1, logits), number(0, logits));
    Value dy = tw::MulOp::create(b, tw::SubOp::create(b, softmax, one), perPlace(place));
    return tw::castTo(b, dy, op.getLogits().getType().getElementType());
  }

private:
  Value number(double value, Value like) { return tw::splat(b, value, like); }
  Value compare(StringRef kind, Value lhs, Value rhs) {
    return tw::CompareOp::create(b, tw::tensorType(lhs).clone(b.getI1Type()), kind, lhs, rhs);
  }
  Value places(Value like, int64_t dim) {
    return tw::castTo(b, tw::IotaOp::create(b, tw::tensorType(like).clone(b.getI32Type()), like, dim), wide);
  }
  /// [n, B, T] for each logit.
  Value perPlace(Value x) { return tw::broadcast(b, x, logits, {0, 1, 2}); }
  Value whereCounted(Value x) { return tw::SelectOp::create(b, counts, x, number(0, x)); }
  /// sum / count, 0 where nothing counts.
  Value mean(Value total, Value count) {
    return tw::DivOp::create(b, total, tw::MaximumOp::create(b, count, number(1, count)));
  }
  /// Places of all heads that count, [].
  Value all() { return tw::reduce(b, "sum", counted, {0}); }

  /// labels[b, t+1+i] in place [i, b, t], as floats; past the end they are ignored. `like` is [n, B, T].
  Value targets(Value like) {
    Value ends = tw::transpose(b, tw::reduce(b, "sum", like, {2}), {1, 0}); // [B, n]
    Value labels = tw::concat(b, 1, {tw::castTo(b, op.getLabels(), wide), number(op.getIgnoreIndex(), ends)});
    like = tw::transpose(b, like, {1, 0, 2}); // [B, n, T]
    Value at = tw::AddOp::create(b, tw::AddOp::create(b, places(like, 1), places(like, 2)), number(1, like));
    Value shifted = tw::GatherOp::create(b, like.getType(), labels, tw::castTo(b, at, b.getI32Type()), 1);
    return tw::transpose(b, shifted, {1, 0, 2});
  }

  /// log(sum_v exp(y)) - y[target], [n, B, T]; NaN where no v is the target.
  Value negativeLogLikelihood() {
    Value chosen = tw::reduce(b, "sum", tw::SelectOp::create(b, isTarget, below, number(0, logits)), {3});
    Value nll = tw::SubOp::create(b, tw::LogOp::create(b, sum), chosen);
    Value vocabulary = number(tw::tensorType(logits).getDimSize(3), target);
    Value notBelow = compare("ge", target, number(0, target)), notAbove = compare("lt", target, vocabulary);
    Value nan = number(std::numeric_limits<double>::quiet_NaN(), target);
    return tw::SelectOp::create(b, notBelow, tw::SelectOp::create(b, notAbove, nll, nan), nan);
  }

  ImplicitLocOpBuilder b;
  LossOp op;
  Type wide;
  Value logits;       ///< [n, B, T, V]
  Value target;       ///< [n, B, T]
  Value counts;       ///< [n, B, T], i1
  Value counted;      ///< [n]
  Value below;        ///< logits less their largest
  Value exponentials; ///< of that
  Value sum;          ///< of those, [n, B, T]
  Value isTarget;     ///< [n, B, T, V], i1
};

} // namespace

LogicalResult LossOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto logits = dyn_cast<RankedTensorType>(adaptor.getLogits().getType());
  if (!logits || logits.getRank() != 4)
    return failure();
  Type element = logits.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(context);
  types.push_back(RankedTensorType::get({}, element));
  types.push_back(RankedTensorType::get({logits.getDimSize(0)}, element));
  return success();
}

LogicalResult LossOp::verify() {
  RankedTensorType logits = getLogits().getType(), labels = getLabels().getType();
  if (logits.getRank() != 4 || logits.isDynamicDim(0) || logits.isDynamicDim(3) || logits.getDimSize(0) < 1 ||
      logits.getDimSize(3) < 1 || labels.getShape() != logits.getShape().slice(1, 2)) // (C1)
    return emitOpError("wants logits [n, B, T, V] and labels [B, T], n and V static and at least 1, found ")
           << logits << " and " << labels;
  int64_t vocabulary = logits.getDimSize(3), ignored = getIgnoreIndex();
  if (vocabulary > exactLimit) // (C2)
    return emitOpError("wants at most ") << exactLimit << " logits a place, found " << vocabulary;
  if (ignored < -exactLimit || ignored > exactLimit)
    return emitOpError("wants an ignore_index from ") << -exactLimit << " to " << exactLimit << ", found " << ignored;
  return success();
}

FailureOr<SmallVector<Value>> LossOp::lowerToReference(OpBuilder &builder) {
  return LossBuilder(builder, *this).losses();
}

FailureOr<SmallVector<Value>> LossOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  return SmallVector<Value>{LossBuilder(builder, *this).gradient(gradients[0], gradients[1]), Value()};
}

NumericsBound LossOp::getNumericsBound(StringRef mode) {
  // Sums of exponentials and of rows in another order.
  return {0.0, mode == "precise" ? 1e-5 : 1e-4};
}

} // namespace tilewright::multi_token_prediction
