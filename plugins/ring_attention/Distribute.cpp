// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ring-attention-distribute: the attentions that shards of rows and keys make on one device, before the stage that
// fuses attention sees them.
#include "plugins/ring_attention/RingAttention.h"

#include "ir/interfaces/Decompose.h"
#include "passes/api/Receipts.h"

namespace tilewright::ring_attention {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "ring-attention-distribute";

class Distribute : public PassWrapper<Distribute, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Distribute)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Cuts ring attention into the attentions of its shards"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<tw::TwDialect>(); }

  void runOnOperation() final {
    SmallVector<AttentionOp> ops;
    getOperation()->walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops) {
      receipt::done(op, passFlag, "attention",
                    "attention of " + Twine(static_cast<int64_t>(op.getNumShards())) + " shards on one device");
      if (failed(decompose(cast<ReferenceLowering>(op.getOperation()))))
        return signalPassFailure();
    }
  }
};
} // namespace

std::unique_ptr<Pass> createDistribute() { return std::make_unique<Distribute>(); }

} // namespace tilewright::ring_attention
