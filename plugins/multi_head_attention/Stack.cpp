// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads with weights of their own, computed one by one and put beside each other, are one attention on all heads. Their
// projections stay apart: joining weights that are packed one by one would copy them in every step.
#include "plugins/multi_head_attention/MultiHeadAttention.h"

#include "ir/interfaces/ValueTags.h"
#include "ir/tw/Layers.h"
#include "passes/api/Receipts.h"

namespace tilewright::multi_head_attention {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "multi-head-attention-stack";
constexpr llvm::StringLiteral receiptKind = "stacked_heads";

ArrayRef<int64_t> shapeOf(Value value) { return tw::tensorType(value).getShape(); }

/// The dense attention that `value` is, behind reshapes that keep its rows and that nothing else reads; null if it is
/// none.
tw::AttentionOp attentionOf(Value value) {
  while (auto reshape = value.getDefiningOp<tw::ReshapeOp>()) {
    ArrayRef<int64_t> from = shapeOf(reshape.getInput()), to = shapeOf(value);
    if (from.size() < 2 || to.size() < 2 || from.take_back(2) != to.take_back(2) || !value.hasOneUse())
      return {};
    value = reshape.getInput();
  }
  auto attention = value.getDefiningOp<tw::AttentionOp>();
  const bool alone = attention && attention.getKey() && attention->hasOneUse() && value == attention->getResult(0);
  return alone ? attention : tw::AttentionOp();
}

/// Whether two values of one type are one value, reshaped.
bool sameElements(Value a, Value b) {
  auto source = [](Value value) {
    while (auto reshape = value.getDefiningOp<tw::ReshapeOp>())
      value = reshape.getInput();
    return value;
  };
  return a.getType() == b.getType() && source(a) == source(b);
}

class Heads {
public:
  Heads(tw::ConcatOp concat, ArrayRef<tw::AttentionOp> ops)
      : concat(concat), ops(ops), b(withoutTag(concat.getLoc()), concat.getOperation()) {}

  void stack() {
    std::string reason = fault();
    if (!reason.empty())
      return receipt::missed(concat, passFlag, receiptKind, reason,
                             "compute all heads alike, each from [B, T, D], or write them as one attention");
    SmallVector<std::pair<Value, Value>> shared = keysAndValues();
    receipt::done(concat, passFlag, receiptKind,
                  Twine(ops.size()) + " heads in one attention on " + Twine(shared.size()) + " key/value heads");
    SmallVector<Value> queries, keys, values, sinks;
    for (tw::AttentionOp op : ops) {
      queries.push_back(asHead(op.getQuery()));
      if (op.getSinks())
        sinks.push_back(op.getSinks());
    }
    for (auto [key, value] : shared)
      keys.push_back(asHead(key)), values.push_back(asHead(value));
    Value query = joined(1, queries), key = joined(1, keys), value = joined(1, values); // [B, H or Hkv, T or S, D]
    Value mask = joinedTerm(masks()), bias = joinedTerm(biases());
    Value sink = sinks.empty() ? Value() : joined(0, sinks);

    // Only the last op stands for a value of the graph, the concat's.
    auto attention = cast<tw::AttentionOp>(b.clone(*ops[0].getOperation()));
    attention->setLoc(b.getLoc());
    attention.getQueryMutable().assign(query);
    attention.getKeyMutable().assign(key);
    attention.getValueMutable().assign(value);
    if (mask)
      attention.getMaskMutable().assign(mask);
    if (bias)
      attention.getBiasMutable().assign(bias);
    if (sink)
      attention.getSinksMutable().assign(sink);
    RankedTensorType type = tw::tensorType(query);
    Value result = attention->getResult(0); // [B, H, T, Dv]
    result.setType(type.clone({type.getDimSize(0), type.getDimSize(1), type.getDimSize(2), shapeOf(value)[3]}));
    if (!besideEachOther())
      result = tw::joinHeads(b, result);
    if (result.getType() != concat.getType())
      result = tw::reshape(b, result, concat.getType().getShape());
    result.getDefiningOp()->setLoc(concat.getLoc());
    concat.getResult().replaceAllUsesWith(result);
    tw::eraseDead(concat);
  }

private:
  /// Heads keep a dimension of their own.
  bool besideEachOther() {
    return concat.getType().getRank() == 4 && concat.getDim() == 1 && shapeOf(concat.getInputs()[0])[1] == 1;
  }

  /// Why they cannot be one attention; empty when they can.
  std::string fault() {
    const int64_t rank = concat.getType().getRank(), dim = concat.getDim();
    ArrayRef<int64_t> head = shapeOf(concat.getInputs()[0]);
    if (!besideEachOther() && (dim != rank - 1 || rank < 2 || rank > 3))
      return "heads are joined along dimension " + std::to_string(dim) + " of " + std::to_string(rank) +
             ", wanted the last one of [T, D] or [B, T, D], or the second of [B, 1, T, D]";
    batch = rank == 2 ? 1 : head[0];
    if (!besideEachOther() && ShapedType::isDynamic(batch) && ShapedType::isDynamic(head[rank - 2]))
      return "both batch and length are dynamic";
    for (auto [i, op] : llvm::enumerate(ops)) {
      std::string name = "head " + std::to_string(i);
      if (op->getAttrDictionary() != ops[0]->getAttrDictionary())
        return name + " differs from head 0 in " + differingAttribute(op);
      if (op.getQuery().getType() != ops[0].getQuery().getType() ||
          op.getKey().getType() != ops[0].getKey().getType() || op.getValue().getType() != ops[0].getValue().getType())
        return name + " has other shapes than head 0";
      if (op.getLayout() != "bhtd" || op->getNumRegions() > 0 || op->getNumResults() > 1)
        return name + " has another layout, a score rule, or further results";
      const unsigned known = 3 + (op.getMask() ? 1 : 0) + (op.getBias() ? 1 : 0) + (op.getSinks() ? 1 : 0);
      if (op->getNumOperands() != known)
        return name + " has lengths or segments of its sequences";
      ArrayRef<int64_t> lead = op.getQuery().getType().getShape().take_front(2);
      const bool isOneHead = lead == ArrayRef<int64_t>{batch, 1} || lead == ArrayRef<int64_t>{1, batch};
      if (!isOneHead || lead != shapeOf(op.getKey()).take_front(2))
        return name + " is itself attention on several heads";
      if (op.getSinks() && lead[1] != 1)
        return name + " has sinks for each sequence";
    }
    return joins(masks()) && joins(biases())
               ? ""
               : "masks or biases differ between heads in shape, or have several dynamic sizes";
  }

