// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rotary-embedding-fold-tables: rotary_embedding.apply of tables that rotary_embedding.tables makes is one
// rotary_embedding.rotate, which has a kernel, fuses, and keeps no tables.
#include "plugins/rotary_embedding/RotaryEmbedding.h"

#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"

namespace tilewright::rotary_embedding {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "rotary-embedding-fold-tables";

class FoldTables : public PassWrapper<FoldTables, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FoldTables)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Makes rotary_embedding.rotate of apply and its tables"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<RotaryEmbeddingDialect>(); }

  void runOnOperation() final {
    SmallVector<ApplyOp> ops;
    getOperation()->walk([&](ApplyOp op) { ops.push_back(op); });
    for (ApplyOp op : ops)
      fold(op);
  }

private:
  static void fold(ApplyOp op) {
    auto missed = [&](const Twine &reason, StringRef remedy) {
      receipt::missed(op, passFlag, "rotary", reason, remedy);
    };
    auto tables = op.getCosine().getDefiningOp<TablesOp>();
    if (!tables || op.getCosine() != tables.getCosine() || op.getSine() != tables.getSine())
      return missed("cosine and sine are not the two tables of one rotary_embedding.tables",
                    "make both by one rotary_embedding.tables");
    if (op.getLayout() != tables.getLayout())
      return missed("the tables have layout " + tables.getLayout() + " and are applied in layout " + op.getLayout(),
                    "give both ops one layout");
    if (tables.getCosine().getType().getElementTypeBitWidth() < 32)
      return missed("the tables are rounded to " + Twine(tables.getCosine().getType().getElementTypeBitWidth()) +
                        " bits",
                    "make the tables of f32");
    OpBuilder builder(op);
    auto rotate = RotateOp::create(builder, op.getLoc(), op.getType(), op.getInput(), tables.getPositions(),
                                   tables.getFactors(), tables.getBase(), tables.getDim(), op.getLayout(),
                                   tables.getAttentionFactor(), tables.getSectionsAttr(), tables.getSectionLayout());
    receipt::done(rotate, passFlag, "rotary", "turned by its tables' angles, without tables");
    op.getResult().replaceAllUsesWith(rotate.getResult());
    tw::eraseDead(op);
  }
};
} // namespace

std::unique_ptr<Pass> createFoldTables() { return std::make_unique<FoldTables>(); }

} // namespace tilewright::rotary_embedding
