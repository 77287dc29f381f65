// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/flash_attention/FlashAttention.h"

#include "ir/tw/AttentionForm.h"
#include "passes/api/Receipts.h"

namespace tilewright::flash_attention {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "flash-attention-fuse";

/// Why there is no flash kernel for this attention: the first condition that fails. Empty when there is one.
std::string missingKernel(tw::AttentionOp op) {
  if (op.getWeights())
    return "the weights themselves are asked for, which the kernel never holds at once";
  if (!op.isRagged())
    return "";
  RankedTensorType query = op.getQuery().getType();
  auto isF32 = [](RankedTensorType type) { return type.getElementType().isF32(); };
  if (!isF32(query) || !llvm::all_of(op.getState().getType().getBuffers(), isF32))
    return "query, keys and values are not all f32";
  return "";
}

class Fuse : public PassWrapper<Fuse, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Fuse)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final {
    return "Turns tw.attention into attention by tiles where there is a kernel";
  }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<FlashAttentionDialect>(); }

  void runOnOperation() final {
    SmallVector<tw::AttentionOp> candidates;
    getOperation()->walk([&](tw::AttentionOp op) { candidates.push_back(op); });
    for (tw::AttentionOp op : candidates) {
      if (std::string fault = missingKernel(op); !fault.empty()) {
        receipt::missed(op, passFlag, "attention", fault,
                        op.getWeights() ? "do not ask for the weights"
                                        : "keep queries and the state's keys and values in f32");
        continue;
      }
      receipt::done(op, passFlag, "attention", "attention by tiles with an online softmax");
      OpBuilder builder(op);
      op->replaceAllUsesWith(tw::attentionAs<AttentionOp>(builder, op, op->getResultTypes()));
      op->erase();
    }
  }
};
} // namespace

std::unique_ptr<Pass> createFuse() { return std::make_unique<Fuse>(); }

} // namespace tilewright::flash_attention