  std::string differingAttribute(tw::AttentionOp op) {
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (ops[0]->getAttrDictionary().get(attribute.getName()) != attribute.getValue())
        return attribute.getName().str();
    return "an attribute that it lacks";
  }

  /// [B, 1, T, D] from that or [1, B, T, D]: the same elements in the same order.
  Value asHead(Value value) {
    ArrayRef<int64_t> shape = shapeOf(value);
    SmallVector<int64_t> wanted = {batch, 1, shape[2], shape[3]};
    return shape == ArrayRef<int64_t>(wanted) ? value : tw::reshape(b, value, wanted);
  }

  /// Equal neighbours share keys and values, as long as each is shared by the same number of queries.
  SmallVector<std::pair<Value, Value>> keysAndValues() {
    using Pair = std::pair<Value, Value>;
    SmallVector<Pair> all =
        llvm::map_to_vector(ops, [](tw::AttentionOp op) { return Pair(op.getKey(), op.getValue()); });
    auto same = [](Pair a, Pair b) { return sameElements(a.first, b.first) && sameElements(a.second, b.second); };
    SmallVector<Pair> distinct;
    for (Pair pair : all)
      if (llvm::none_of(distinct, [&](Pair other) { return same(pair, other); }))
        distinct.push_back(pair);
    const size_t times = all.size() / distinct.size();
    for (auto [i, pair] : llvm::enumerate(all))
      if (times * distinct.size() != all.size() || !same(pair, distinct[i / times]))
        return all;
    return distinct;
  }

  /// Masks or biases of all heads; one if it is the same for all. Empty where there are none.
  SmallVector<Value> terms(function_ref<Value(tw::AttentionOp)> get) {
    SmallVector<Value> all = llvm::map_to_vector(ops, get);
    if (!all[0])
      return {};
    if (llvm::all_of(all, [&](Value term) { return sameElements(term, all[0]); }))
      all.truncate(1);
    return all;
  }
  SmallVector<Value> masks() {
    return terms([](tw::AttentionOp op) -> Value { return op.getMask(); });
  }
  SmallVector<Value> biases() {
    return terms([](tw::AttentionOp op) -> Value { return op.getBias(); });
  }

  static bool repeats(Value term) {
    return llvm::all_of(shapeOf(term).drop_back(2), [](int64_t size) { return size == 1; });
  }

  /// A mask or bias as that of one head, [B or 1, 1, T, S].
  SmallVector<int64_t> termShape(Value term) {
    SmallVector<int64_t> shape = {repeats(term) ? 1 : batch, 1};
    llvm::append_range(shape, shapeOf(term).take_back(2));
    return shape;
  }

  bool joins(ArrayRef<Value> terms) {
    return llvm::all_of(terms, [&](Value term) {
      SmallVector<int64_t> shape = termShape(term);
      return term.getType() == terms[0].getType() &&
             ((terms.size() == 1 && repeats(term)) || shapeOf(term) == ArrayRef<int64_t>(shape) ||
              llvm::count_if(shape, ShapedType::isDynamic) <= 1);
    });
  }

  /// Null for none. Attention itself repeats a term that is the same for every sequence and head.
  Value joinedTerm(ArrayRef<Value> terms) {
    if (terms.empty() || (terms.size() == 1 && repeats(terms[0])))
      return terms.empty() ? Value() : terms[0];
    SmallVector<Value> heads = llvm::map_to_vector(terms, [&](Value term) {
      SmallVector<int64_t> shape = termShape(term);
      return shapeOf(term) == ArrayRef<int64_t>(shape) ? term : tw::reshape(b, term, shape);
    });
    return joined(1, heads);
  }

  Value joined(int64_t dim, ArrayRef<Value> parts) { return parts.size() == 1 ? parts[0] : tw::concat(b, dim, parts); }

  tw::ConcatOp concat;
  SmallVector<tw::AttentionOp> ops;
  ImplicitLocOpBuilder b;
  int64_t batch = 0; ///< sequences of each head
};

class Stack : public PassWrapper<Stack, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Stack)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Makes one attention of heads that are computed one by one"; }

  void runOnOperation() final {
    SmallVector<std::pair<tw::ConcatOp, SmallVector<tw::AttentionOp>>> candidates;
    getOperation()->walk([&](tw::ConcatOp concat) {
      SmallVector<tw::AttentionOp> ops = llvm::map_to_vector(concat.getInputs(), attentionOf);
      if (ops.size() > 1 && llvm::all_of(ops, [](tw::AttentionOp op) { return static_cast<bool>(op); }))
        candidates.emplace_back(concat, std::move(ops));
    });
    for (auto &[concat, ops] : candidates)
      Heads(concat, ops).stack();
  }
};

} // namespace

std::unique_ptr<Pass> createStack() { return std::make_unique<Stack>(); }

} // namespace tilewright::multi_head_attention
