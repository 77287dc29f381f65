// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// position-encoding-expand-attention: position_encoding.relation_attention becomes the core ops that define it in front
// of the stage that fuses attention, so that the tw.attention in it is fused as any other.
#include "plugins/position_encoding/PositionEncoding.h"

#include "ir/interfaces/Decompose.h"
#include "passes/api/Receipts.h"

namespace tilewright::position_encoding {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "position-encoding-expand-attention";

class ExpandAttention : public PassWrapper<ExpandAttention, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandAttention)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Takes position_encoding.relation_attention apart"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<tw::TwDialect>(); }

  void runOnOperation() final {
    SmallVector<RelationAttentionOp> ops;
    getOperation()->walk([&](RelationAttentionOp op) { ops.push_back(op); });
    for (RelationAttentionOp op : ops) {
      receipt::done(op, passFlag, "attention", "taken apart into terms of relations and tw.attention");
      if (failed(decompose(cast<ReferenceLowering>(op.getOperation()))))
        return signalPassFailure();
    }
  }
};
} // namespace

std::unique_ptr<Pass> createExpandAttention() { return std::make_unique<ExpandAttention>(); }

} // namespace tilewright::position_encoding
