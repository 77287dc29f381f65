// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/_template/MyTechnique.h"

#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"

#include "llvm/ADT/STLExtras.h"

namespace tilewright::my_technique {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "my-technique-recognise";
constexpr llvm::StringLiteral receiptKind = "my_technique";

/// The operands of a tree of tw.maximum, but for those that are such trees themselves.
void leavesOf(Value value, SmallVectorImpl<Value> &leaves) {
  if (auto maximum = value.getDefiningOp<tw::MaximumOp>()) {
    leavesOf(maximum.getLhs(), leaves);
    leavesOf(maximum.getRhs(), leaves);
  } else {
    leaves.push_back(value);
  }
}

class Recognise : public PassWrapper<Recognise, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Recognise)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Raises tw.maximum of equal slices to my_technique.maxout"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<MyTechniqueDialect>(); }

  void runOnOperation() final {
    SmallVector<tw::MaximumOp> roots;
    getOperation()->walk([&](tw::MaximumOp op) {
      if (llvm::none_of(op->getUsers(), llvm::IsaPred<tw::MaximumOp>))
        roots.push_back(op);
    });
    for (tw::MaximumOp root : roots)
      raise(root);
  }

private:
  /// A candidate is the maximum of slices of one value along its last dimension.
  static void raise(tw::MaximumOp root) {
    SmallVector<Value> leaves;
    leavesOf(root, leaves);
    auto slices = llvm::map_to_vector(leaves, [](Value leaf) { return leaf.getDefiningOp<tw::SliceOp>(); });
    Value input = slices.front() ? slices.front().getInput() : Value();
    int64_t last = root.getType().getRank() - 1, pieces = slices.size();
    if (!llvm::all_of(slices, [&](tw::SliceOp s) { return s && s.getInput() == input && s.getDim() == last; }))
      return;
    auto missed = [&](const Twine &reason) {
      receipt::missed(root, passFlag, receiptKind, reason, "take the maximum of equal pieces that make up the whole");
    };
    int64_t width = root.getType().getShape().back(), whole = cast<RankedTensorType>(input.getType()).getShape().back();
    if (ShapedType::isDynamic(width) || whole != width * pieces)
      return missed(Twine(pieces) + " pieces of " + Twine(width) + " are not the whole last dimension");
    llvm::sort(slices, [](tw::SliceOp a, tw::SliceOp b) { return a.getStart() < b.getStart(); });
    for (auto [piece, slice] : llvm::enumerate(slices))
      if (slice.getStart() != int64_t(piece) * width)
        return missed("piece " + Twine(piece) + " starts at " + Twine(slice.getStart()) + ", wanted " +
                      Twine(piece * width));
    receipt::done(root, passFlag, receiptKind, "raised to my_technique.maxout of " + Twine(pieces) + " pieces");
    OpBuilder builder(root);
    auto maxout = MaxoutOp::create(builder, root.getLoc(), input, pieces);
    root.getResult().replaceAllUsesWith(maxout.getResult());
    tw::eraseDead(root);
  }
};
} // namespace

std::unique_ptr<Pass> createRecognise() { return std::make_unique<Recognise>(); }

} // namespace tilewright::my_technique
