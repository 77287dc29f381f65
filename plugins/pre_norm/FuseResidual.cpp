// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/pre_norm/PreNorm.h"

#include "passes/api/Receipts.h"

#include "mlir/IR/Dominance.h"

namespace tilewright::pre_norm {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "pre-norm-fuse-residual";

class FuseResidual : public PassWrapper<FuseResidual, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseResidual)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Fuses a residual sum with the norm that reads it"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<PreNormDialect>(); }

  void runOnOperation() final {
    SmallVector<Operation *> norms;
    getOperation()->walk([&](Operation *op) {
      // Elementwise ops, reshapes and matrix products are no candidates; norms of any plugin are.
      if (!isa<AddNormOp>(op) && op->getDialect() && !isa<tw::TwDialect>(op->getDialect()) && notRowNorm(op).empty())
        norms.push_back(op);
    });
    DominanceInfo dominance(getOperation());
    for (Operation *norm : norms)
      fuse(norm, dominance);
  }

private:
  static void fuse(Operation *norm, DominanceInfo &dominance) {
    auto missed = [&](StringRef reason, StringRef advice) { receipt::missed(norm, passFlag, "norm", reason, advice); };
    auto add = norm->getOperand(0).getDefiningOp<tw::AddOp>();
    if (!add)
      return missed("the norm's input is no sum of this function",
                    "nothing, at the first norm of a function; else let the norm read the residual sum itself");
    if (add->getBlock() != norm->getBlock())
      return missed("the sum and the norm stand in different blocks", "let both stand in one block");
    // Earlier users of the sum need it before the norm's place, so the parameters must be there by then.
    bool parametersReady = llvm::all_of(llvm::drop_begin(norm->getOperands()),
                                        [&](Value parameter) { return dominance.properlyDominates(parameter, add); });
    bool sumUsedBefore = llvm::any_of(
        add->getUsers(), [&](Operation *user) { return user != norm && !dominance.properlyDominates(norm, user); });
    if (!parametersReady && sumUsedBefore)
      return missed("the sum is used before the norm's parameters are computed",
                    "pass the norm's parameters as weights, or compute them before the sum");

    std::string what = ("one sweep for the residual sum and " + norm->getName().getStringRef()).str();
    receipt::done(norm, passFlag, "norm", what);
    receipt::done(add, passFlag, "residual", what);
    OpBuilder builder(parametersReady ? add.getOperation() : norm);
    auto fused = AddNormOp::create(builder, norm->getLoc(), TypeRange{add.getType(), add.getType()}, add.getLhs(),
                                   add.getRhs(), norm->getOperands().drop_front(),
                                   builder.getStringAttr(norm->getName().getStringRef()), norm->getAttrDictionary());
    norm->getResult(0).replaceAllUsesWith(fused.getNormed());
    norm->erase();
    add.getResult().replaceAllUsesWith(fused.getSum());
    add->erase();
  }
};
} // namespace

std::unique_ptr<Pass> createFuseResidual() { return std::make_unique<FuseResidual>(); }

} // namespace tilewright::pre_norm
