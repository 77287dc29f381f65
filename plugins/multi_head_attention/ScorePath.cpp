// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/multi_head_attention/ScorePath.h"

#include "ir/tw/Build.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace tilewright::multi_head_attention {

using namespace mlir;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

SmallVector<int64_t> leadOf(Value scores) { return SmallVector<int64_t>(typeOf(scores).getShape().drop_back(2)); }

/// The other factor, when `value` is a product with, or a quotient by, a constant.
Value constantFactor(Value value, double &factor) {
  if (auto mul = value.getDefiningOp<tw::MulOp>())
    for (auto [x, c] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (std::optional<double> constant = tw::splatConstant(c)) {
        factor *= *constant;
        return x;
      }
  if (auto div = value.getDefiningOp<tw::DivOp>())
    if (std::optional<double> constant = tw::splatConstant(div.getRhs()); constant && *constant != 0) {
      factor /= *constant;
      return div.getLhs();
    }
  if (auto neg = value.getDefiningOp<tw::NegOp>()) {
    factor = -factor;
    return neg.getInput();
  }
  return {};
}

bool isFloatCast(Operation *op) {
  auto cast = dyn_cast<tw::CastOp>(op);
  return cast && isa<FloatType>(typeOf(cast.getInput()).getElementType()) &&
         isa<FloatType>(typeOf(cast.getResult()).getElementType());
}

/// One number for each row: a broadcast along the last dimension.
bool isRowConstant(Value value) {
  if (auto cast = value.getDefiningOp<tw::CastOp>())
    value = cast.getInput();
  auto broadcast = value.getDefiningOp<tw::BroadcastOp>();
  return broadcast && !llvm::is_contained(broadcast.getDims(), broadcast.getType().getRank() - 1);
}

class Walk {
public:
  explicit Walk(bool hasSinks) : hasSinks(hasSinks) {}
  ScorePath run(Value scores);

private:
  /// Takes one op off the path; null when the path ends, at the product or with a fault.
  Value step(Value scores);
  Value select(tw::SelectOp op);
  Value sum(Value scores, Value bias, double sign);
  Value product(tw::BatchMatmulOp op, bool swapped);
  Value fault(const Twine &reason, const Twine &advice) {
    path.fault = reason.str();
    path.advice = advice.str();
    return {};
  }

  bool hasSinks;
  ScorePath path;
  double factor = 1; ///< of what is still in front, as far as the soft-cap or the softmax
};

Value Walk::select(tw::SelectOp op) {
  if (path.softcap)
    return fault("a mask stands inside of the soft-cap", "mask the scores behind the soft-cap");
  for (bool visible : {true, false}) {
    Value kept = visible ? op.getOnTrue() : op.getOnFalse(), other = visible ? op.getOnFalse() : op.getOnTrue();
    std::optional<double> fill = tw::splatConstant(other);
    if (!fill || tw::splatConstant(kept))
      continue;
    *fill *= factor;
    if (!(*fill <= hiddenFill))
      return fault("masked scores are " + std::to_string(*fill) + ", which does not hide a key",
                   "fill with -inf or with " + std::to_string(int64_t(hiddenFill)) + " or less");
    path.finiteFill |= std::isfinite(*fill);
    path.masks.push_back({op.getCondition(), leadOf(op.getResult()), visible, 1, bandOf(op.getCondition(), visible)});
    return kept;
  }
  return fault("masked scores are not a constant", "fill masked scores with -inf");
}

Value Walk::sum(Value scores, Value bias, double sign) {
  if (path.softcap)
    return fault("a bias stands inside of the soft-cap", "add it behind the soft-cap");
  std::optional<AdditiveMask> mask = additiveMask(bias, factor * sign);
  if (!mask) {
    path.biases.push_back({bias, leadOf(bias), true, factor * sign, {}});
    return scores;
  }
  path.finiteFill |= std::isfinite(mask->fill);
  path.masks.push_back({mask->condition, leadOf(bias), mask->visible, 1, mask->band});
  // As a bias, for a constant whose band is none that attention has.
  if (!mask->condition)
    path.masks.back().value = bias, path.masks.back().factor = factor * sign;
  return scores;
}

Value Walk::product(tw::BatchMatmulOp op, bool swapped) {
  path.scale = factor;
  path.query = op.getLhs();
  path.key = op.getRhs();
  path.keyTransposed = !op.getTransposeB();
  if (swapped) { // (K Q^T)^T
    path.query = op.getRhs();
    path.key = op.getLhs();
    path.keyTransposed = false;
    if (!op.getTransposeB()) {
      OpBuilder builder(op);
      ImplicitLocOpBuilder b(op.getLoc(), builder);
      SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(path.query).getRank()));
      std::swap(perm.back(), perm[perm.size() - 2]);
      path.query = tw::transpose(b, path.query, perm);
    }
  }
  return {};
}

