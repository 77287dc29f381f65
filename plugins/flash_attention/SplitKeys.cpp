// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flash-attention-split-keys: a few rows and many keys (one step of generation) give few work items; with the keys in
// parts there are more, and what each part gives is joined by the logarithms of the sums of exponentials.
#include "plugins/flash_attention/FlashAttention.h"

#include "ir/tw/AttentionForm.h"
#include "ir/tw/AttentionMerge.h"
#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"

namespace tilewright::flash_attention {

using namespace mlir;

SmallVector<Value> splitKeys(AttentionOp op, int64_t parts) {
  ImplicitLocOpBuilder b(op.getLoc(), op->getContext());
  b.setInsertionPoint(op);
  RankedTensorType out = op.getType();
  Type wide = tw::wideFloat(out.getElementType());
  const bool headsFirst = op.getLayout() == "bhtd";
  ArrayRef<int64_t> shape = out.getShape();
  SmallVector<int64_t> whole(shape), lse = {parts, shape[0], shape[headsFirst ? 1 : 2], shape[headsFirst ? 2 : 1]};
  whole.insert(whole.begin(), parts);

  Type types[] = {RankedTensorType::get(whole, wide), RankedTensorType::get(lse, wide)};
  auto partials = tw::attentionAs<PartialsOp>(b, op, types, b.getNamedAttr("parts", b.getI64IntegerAttr(parts)));
  Value sinks = partials.getSinks();
  partials.getSinksMutable().clear();
  SmallVector<tw::PartialAttention> pieces;
  for (int64_t part = 0; part < parts; ++part)
    pieces.push_back({tw::pick(b, partials.getResult(), part), tw::pick(b, partials.getLse(), part)});
  tw::PartialAttention joined = tw::mergeAttention(b, pieces, sinks, headsFirst);
  SmallVector<Value> results = {tw::castTo(b, joined.out, out.getElementType())};
  if (Value wanted = op.getLse())
    results.push_back(tw::castTo(b, joined.lse, tw::tensorType(wanted).getElementType()));
  op->replaceAllUsesWith(results);
  op->erase();
  return results;
}

namespace {
constexpr llvm::StringLiteral passFlag = "flash-attention-split-keys";

/// Work items that keep a machine busy, and keys that are worth one.
constexpr int64_t kItems = 16, kFewestKeys = 512;

class SplitKeys : public PassWrapper<SplitKeys, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitKeys)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final {
    return "Cuts the keys of attention into parts where few rows meet many keys";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<FlashAttentionDialect, tw::TwDialect>();
  }

  void runOnOperation() final {
    SmallVector<AttentionOp> ops;
    getOperation()->walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops)
      if (int64_t parts = partsFor(op); parts > 1) {
        receipt::done(op, passFlag, "attention", "keys in " + Twine(parts) + " parts, joined by log-sum-exp");
        splitKeys(op, parts);
      }
  }

private:
  static int64_t partsFor(AttentionOp op) {
    auto isStatic = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    if (op.getState() || op.getCuSeqlensQ() || !llvm::all_of(op->getOperandTypes(), isStatic))
      return 1;
    const unsigned rowDim = op.getLayout() == "bhtd" ? 2 : 1, headDim = op.getLayout() == "bhtd" ? 1 : 2;
    ArrayRef<int64_t> q = op.getQuery().getType().getShape();
    ArrayRef<int64_t> k = op.getKey() ? cast<RankedTensorType>(op.getKey().getType()).getShape() : q;
    const int64_t kvHeads = op.getKey() ? k[headDim] : q[3];
    // Rows of a block of the kernel, roughly.
    const int64_t items = q[0] * kvHeads * llvm::divideCeil(q[rowDim], 64);
    return items == 0 ? 1 : std::min<int64_t>(llvm::divideCeil(kItems, items), k[rowDim] / kFewestKeys);
  }
};
} // namespace

std::unique_ptr<Pass> createSplitKeys() { return std::make_unique<SplitKeys>(); }

} // namespace tilewright::flash_attention
