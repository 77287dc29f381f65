// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/multi_head_attention/MultiHeadAttention.h"

#include "ir/interfaces/Decompose.h"

namespace tilewright::multi_head_attention {

using namespace mlir;

namespace {

class Expand : public PassWrapper<Expand, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Expand)

  StringRef getArgument() const final { return "multi-head-attention-expand"; }
  StringRef getDescription() const final {
    return "Takes attention modules apart into projections and tw.attention, which other passes know";
  }

  void runOnOperation() final {
    if (failed(decomposeAll(getOperation(), [](ReferenceLowering op) {
          return isa<SelfAttentionOp, CrossAttentionOp>(op.getOperation());
        })))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createExpand() { return std::make_unique<Expand>(); }

} // namespace tilewright::multi_head_attention