Value Walk::step(Value scores) {
  Operation *op = scores.getDefiningOp();
  if (!op)
    return fault("the softmax's input is no product of queries and keys", "let one function hold the whole attention");
  if (Value inner = constantFactor(scores, factor))
    return inner;
  if (isFloatCast(op) || keepsScores(op)) {
    path.leads.push_back(leadOf(op->getOperand(0)));
    return op->getOperand(0);
  }
  if (auto product = dyn_cast<tw::BatchMatmulOp>(op))
    return this->product(product, false);
  if (auto transpose = dyn_cast<tw::TransposeOp>(op)) {
    ArrayRef<int64_t> perm = transpose.getPerm();
    auto product = transpose.getInput().getDefiningOp<tw::BatchMatmulOp>();
    const int64_t rank = perm.size();
    bool swaps = rank >= 2 && perm[rank - 1] == rank - 2 && perm[rank - 2] == rank - 1;
    for (int64_t d = 0; d + 2 < rank; ++d)
      swaps &= perm[d] == d;
    if (product && swaps)
      return this->product(product, true);
    return fault("scores are transposed between the product and the softmax", "multiply queries by keys in that order");
  }
  if (isa<tw::SelectOp, tw::AddOp, tw::SubOp, tw::TanhOp>(op) && factor <= 0)
    return fault("scores are multiplied by " + std::to_string(factor) +
                     " behind a mask, bias or soft-cap, wanted a positive factor",
                 "scale the queries instead");
  if (auto select = dyn_cast<tw::SelectOp>(op))
    return this->select(select);
  if (isa<tw::AddOp, tw::SubOp>(op)) {
    if (Value inner = withoutRowConstants(scores); inner != scores && !path.softcap && !hasSinks)
      return inner;
    Value a = op->getOperand(0), b = op->getOperand(1);
    const bool left = reachesProduct(a), right = reachesProduct(b);
    if (left == right)
      return fault("the sum in front of the softmax is not scores plus a bias",
                   left ? "add up products before attention, or write it as tw.attention with a bias"
                        : "let one function hold the whole attention");
    if (left)
      return sum(a, b, isa<tw::SubOp>(op) ? -1 : 1);
    return isa<tw::AddOp>(op) ? sum(b, a, 1)
                              : fault("scores are subtracted from a bias", "scale the queries by -1 and add");
  }
  if (auto tanh = dyn_cast<tw::TanhOp>(op)) {
    if (path.softcap)
      return fault("scores have two soft-caps", "keep one of them");
    path.softcap = factor;
    return tanh.getInput(); // the factor goes on as scale: c * tanh(s * x) has the scale c * s
  }
  return fault("'" + op->getName().getStringRef() + "' stands between the product and the softmax",
               "keep to scales, casts, a soft-cap, biases and masks there, or write tw.attention");
}

ScorePath Walk::run(Value scores) {
  path.leads.push_back(leadOf(scores));
  while (scores)
    scores = step(scores);
  if (!path.fault.empty())
    return path;
  path.leads.push_back(leadOf(path.query));
  path.query = withoutScale(path.query, path.scale);
  path.key = withoutScale(path.key, path.scale);
  if (!std::isfinite(path.scale))
    fault("the scale of the scores is not finite", "check the constants that the scores are multiplied by");
  return path;
}

} // namespace

bool keepsScores(Operation *op) {
  auto reshape = dyn_cast<tw::ReshapeOp>(op);
  if (!reshape)
    return false;
  ArrayRef<int64_t> from = typeOf(reshape.getInput()).getShape(), to = typeOf(reshape.getResult()).getShape();
  if (from.size() < 2 || to.size() < 2 || from.take_back(2) != to.take_back(2))
    return false;
  // Two dynamic sizes are the same if the sizes in front of them are known to be.
  auto isStatic = [](ArrayRef<int64_t> shape) { return llvm::none_of(shape, ShapedType::isDynamic); };
  return isStatic(from.take_back(2)) ||
         (isStatic(from.drop_back(2)) && isStatic(to.drop_back(2)) &&
          ShapedType::getNumElements(from.drop_back(2)) == ShapedType::getNumElements(to.drop_back(2)));
}

bool reachesProduct(Value value) {
  SmallVector<Value> work = {value};
  llvm::SmallDenseSet<Value, 16> seen;
  while (!work.empty() && seen.size() < 64) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second)
      continue;
    if (isa<tw::BatchMatmulOp>(op))
      return true;
    if (op->getDialect() == op->getContext()->getLoadedDialect<tw::TwDialect>() &&
        (isa<tw::TransposeOp, tw::SelectOp>(op) || isa<tw::ReshapeOp, tw::CastOp, tw::SliceOp, tw::ConcatOp>(op) ||
         op->hasTrait<OpTrait::SameOperandsAndResultType>()))
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

ScorePath walkScores(Value scores, bool hasSinks) { return Walk(hasSinks).run(scores); }

Value withoutRowConstants(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tw::AddOp, tw::SubOp>(op) && isRowConstant(op->getOperand(1)))
      value = op->getOperand(0);
    else if (isa<tw::AddOp>(op) && isRowConstant(op->getOperand(0)))
      value = op->getOperand(1);
    else
      break;
  }
  return value;
}

Value withoutScale(Value value, double &scale) {
  if (Value inner = constantFactor(value, scale))
    return withoutScale(inner, scale);
  Operation *op = value.getDefiningOp();
  if (!op || !(isa<tw::ReshapeOp, tw::TransposeOp>(op) || isFloatCast(op)))
    return value;
  Value inner = withoutScale(op->getOperand(0), scale);
  if (inner == op->getOperand(0))
    return value;
  OpBuilder builder(op);
  Operation *clone = builder.clone(*op);
  clone->setOperand(0, inner);
  return clone->getResult(0);
}

} // namespace tilewright::multi_head_attention
