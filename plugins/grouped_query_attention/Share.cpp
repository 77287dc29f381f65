// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/grouped_query_attention/Share.h"

#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"
#include "plugins/grouped_query_attention/Repeat.h"
#include "plugins/grouped_query_attention/StateWeb.h"

namespace tilewright::grouped_query_attention {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "grouped-query-attention-share";
constexpr llvm::StringLiteral receiptKind = "shared_heads";
constexpr llvm::StringLiteral advice =
    "repeat each key and value head the same number of times, head by head (repeat_interleave), "
    "or keep the heads that there are: attention shares them itself";

int64_t headsOf(Value value) { return cast<RankedTensorType>(value.getType()).getDimSize(headDim); }

/// Erases what made values that nothing reads any more.
void eraseDead(ArrayRef<Value> values) {
  SmallVector<Operation *> makers; // before any of them is gone
  for (Value value : values)
    if (Operation *op = value.getDefiningOp())
      makers.push_back(op);
  llvm::DenseSet<Operation *> gone;
  for (Operation *op : makers)
    if (!gone.contains(op))
      for (Operation *erased : tw::eraseDead(op))
        gone.insert(erased);
}

/// The repeats of keys and values that belong together.
struct Pair {
  Repeat key, value;
  bool isCandidate() const { return key.source || value.source || !key.fault.empty() || !value.fault.empty(); }
  /// Why the two cannot be shared; empty when they can.
  std::string fault() const {
    if (!key.fault.empty() || !value.fault.empty())
      return key.fault.empty() ? "values: " + value.fault : "keys: " + key.fault;
    if (key.times != value.times)
      return "each key head stands " + std::to_string(key.times) + " times, each value head " +
             std::to_string(value.times);
    return "";
  }
};

class Share : public PassWrapper<Share, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Share)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final {
    return "Removes repeats of key/value heads in front of attention and of the states it reads";
  }

  void runOnOperation() final {
    SmallVector<tw::AttentionOp> dense;
    SmallVector<tw::AppendOp> appends;
    getOperation()->walk([&](Operation *op) {
      if (auto attention = dyn_cast<tw::AttentionOp>(op); attention && attention.getKey() && attention.getValue())
        dense.push_back(attention);
      if (auto append = dyn_cast<tw::AppendOp>(op); append && append.getValues().size() == 2)
        appends.push_back(append);
    });
    for (tw::AttentionOp op : dense)
      shareDense(op);
    auto module = dyn_cast<ModuleOp>(getOperation());
    if (!module)
      return; // a state's type is that of a whole module
    Calls calls = callsOf(module);
    llvm::DenseSet<Operation *> seen;
    for (tw::AppendOp append : appends)
      if (!seen.contains(append))
        shareState(append, module, calls, seen);
  }

private:
  static void shareDense(tw::AttentionOp op) {
    Pair pair{matchRepeat(op.getKey()), matchRepeat(op.getValue())};
    if (!pair.isCandidate())
      return;
    if (std::string fault = pair.fault(); !fault.empty())
      return receipt::missed(op, passFlag, receiptKind, fault, advice);
    receipt::done(op, passFlag, receiptKind,
                  "attention reads " + Twine(headsOf(pair.key.source)) + " key/value heads instead of " +
                      Twine(headsOf(op.getKey())));
    SmallVector<Value> repeats = {op.getKey(), op.getValue()};
    op.getKeyMutable().assign(pair.key.source);
    op.getValueMutable().assign(pair.value.source);
    eraseDead(repeats);
  }

  /// All appends to a state change together, or none does.
  static void shareState(tw::AppendOp first, ModuleOp module, const Calls &calls, llvm::DenseSet<Operation *> &seen) {
    StateWeb web = webOf(first.getState(), module, calls);
    SmallVector<Pair> pairs;
    bool any = false;
    for (tw::AppendOp append : web.appends) {
      seen.insert(append);
      pairs.push_back({matchRepeat(append.getValues()[0]), matchRepeat(append.getValues()[1])});
      any |= pairs.back().isCandidate();
    }
    if (!any)
      return;
    for (auto [append, pair] : llvm::zip_equal(web.appends, pairs)) {
      auto missed = [&](const Twine &reason, const Twine &what) {
        receipt::missed(append, passFlag, receiptKind, reason, what);
      };
      if (std::string fault = pair.fault(); !fault.empty())
        return missed(fault, advice);
      if (!pair.key.source)
        return missed("this append has no repeated heads, and another to the same state has",
                      "append the same heads to a state everywhere");
      if (pair.key.times != pairs.front().key.times)
        return missed("each head stands " + Twine(pair.key.times) + " times here and " +
                          Twine(pairs.front().key.times) + " times in another append to the same state",
                      "append the same heads to a state everywhere");
    }
    if (!web.fault.empty())
      return receipt::missed(first, passFlag, receiptKind, web.fault,
                             "let nothing but tw.append and tw.attention use the state");

    SmallVector<RankedTensorType> buffers(first.getState().getType().getBuffers());
    const int64_t before = buffers[0].getDimSize(headDim);
    for (RankedTensorType &buffer : buffers) {
      SmallVector<int64_t> shape(buffer.getShape());
      shape[headDim] /= pairs.front().key.times;
      buffer = buffer.clone(shape);
    }
    for (tw::AppendOp append : web.appends)
      receipt::done(append, passFlag, receiptKind,
                    "the state keeps " + Twine(buffers[0].getDimSize(headDim)) + " key/value heads instead of " +
                        Twine(before));
    retype(web, tw::StateType::get(first.getContext(), buffers, first.getState().getType().getGroup()));
    SmallVector<Value> repeats;
    for (auto [op, pair] : llvm::zip_equal(web.appends, pairs)) {
      tw::AppendOp append = op;
      llvm::append_range(repeats, append.getValues());
      append.getValuesMutable().assign({pair.key.source, pair.value.source});
    }
    eraseDead(repeats);
  }
};
} // namespace

std::unique_ptr<Pass> createShare() { return std::make_unique<Share>(); }

} // namespace tilewright::grouped_query_attention
