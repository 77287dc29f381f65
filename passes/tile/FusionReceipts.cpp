// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What became of each op that could share a kernel with its neighbours.
#include "passes/tile/KernelGroups.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"
#include "passes/api/Receipts.h"

using namespace mlir;

namespace tilewright {

namespace {

Value throughReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<tw::ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// The kind of the receipts of `op`; empty for what is no candidate: anchors, views, ops that only the tile stage
/// makes.
StringRef kindOf(Operation *op) {
  if (auto candidate = dyn_cast<FusionCandidate>(op))
    return candidate.getFusionKind();
  if (isa<tw::PackedLinearOp, tw::QuantizeRowsOp, tw::ReshapeOp>(op) || !isa<TileLowering>(op))
    return {};
  auto ofLinear = [](Value operand) { return throughReshapes(operand).getDefiningOp<tw::PackedLinearOp>() != nullptr; };
  return isa<tw::AddOp>(op) && llvm::any_of(op->getOperands(), ofLinear) ? "residual" : "elementwise";
}

/// "a, b and 2 x c": the group's other ops by name.
std::string othersOf(const KernelGroup &group, Operation *op) {
  llvm::MapVector<StringRef, int> counts;
  for (Operation *other : group.ops)
    if (other != op && !isa<tw::ReshapeOp>(other))
      ++counts[other->getName().getStringRef()];
  std::string text;
  size_t left = counts.size();
  for (auto [name, count] : counts) {
    --left;
    text += (count > 1 ? std::to_string(count) + " x " : "") + name.str() +
            (left > 1    ? ", "
             : left == 1 ? " and "
                         : "");
  }
  return text;
}

} // namespace

void writeFusionReceipts(const KernelGroups &groups, StringRef pass) {
  for (const auto &group : groups.groups)
    for (Operation *op : group->ops) {
      StringRef kind = kindOf(op);
      if (kind.empty())
        continue;
      StringRef name = op->getName().getStringRef();
      auto candidate = dyn_cast<FusionCandidate>(op);
      StringRef own = candidate ? candidate.describeFusion() : StringRef();
      std::string others = othersOf(*group, op);
      std::string with = others.empty() ? "" : " in one kernel with " + others;
      if (!own.empty()) {
        receipt::done(op, pass, kind, name + ": " + own + (with.empty() ? "" : "," + with));
      } else if (!others.empty()) {
        bool anchored = group->kind == KernelGroup::Kind::Anchored;
        receipt::done(op, pass, kind, name + (anchored ? ": an epilogue," : ": part of a sweep over rows,") + with);
      } else if (group->kind == KernelGroup::Kind::Whole) {
        receipt::missed(op, pass, kind, "no pass has fused it: " + name + " has a kernel of its own",
                        "load a plugin that fuses ops of this kind, and see what its own receipt for this place says");
      } else {
        KernelGroups::Fault fault = groups.faults.lookup(op);
        if (fault.reason.empty()) // no rows
          fault = {"it has no rows, so no linear map shares its tiles", "nothing: it is computed once a step"};
        receipt::missed(op, pass, kind, name + " has a kernel of its own: " + fault.reason, fault.advice);
      }
    }
}

} // namespace tilewright
