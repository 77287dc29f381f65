// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/rms_norm/RmsNorm.h"

#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"

#include <cmath>

namespace tilewright::rms_norm {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "rms-norm-recognise";
constexpr llvm::StringLiteral receiptKind = "norm";

/// One number for each row, without what repeats it along the row or keeps a dimension of size 1 in its place.
Value withoutRepeat(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    RankedTensorType to = tw::tensorType(value);
    if (auto broadcast = dyn_cast<tw::BroadcastOp>(op)) {
      if (!llvm::equal(broadcast.getDims(), llvm::seq<int64_t>(0, to.getRank() - 1)))
        break;
    } else if (auto reshape = dyn_cast<tw::ReshapeOp>(op)) {
      ArrayRef<int64_t> shape = to.getShape(), from = tw::tensorType(reshape.getInput()).getShape();
      bool adds = !shape.empty() && shape.back() == 1 && shape.drop_back() == from;
      if (!adds && !(!from.empty() && from.back() == 1 && from.drop_back() == shape))
        break;
    } else {
      break;
    }
    value = op->getOperand(0);
  }
  return value;
}

/// The other operand of a sum or product with a constant, and the constant.
template <typename Op> std::pair<Value, double> withConstant(Value value) {
  auto op = value.getDefiningOp<Op>();
  if (!op)
    return {};
  if (auto constant = tw::splatConstant(op.getRhs()))
    return {op.getLhs(), *constant};
  if (auto constant = tw::splatConstant(op.getLhs()))
    return {op.getRhs(), *constant};
  return {};
}

/// A row's mean: of what, or almost one, with the first condition that failed.
struct Mean {
  Value of;
  std::string fault;
};

Mean matchMean(Value value) {
  value = withoutRepeat(value);
  double factor = 1;
  if (auto [inner, constant] = withConstant<tw::MulOp>(value); inner)
    value = withoutRepeat(inner), factor = constant;
  else if (auto div = value.getDefiningOp<tw::DivOp>())
    if (auto divisor = tw::splatConstant(div.getRhs()); divisor && *divisor != 0)
      value = withoutRepeat(div.getLhs()), factor = 1 / *divisor;
  auto reduce = value.getDefiningOp<tw::ReduceOp>();
  if (!reduce || (reduce.getKind() != "mean" && reduce.getKind() != "sum"))
    return {};
  RankedTensorType type = tw::tensorType(reduce.getInput());
  const int64_t last = type.getRank() - 1;
  if (reduce.getDims() != ArrayRef<int64_t>{last})
    return {reduce.getInput(), "the mean is not over the last dimension alone"};
  if (type.isDynamicDim(last))
    return {reduce.getInput(), "the length of a row is not known"};
  const double wanted = reduce.getKind() == "mean" ? 1 : 1.0 / type.getDimSize(last);
  if (std::abs(factor - wanted) > 1e-6 * wanted)
    return {reduce.getInput(),
            "a row's sum is multiplied by " + std::to_string(factor) + ", wanted " + std::to_string(wanted)};
  return {reduce.getInput(), ""};
}

/// sqrt(mean(d^2) + epsilon), or sqrt(mean(d^2)) + epsilon, of each row.
struct Root {
  Value of; ///< d; null where the value is no such root
  double epsilon = 0;
  bool outside = false;
  std::string fault;
};

/// The root's square is `value`.
Root matchSquare(Value value, double outside) {
  Root root{{}, outside, outside != 0, ""};
  value = withoutRepeat(value);
  if (auto [inner, constant] = withConstant<tw::AddOp>(value); inner && !root.outside)
    value = inner, root.epsilon = constant;
  Mean mean = matchMean(value);
  auto square = mean.of ? mean.of.getDefiningOp<tw::MulOp>() : tw::MulOp();
  if (!square || square.getLhs() != square.getRhs())
    return {};
  root.of = square.getLhs();
  root.fault = mean.fault;
  if (root.fault.empty() && !(root.epsilon >= 0 && std::isfinite(root.epsilon)))
    root.fault = "epsilon is " + std::to_string(root.epsilon);
  return root;
}

Root matchRoot(Value value) {
  value = withoutRepeat(value);
  double outside = 0;
  if (auto [inner, constant] = withConstant<tw::AddOp>(value); inner)
    value = withoutRepeat(inner), outside = constant;
  auto sqrt = value.getDefiningOp<tw::SqrtOp>();
  return sqrt ? matchSquare(sqrt.getInput(), outside) : Root();
}

Root matchInverseRoot(Value value) {
  value = withoutRepeat(value);
  if (auto rsqrt = value.getDefiningOp<tw::RsqrtOp>())
    return matchSquare(rsqrt.getInput(), 0);
  if (auto div = value.getDefiningOp<tw::DivOp>(); div && tw::splatConstant(div.getLhs()) == 1.0)
    return matchRoot(div.getRhs());
  return {};
}

/// A vector [E] that is repeated in every row.
Value vectorOf(Value value) {
  auto broadcast = value.getDefiningOp<tw::BroadcastOp>();
  const int64_t last = tw::tensorType(value).getRank() - 1;
  bool repeats = broadcast && broadcast.getDims() == ArrayRef<int64_t>{last};
  return repeats ? broadcast.getInput() : Value();
}

