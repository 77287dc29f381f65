// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/grouped_query_attention/Share.h"

#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"

namespace tilewright::grouped_query_attention {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "grouped-query-attention-share";
constexpr int64_t headDim = 1; // of [B, H, S, D]

/// What stands behind a value with repeated heads.
struct Repeat {
  Value source;       ///< [B, Hkv, S, D]; null when nothing is repeated
  int64_t times = 1;  ///< how often each head stands
  std::string fault;  ///< why a repeat that was met is not one by groups
};

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// `value` without reshapes that only add or drop dimensions of size 1.
Value skipUnitReshapes(Value value) {
  auto withoutOnes = [](Value v) {
    SmallVector<int64_t> shape;
    for (int64_t size : typeOf(v).getShape())
      if (size != 1)
        shape.push_back(size);
    return shape;
  };
  while (auto reshape = value.getDefiningOp<tw::ReshapeOp>()) {
    if (withoutOnes(reshape.getInput()) != withoutOnes(reshape.getResult()))
      break;
    value = reshape.getInput();
  }
  return value;
}

/// [B, Hkv, S, D] -> broadcast [B, Hkv, G, S, D] -> reshape [B, Hkv * G, S, D].
Repeat matchExpand(tw::ReshapeOp reshape) {
  auto broadcast = reshape.getInput().getDefiningOp<tw::BroadcastOp>();
  RankedTensorType joined = reshape.getResult().getType();
  if (!broadcast || joined.getRank() != 4)
    return {};
  RankedTensorType wide = broadcast.getResult().getType();
  if (wide.getRank() != 5)
    return {};
  Value source = skipUnitReshapes(broadcast.getInput());
  if (typeOf(source).getRank() != 4 || typeOf(broadcast.getInput()).getRank() != 4)
    return {};
  int64_t heads = typeOf(source).getDimSize(headDim);
  if (ShapedType::isDynamic(heads))
    return {{}, 1, "the number of heads before the repeat is dynamic"};
  if (broadcast.getDims() == ArrayRef<int64_t>{0, 2, 3, 4})
    return {{}, 1, "the list of heads is repeated as a whole (head h is h % " + std::to_string(heads) + "), not head by head"};
  if (broadcast.getDims() != ArrayRef<int64_t>{0, 1, 3, 4})
    return {{}, 1, "the repeated dimension is not the one behind the heads"};
  int64_t times = wide.getDimSize(2);
  if (ShapedType::isDynamic(times) || times < 1 || joined.getDimSize(headDim) != heads * times)
    return {{}, 1, "the repeated dimension is not joined with the heads"};
  return {source, times, ""};
}

/// concat of slices of one value along the heads.
Repeat matchConcat(tw::ConcatOp concat) {
  if (int64_t(concat.getDim()) != headDim || concat.getInputs().empty())
    return {};
  Value source;
  SmallVector<int64_t> heads;
  for (Value input : concat.getInputs()) {
    int64_t start = 0, size = typeOf(input).getDimSize(headDim);
    Value from = input;
    if (auto slice = input.getDefiningOp<tw::SliceOp>(); slice && int64_t(slice.getDim()) == headDim) {
      start = slice.getStart();
      from = slice.getInput();
    }
    if ((source && source != from) || ShapedType::isDynamic(size))
      return {};
    source = from;
    for (int64_t i = 0; i < size; ++i)
      heads.push_back(start + i);
  }
  int64_t sourceHeads = typeOf(source).getDimSize(headDim), count = heads.size();
  if (ShapedType::isDynamic(sourceHeads) || sourceHeads < 1 || count <= sourceHeads)
    return {};
  int64_t times = count / sourceHeads;
  auto all = [&](auto headOf) {
    for (int64_t h = 0; h < count; ++h)
      if (heads[h] != headOf(h))
        return false;
    return true;
  };
  if (count % sourceHeads == 0 && all([&](int64_t h) { return h / times; }))
    return {source, times, ""};
  if (all([&](int64_t h) { return h % sourceHeads; }))
    return {{}, 1, "the list of heads is repeated as a whole (head h is h % " + std::to_string(sourceHeads) + "), not head by head"};
  return {{}, 1, "the slices are not each head the same number of times in a row"};
}

Repeat matchRepeat(Value value) {
  if (auto reshape = value.getDefiningOp<tw::ReshapeOp>())
    return matchExpand(reshape);
  if (auto concat = value.getDefiningOp<tw::ConcatOp>())
    return matchConcat(concat);
  return {};
}

class Share : public PassWrapper<Share, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Share)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Removes repeats of key/value heads in front of attention"; }

  void runOnOperation() final {
    SmallVector<tw::AttentionOp> candidates;
    getOperation()->walk([&](tw::AttentionOp op) {
      if (op.getKey() && op.getValue())
        candidates.push_back(op);
    });
    for (tw::AttentionOp op : candidates)
      share(op);
  }

private:
  static void share(tw::AttentionOp op) {
    auto missed = [&](const Twine &reason) { receipt::missed(op, passFlag, "shared_heads", reason, "repeat each key and value head the same number of times, head by head"); };
    Repeat key = matchRepeat(op.getKey()), value = matchRepeat(op.getValue());
    if (!key.fault.empty() || !value.fault.empty())
      return missed(key.fault.empty() ? "values: " + value.fault : "keys: " + key.fault);
    if (!key.source && !value.source)
      return; // nothing is repeated: no candidate
    if (key.times != value.times)
      return missed("each key head stands " + Twine(key.times) + " times, each value head " + Twine(value.times));
    int64_t before = typeOf(op.getKey()).getDimSize(headDim), after = typeOf(key.source).getDimSize(headDim);
    receipt::done(op, passFlag, "shared_heads",
                  "attention reads " + Twine(after) + " key/value heads instead of " + Twine(before));
    SmallVector<Operation *> repeats = {op.getKey().getDefiningOp(), op.getValue().getDefiningOp()};
    op.getKeyMutable().assign(key.source);
    op.getValueMutable().assign(value.source);
    llvm::DenseSet<Operation *> gone = tw::eraseDead(repeats[0]);
    if (!gone.contains(repeats[1]))
      tw::eraseDead(repeats[1]);
  }
};
} // namespace

std::unique_ptr<Pass> createShare() { return std::make_unique<Share>(); }

} // namespace tilewright::grouped_query_attention
