// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DifferentialAttention.h"

#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"

namespace tilewright::differential_attention {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "differential-attention-recognise";
constexpr llvm::StringLiteral receiptKind = "attention";

/// The other factor of a product with `value`.
Value otherFactor(tw::MulOp mul, Value value) {
  if (mul.getLhs() == value)
    return mul.getRhs();
  return mul.getRhs() == value ? mul.getLhs() : Value();
}

/// The input of a broadcast along exactly `dims`.
Value broadcastAlong(Value value, ArrayRef<int64_t> dims) {
  auto broadcast = value.getDefiningOp<tw::BroadcastOp>();
  return broadcast && broadcast.getDims() == dims ? broadcast.getInput() : Value();
}

/// The epsilon, if `factor` is 1 / sqrt(mean(z * z) + epsilon) in every element.
std::optional<double> matchNorm(Value factor, Value z) {
  int64_t last = tw::tensorType(z).getRank() - 1;
  Value inverse = broadcastAlong(factor, llvm::to_vector(llvm::seq<int64_t>(0, last)));
  auto root = inverse ? inverse.getDefiningOp<tw::RsqrtOp>() : nullptr;
  auto sum = root ? root.getInput().getDefiningOp<tw::AddOp>() : nullptr;
  if (!sum)
    return std::nullopt;
  for (auto [mean, epsilon] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    auto reduce = mean.getDefiningOp<tw::ReduceOp>();
    if (!reduce || reduce.getKind() != "mean" || reduce.getDims() != ArrayRef<int64_t>{last})
      continue;
    auto square = reduce.getInput().getDefiningOp<tw::MulOp>();
    if (square && square.getLhs() == z && square.getRhs() == z)
      return tw::splatConstant(epsilon);
  }
  return std::nullopt;
}

/// The only user of `value`, if it is a product; broadcasts that take no more than its shape do not count.
tw::MulOp onlyProduct(Value value) {
  tw::MulOp product;
  for (Operation *user : value.getUsers()) {
    if (auto broadcast = dyn_cast<tw::BroadcastOp>(user); broadcast && broadcast.getInput() != value)
      continue;
    if (product || !isa<tw::MulOp>(user))
      return nullptr;
    product = cast<tw::MulOp>(user);
  }
  return product;
}

class Recognise : public PassWrapper<Recognise, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Recognise)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final {
    return "Raises the normalised difference of two attentions to differential_attention.combine";
  }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<DifferentialAttentionDialect>(); }

  void runOnOperation() final {
    SmallVector<tw::SubOp> differences;
    getOperation()->walk([&](tw::SubOp op) { differences.push_back(op); });
    for (tw::SubOp op : differences)
      raise(op);
  }

private:
  /// A candidate is an attention minus another one times something.
  static void raise(tw::SubOp sub) {
    Value positive = sub.getLhs(), negative, factor, z = sub.getResult();
    if (auto mul = sub.getRhs().getDefiningOp<tw::MulOp>())
      for (Value side : {mul.getLhs(), mul.getRhs()})
        if (side.getDefiningOp<tw::AttentionOp>())
          negative = side, factor = otherFactor(mul, side);
    if (!negative || !positive.getDefiningOp<tw::AttentionOp>())
      return;
    auto missed = [&](const Twine &reason) {
      receipt::missed(sub, passFlag, receiptKind, reason,
                      "write differential_attention.combine, or the difference and the norm of each head in this form");
    };

    Value lambda = broadcastAlong(factor, {1});
    std::optional<double> number = tw::splatConstant(factor);
    if (!lambda && !number)
      return missed(
          "the factor of the second attention is not one number for each head (a broadcast along dimension 1)");
    tw::MulOp end;
    std::optional<double> epsilon;
    for (Operation *user : z.getUsers())
      if (auto mul = dyn_cast<tw::MulOp>(user); mul && !epsilon && (epsilon = matchNorm(otherFactor(mul, z), z)))
        end = mul;
    if (!end)
      return missed("no root-mean-square norm of each head follows the difference");

    // A weight and a scale, in any order, as far as nobody else wants what lies between.
    Value weight;
    double scale = 1;
    while (tw::MulOp next = onlyProduct(end.getResult())) {
      Value other = otherFactor(next, end.getResult());
      if (std::optional<double> constant = tw::splatConstant(other))
        scale *= *constant;
      else if (Value vector = broadcastAlong(other, {sub.getType().getRank() - 1}); vector && !weight)
        weight = vector;
      else
        break;
      end = next;
    }

    receipt::done(end, passFlag, receiptKind, "raised to differential_attention.combine");
    OpBuilder builder(end);
    ImplicitLocOpBuilder b(end.getLoc(), builder);
    if (!lambda) {
      auto type = RankedTensorType::get({sub.getType().getDimSize(1)}, sub.getType().getElementType());
      lambda = tw::ConstantOp::create(b, DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), *number)));
    }
    auto combine = CombineOp::create(b, sub.getType(), positive, negative, lambda, weight, b.getF64FloatAttr(*epsilon),
                                     b.getF64FloatAttr(scale));
    end.getResult().replaceAllUsesWith(combine.getResult());
    tw::eraseDead(end);
  }
};
} // namespace

std::unique_ptr<Pass> createRecognise() { return std::make_unique<Recognise>(); }

} // namespace tilewright::differential_attention