/// A norm while it grows over what stands behind it.
class Norm {
public:
  Norm(Operation *normalised, Value input, Root root) : end(normalised), input(input), root(std::move(root)) {
    auto sub = input.getDefiningOp<tw::SubOp>();
    Mean mean = sub ? matchMean(sub.getRhs()) : Mean();
    layer = sub && !this->root.outside && mean.of == sub.getLhs() && mean.fault.empty();
    if (layer)
      this->input = sub.getLhs();
  }

  void grow() {
    do
      releaseShape();
    while (end->hasOneUse() && growOver(*end->user_begin()));
  }

  /// Adds to `gone` what is erased.
  void raise(llvm::DenseSet<Operation *> &gone) {
    receipt::done(end, passFlag, receiptKind, "raised to rms_norm." + Twine(layer ? "layer_norm" : "norm"));
    OpBuilder b(end);
    Value from = narrow ? input.getDefiningOp<tw::CastOp>().getInput() : input, norm;
    if (layer)
      norm = LayerNormOp::create(b, end->getLoc(), from.getType(), from, weight, bias, APFloat(root.epsilon));
    else
      norm = NormOp::create(b, end->getLoc(), from.getType(), from, weight, bias, APFloat(root.epsilon), unitOffset,
                            root.outside);
    end->getResult(0).replaceAllUsesWith(norm);
    llvm::DenseSet<Operation *> erased = tw::eraseDead(end);
    gone.insert(erased.begin(), erased.end());
  }

private:
  /// What takes only the shape of the value takes the input's, which is the same.
  void releaseShape() {
    end->getResult(0).replaceUsesWithIf(input, [](OpOperand &use) {
      return (isa<tw::BroadcastOp>(use.getOwner()) && use.getOperandNumber() == 1) || isa<tw::IotaOp>(use.getOwner());
    });
  }

  bool growOver(Operation *user) {
    // A layer norm rounds once, behind its parameters; rms_norm.norm says where it rounds (RmsNorm.td).
    if (auto cast = dyn_cast<tw::CastOp>(user)) {
      auto widened = input.getDefiningOp<tw::CastOp>();
      Type from = widened ? tw::tensorType(widened.getInput()).getElementType() : Type();
      if (narrow || !from || from != cast.getType().getElementType() || from.getIntOrFloatBitWidth() >= 32 ||
          !isa<FloatType>(from) || (!layer && (bias || (weight && !unitOffset))))
        return false;
      narrow = true;
      end = user;
      return true;
    }
    if (!isa<tw::MulOp, tw::AddOp>(user) || (layer && narrow) || bias)
      return false;
    Value vector = vectorOf(user->getOperand(user->getOperand(0) == end->getResult(0) ? 1 : 0));
    if (!vector || (isa<tw::MulOp>(user) && weight))
      return false;
    (isa<tw::MulOp>(user) ? weight : bias) = vector;
    if (auto [g, one] = withConstant<tw::AddOp>(vector); weight == vector && g && one == 1 && !layer && !narrow)
      weight = g, unitOffset = true;
    end = user;
    return true;
  }

  Operation *end; ///< the last op of the norm
  Value input, weight, bias;
  Root root;
  bool layer, unitOffset = false;
  bool narrow = false; ///< the norm takes and gives 16 bits
};

class Recognise : public PassWrapper<Recognise, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Recognise)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final {
    return "Raises norms of rows written in tw ops to rms_norm.norm and rms_norm.layer_norm";
  }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<RmsNormDialect>(); }

  void runOnOperation() final {
    SmallVector<Operation *> products;
    getOperation()->walk([&](Operation *op) {
      if (isa<tw::MulOp, tw::DivOp>(op))
        products.push_back(op);
    });
    llvm::DenseSet<Operation *> gone;
    for (Operation *product : products)
      if (!gone.contains(product))
        raise(product, gone);
  }

private:
  /// A candidate is a value divided by the root of a row's mean square.
  static void raise(Operation *product, llvm::DenseSet<Operation *> &gone) {
    Value of = product->getOperand(0), other = product->getOperand(1);
    Root root = isa<tw::DivOp>(product) ? matchRoot(other) : matchInverseRoot(other);
    if (!root.of && isa<tw::MulOp>(product)) {
      std::swap(of, other);
      root = matchInverseRoot(other);
    }
    if (!root.of)
      return;
    auto missed = [&](const Twine &reason, StringRef advice) {
      receipt::missed(product, passFlag, receiptKind, reason, advice);
    };
    if (!root.fault.empty())
      return missed(root.fault,
                    "normalise over the last dimension, of static size, by its mean square plus a positive constant");
    if (root.of != of)
      return missed("the root of a row's mean square divides another value than the one that was squared",
                    "square and divide the same value");
    Norm norm(product, of, std::move(root));
    norm.grow();
    norm.raise(gone);
  }
};
} // namespace

std::unique_ptr<Pass> createRecognise() { return std::make_unique<Recognise>(); }

} // namespace tilewright::rms_norm
