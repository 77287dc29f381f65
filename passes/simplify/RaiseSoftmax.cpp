// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simplify-raise-softmax: a softmax written as exponentials over their sum becomes tw.softmax.
#include "passes/simplify/Passes.h"

#include "ir/interfaces/ValueTags.h"
#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tilewright {

namespace {

constexpr llvm::StringLiteral passFlag = "simplify-raise-softmax";

/// Float casts change no meaning here: tw.softmax rounds once.
Value throughCasts(Value value) {
  while (auto cast = value.getDefiningOp<tw::CastOp>()) {
    if (!isa<FloatType>(tw::tensorType(cast.getInput()).getElementType()))
      break;
    value = cast.getInput();
  }
  return value;
}

/// A reduction of `of`, repeated along the dimensions that it took away.
tw::ReduceOp repeatedReduction(Value value) {
  auto broadcast = throughCasts(value).getDefiningOp<tw::BroadcastOp>();
  if (!broadcast)
    return {};
  auto reduce = throughCasts(broadcast.getInput()).getDefiningOp<tw::ReduceOp>();
  if (!reduce)
    return {};
  SmallVector<int64_t> kept;
  for (int64_t d = 0, rank = reduce.getInput().getType().getRank(); d < rank; ++d)
    if (!llvm::is_contained(reduce.getDims(), d))
      kept.push_back(d);
  return broadcast.getDims() == ArrayRef<int64_t>(kept) &&
                 broadcast.getType().getRank() == reduce.getInput().getType().getRank()
             ? reduce
             : tw::ReduceOp();
}

/// What `value` is divided by, and what is divided: a / b, a * (1 / b), a * repeated(1 / b).
std::pair<Value, Value> quotient(Operation *op) {
  if (auto div = dyn_cast<tw::DivOp>(op))
    return {div.getLhs(), div.getRhs()};
  auto mul = dyn_cast<tw::MulOp>(op);
  if (!mul)
    return {};
  for (auto [a, reciprocal] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
    if (auto div = reciprocal.getDefiningOp<tw::DivOp>(); div && tw::splatConstant(div.getLhs()) == 1.0)
      return {a, div.getRhs()};
  return {};
}

class RaiseSoftmaxPass : public PassWrapper<RaiseSoftmaxPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RaiseSoftmaxPass)
  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Raises exponentials over their sum to tw.softmax"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<tw::TwDialect>(); }

  void runOnOperation() override {
    SmallVector<Operation *> quotients;
    getOperation()->walk([&](Operation *op) {
      if (quotient(op).first)
        quotients.push_back(op);
    });
    for (Operation *op : quotients)
      raise(op);
  }

private:
  static void raise(Operation *op) {
    auto [numerator, denominator] = quotient(op);
    auto exp = throughCasts(numerator).getDefiningOp<tw::ExpOp>();
    tw::ReduceOp sum = repeatedReduction(denominator);
    if (!exp || !sum || sum.getKind() != "sum" || throughCasts(sum.getInput()) != exp.getResult())
      return; // no quotient of exponentials and their own sum
    auto missed = [&](const Twine &reason, const Twine &advice) {
      receipt::missed(op, passFlag, "softmax", reason, advice);
    };
    if (sum.getDims().size() != 1)
      return missed("the sum is over " + Twine(sum.getDims().size()) + " dimensions, wanted one",
                    "join them by a reshape before the exponentials");
    const int64_t dim = sum.getDims().front();
    // Any number taken away from a whole row cancels; the row's maximum is what programs take.
    Value input = exp.getInput();
    if (auto sub = throughCasts(input).getDefiningOp<tw::SubOp>())
      if (tw::ReduceOp max = repeatedReduction(sub.getRhs());
          max && throughCasts(max.getInput()) == throughCasts(sub.getLhs())) {
        if (max.getDims() != sum.getDims())
          return missed(
              llvm::formatv("the maximum is over dimension {0} and the sum over {1}", max.getDims().front(), dim),
              "take both over the same dimension");
        input = sub.getLhs();
      }
    if (tw::tensorType(input).getDimSize(dim) == 0)
      return missed("the dimension has size 0", "nothing: there is no element");
    receipt::done(op, passFlag, "softmax", "raised to tw.softmax over dimension " + Twine(dim));
    OpBuilder builder(op);
    ImplicitLocOpBuilder b(withoutTag(op->getLoc()), builder);
    Value softmax = tw::SoftmaxOp::create(b, input, dim);
    Value result = tw::castTo(b, softmax, tw::tensorType(op->getResult(0)).getElementType());
    result.getDefiningOp()->setLoc(op->getLoc()); // only the last op stands for the quotient's value
    op->getResult(0).replaceAllUsesWith(result);
    tw::eraseDead(op);
  }
};

} // namespace

std::unique_ptr<Pass> createSimplifyRaiseSoftmaxPass() { return std::make_unique<RaiseSoftmaxPass>(); }

} // namespace tilewright
