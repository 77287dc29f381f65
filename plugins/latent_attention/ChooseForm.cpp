// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/latent_attention/LatentAttention.h"

#include "ir/interfaces/Decompose.h"
#include "ir/interfaces/KernelBuilder.h"
#include "passes/api/Receipts.h"

#include "llvm/Support/FormatVariadic.h"

namespace tilewright::latent_attention {

using namespace mlir;

FormCosts costsOf(AttentionOp op, int64_t queries, int64_t keys) {
  const double t = queries, s = keys, h = op.heads(), nope = op.nopeDim(), rope = op.ropeDim(), value = op.valueDim(),
               rank = op.rank();
  const double up = h * rank * (nope + value), cached = s * (rank + rope), size = sizeof(float);
  FormCosts costs;
  costs.expanded = {s * up + t * s * h * (nope + rope + value),
                    size * (up + cached + 2 * s * h * (nope + rope + value))};
  costs.absorbed = {t * up + t * s * h * (2 * rank + rope), size * (up + cached + 2 * t * h * (2 * rank + rope))};
  return costs;
}

namespace {
constexpr llvm::StringLiteral passFlag = "latent-attention-choose-form";

std::string text(double number) { return llvm::formatv("{0}", static_cast<int64_t>(number)).str(); }

class ChooseForm : public PassWrapper<ChooseForm, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChooseForm)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Puts core ops in place of latent attention, of the cheaper form"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<LatentAttentionDialect, tw::TwDialect>();
  }

  void runOnOperation() final {
    SmallVector<ReferenceLowering> ops;
    getOperation()->walk([&](ReferenceLowering op) {
      if (isa<AttentionOp, LatentArrayOp>(op))
        ops.push_back(op);
    });
    for (ReferenceLowering op : ops) {
      if (auto attention = dyn_cast<AttentionOp>(*op))
        attention.setForm(choose(attention));
      else
        receipt::done(op, passFlag, "attention",
                      llvm::formatv("two attentions through {0} latents",
                                    cast<LatentArrayOp>(*op).getLatents().getType().getDimSize(0))
                          .str());
      if (failed(decompose(op)))
        return signalPassFailure();
    }
  }

private:
  /// The form, with its receipt.
  static StringRef choose(AttentionOp op) {
    auto known = [](int64_t length) { return ShapedType::isDynamic(length) ? kUnknownLength : length; };
    int64_t queries = shapeClasses().back().queryTile, keys = kUnknownLength;
    if (!op.isRagged()) {
      queries = known(op.getQNope().getType().getDimSize(2));
      keys = known(op.getLatent().getType().getDimSize(1));
    }
    FormCosts costs = costsOf(op, queries, keys);
    const bool quantised = !isa<FloatType>(op.getUpWeight().getType().getElementType());
    StringRef form = op.getForm();
    std::string reason = "as its attribute says";
    if (op.isRagged()) {
      form = "absorbed";
      reason =
          llvm::formatv("the state keeps {0} numbers a token, and expanded keys would be made again for each {1} rows",
                        op.rank() + op.ropeDim(), queries);
      if (quantised)
        reason += "; the quantised up-projection is decoded in each step, being read in both directions";
    } else if (form == "auto" && quantised) {
      form = "expanded";
      reason = "the up-projection is quantised, and the absorbed form would decode it, to read it in both directions";
    } else if (form == "auto") {
      bool absorb = costs.absorbed.total() < costs.expanded.total();
      form = absorb ? "absorbed" : "expanded";
      reason = llvm::formatv("the cheaper one for {0} queries and {1} keys", queries, keys);
    }
    receipt::done(op, passFlag, "attention", form + " form: " + reason,
                  {{"form", form.str()},
                   {"queries", std::to_string(queries)},
                   {"keys", std::to_string(keys)},
                   {"expanded_multiply_adds", text(costs.expanded.multiplyAdds)},
                   {"expanded_bytes", text(costs.expanded.bytes)},
                   {"absorbed_multiply_adds", text(costs.absorbed.multiplyAdds)},
                   {"absorbed_bytes", text(costs.absorbed.bytes)}});
    return form;
  }
};
} // namespace

std::unique_ptr<Pass> createChooseForm() { return std::make_unique<ChooseForm>(); }

} // namespace tilewright::latent_attention
