// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/multi_head_attention/MultiHeadAttention.h"

#include "ir/interfaces/ValueTags.h"
#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"
#include "plugins/multi_head_attention/ScorePath.h"

#include "llvm/Support/FormatVariadic.h"

namespace tilewright::multi_head_attention {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "multi-head-attention-recognise";

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

std::string text(ArrayRef<int64_t> shape) {
  auto size = [](int64_t d) { return ShapedType::isDynamic(d) ? std::string("?") : std::to_string(d); };
  return "[" + llvm::join(llvm::map_range(shape, size), ", ") + "]";
}

/// The number of elements; none where a dimension is dynamic.
std::optional<int64_t> count(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    product *= size;
  }
  return product;
}

/// One candidate: a softmax between two products.
class Candidate {
public:
  explicit Candidate(tw::SoftmaxOp softmax) : softmax(softmax), builder(softmax), b(softmax.getLoc(), builder) {}

  /// Whether it stands between two products at all.
  bool is();
  void raise();

private:
  void missed(const Twine &reason, const Twine &advice) {
    receipt::missed(product, passFlag, "attention", reason, advice);
  }
  /// Batch and heads: those of the first shape of rank 4 on the way, else the leading dimensions with heads of 1 each.
  bool chooseLead(const ScorePath &path);
  /// `value` [..., X, Y] as [B, H, X, Y]; null when no reshape does it.
  Value toHeads(Value value);
  /// A mask or bias as attention takes it: [T, S] behind dimensions that are 1 or those of batch and heads.
  Value toScores(const ScoreTerm &term);
  Value reshaped(Value value, ArrayRef<int64_t> shape);
  /// `condition` where keys are visible.
  Value visible(const ScoreTerm &term, Value condition);
  bool addMasks(const ScorePath &path);
  /// Takes the sinks off the softmax's input: concat(scores, sink of each head), whose last column nobody reads
  /// afterwards. Returns the scores; null after a receipt.
  Value takeSinks();
  bool addBiases(ArrayRef<ScoreTerm> terms);

  tw::SoftmaxOp softmax;
  tw::BatchMatmulOp product; ///< with the values
  OpBuilder builder;
  ImplicitLocOpBuilder b;
  SmallVector<int64_t, 2> lead; ///< B, H
  int64_t queries = 0, keys = 0;
  Value mask, bias, sinks;
  std::string causal = "none";
  IntegerAttr window;
};

bool Candidate::is() {
  if (!reachesProduct(softmax.getInput()))
    return false;
  // Through what keeps the weights to the product with the values.
  SmallVector<Operation *> work(softmax->getUsers());
  for (size_t i = 0; i < work.size() && i < 16; ++i) {
    if (auto found = dyn_cast<tw::BatchMatmulOp>(work[i])) {
      product = found;
      builder.setInsertionPoint(product);
      b.setInsertionPoint(product);
      b.setLoc(withoutTag(product.getLoc())); // only the last op stands for the product's value
      return true;
    }
    if (isa<tw::CastOp, tw::ReshapeOp, tw::TransposeOp, tw::SliceOp>(work[i]))
      llvm::append_range(work, work[i]->getUsers());
  }
  return false;
}

Value Candidate::reshaped(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value);
  if (type.getShape() == shape)
    return value;
  if (llvm::count_if(shape, ShapedType::isDynamic) > 1)
    return {};
  // Back to what it was reshaped from.
  if (auto reshape = value.getDefiningOp<tw::ReshapeOp>(); reshape && typeOf(reshape.getInput()).getShape() == shape)
    return reshape.getInput();
  return tw::reshape(b, value, shape);
}

bool Candidate::chooseLead(const ScorePath &path) {
  SmallVector<SmallVector<int64_t>> leads = {SmallVector<int64_t>(typeOf(path.query).getShape().drop_back(2))};
  llvm::append_range(leads, path.leads);
  if (auto reshape = path.query.getDefiningOp<tw::ReshapeOp>()) {
    ArrayRef<int64_t> from = typeOf(reshape.getInput()).getShape(), to = typeOf(path.query).getShape();
    if (from.size() == 4 && to.size() >= 2 && from.take_back(2) == to.take_back(2))
      leads.push_back(SmallVector<int64_t>(from.drop_back(2)));
  }
  leads.push_back(SmallVector<int64_t>(typeOf(product.getRhs()).getShape().drop_back(2)));
  const auto *four = llvm::find_if(leads, [](ArrayRef<int64_t> l) { return l.size() == 2; });
  if (four != leads.end()) {
    lead.assign(four->begin(), four->end());
  } else {
    ArrayRef<int64_t> own = leads.front();
    if (own.empty())
      lead = {1, 1};
    else if (own.size() == 1)
      lead = ShapedType::isDynamic(own[0]) ? SmallVector<int64_t, 2>{own[0], 1} : SmallVector<int64_t, 2>{1, own[0]};
    else if (own.size() == 3 && count(own.drop_front()))
      lead = {own[0], *count(own.drop_front())};
    else
      return missed("queries have shape " + text(typeOf(path.query).getShape()) + ", wanted [B, H, T, D]",
                    "join leading dimensions to a batch and a static number of heads"),
             false;
  }
  if (ShapedType::isDynamic(lead[1]))
    return missed("the number of heads is dynamic", "give it a static size"), false;
  return true;
}

Value Candidate::toHeads(Value value) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  SmallVector<int64_t> wanted = {lead[0], lead[1], shape[shape.size() - 2], shape.back()};
  // Elements keep their order, so equal numbers of leading ones say enough; one dynamic dimension on each side is the
  // same.
  ArrayRef<int64_t> own = shape.drop_back(2);
  bool sameCount = own == ArrayRef<int64_t>(lead) || (count(own) && count(own) == count(lead));
  if (!sameCount && !own.empty() && ShapedType::isDynamic(own.front()) && ShapedType::isDynamic(lead[0]))
    sameCount = count(own.drop_front()) && count(own.drop_front()) == lead[1];
  return sameCount ? reshaped(value, wanted) : Value();
}

Value Candidate::toScores(const ScoreTerm &term) {
  Value value = withoutLeadingBroadcast(term.value);
  auto fits = [&](ArrayRef<int64_t> own) { // [..., T, S]
    if (own.size() < 2 || own.size() > 4)
      return false;
    for (auto [have, want] : llvm::zip(llvm::reverse(own.drop_back(2)), llvm::reverse(lead)))
      if (have != 1 && have != want)
        return false;
    return true;
  };
  for (Value candidate : {value, term.value}) {
    ArrayRef<int64_t> shape = typeOf(candidate).getShape();
    // A shape of rank 3 behind scores [B * H, T, S] or [B, Hkv, G, T, S] would mean other dimensions than in [B, H, T,
    // S].
    const bool sameLead = ArrayRef<int64_t>(term.lead) == ArrayRef<int64_t>(lead);
    const bool allOnes = llvm::all_of(shape.drop_back(2), [](int64_t size) { return size == 1; });
    if (fits(shape) && (sameLead || allOnes)) {
      if (shape.size() != 3)
        return candidate;
      // Of rank 3, attention's are [B, T, S]; these are [H, T, S].
      if (Value full = reshaped(candidate, {1, shape[0], shape[1], shape[2]}))
        return full;
    }
    if (allOnes)
      if (Value two = reshaped(candidate, shape.take_back(2)))
        return two;
    if (count(shape.drop_back(2)) && count(shape.drop_back(2)) == count(lead))
      if (Value full = reshaped(candidate, {lead[0], lead[1], queries, keys}))
        return full;
    // [B, 1 or Hkv, 1 or G, T, S]
    if (ArrayRef<int64_t> front = shape.drop_back(2); front.size() == 3 && count(front.drop_front()))
      if (int64_t heads = *count(front.drop_front());
          (heads == 1 || heads == lead[1]) && (front[0] == 1 || front[0] == lead[0]))
        if (Value joined = reshaped(candidate, {front[0], heads, queries, keys}))
          return joined;
  }
  missed("a mask or bias has shape " + text(typeOf(term.value).getShape()) +
             " in front of [T, S], which does not repeat to " + text({lead[0], lead[1], queries, keys}),
         "give masks and biases the shape [T, S], or [B or 1, H or 1, T, S]");
  return {};
}

Value Candidate::visible(const ScoreTerm &term, Value condition) {
  if (term.visible)
    return condition;
  auto constant = [&](bool value) -> Value {
    auto scalar = RankedTensorType::get({}, b.getI1Type());
    Value number = tw::ConstantOp::create(b, scalar, DenseElementsAttr::get(scalar, value));
    return tw::broadcast(b, number, condition, {});
  };
  return tw::SelectOp::create(b, condition, constant(false), constant(true));
}

bool Candidate::addMasks(const ScorePath &path) {
  // All bands at once, as causality and a window.
  Band band;
  for (const ScoreTerm &term : path.masks)
    if (term.band)
      band.intersect(*term.band);
  const bool known = !ShapedType::isDynamic(queries) && !ShapedType::isDynamic(keys);
  if (known && band.high >= keys - 1)
    band.high = Band::unbounded;
  if (known && band.low <= 1 - queries)
    band.low = -Band::unbounded;
  bool byAttribute = true;
  if (known && band.high == keys - queries)
    causal = "end";
  else if (band.high == 0)
    causal = "start";
  else
    byAttribute = band.high == Band::unbounded && band.low == -Band::unbounded;
  if (byAttribute && band.low > -Band::unbounded) {
    window = b.getI64IntegerAttr(band.high - band.low + 1);
    byAttribute = band.low <= band.high;
  }
  if (!byAttribute)
    causal = "none", window = {};

  for (const ScoreTerm &term : path.masks) {
    if (term.band && byAttribute)
      continue;
    if (!typeOf(term.value).getElementType().isInteger(1)) { // a constant that is added
      if (!addBiases(term))
        return false;
      continue;
    }
    Value condition = toScores(term);
    if (!condition)
      return false;
    condition = visible(term, condition);
    if (!mask) {
      mask = condition;
      continue;
    }
    if (mask.getType() != condition.getType())
      return missed("masks of the shapes " + text(typeOf(mask).getShape()) + " and " +
                        text(typeOf(condition).getShape()) + " hide keys",
                    "join the masks before the scores are masked"),
             false;
    mask = tw::SelectOp::create(b, mask, condition, mask); // both; where the first is false, it says so itself
  }
  return true;
}

bool Candidate::addBiases(ArrayRef<ScoreTerm> terms) {
  for (const ScoreTerm &term : terms) {
    Value value = toScores(term);
    if (!value)
      return false;
    if (term.factor != 1)
      value = tw::MulOp::create(b, value, tw::splat(b, term.factor, value));
    if (bias && bias.getType() != value.getType())
      return missed("biases of the shapes " + text(typeOf(bias).getShape()) + " and " + text(typeOf(value).getShape()) +
                        " are added",
                    "add up the biases before they are added to the scores"),
             false;
    bias = bias ? tw::AddOp::create(b, bias, value).getResult() : value;
  }
  return true;
}

Value Candidate::takeSinks() {
  Value input = withoutRowConstants(softmax.getInput());
  auto concat = input.getDefiningOp<tw::ConcatOp>();
  if (!concat)
    return softmax.getInput();
  const int64_t rank = softmax.getType().getRank();
  if (int64_t(concat.getDim()) != rank - 1 || concat.getInputs().size() != 2 ||
      typeOf(concat.getInputs()[1]).getDimSize(rank - 1) != 1)
    return missed("scores are joined with something that is no sink, one more score a row",
                  "keep scores in one tensor"),
           Value();
  // One number for each head.
  Value sink = concat.getInputs()[1];
  if (auto broadcast = sink.getDefiningOp<tw::BroadcastOp>();
      broadcast && rank == 4 && broadcast.getDims() == ArrayRef<int64_t>{1})
    sinks = broadcast.getInput();
  if (!sinks)
    return missed("the sinks are not one number for each head, repeated to [B, H, T, 1]",
                  "broadcast a tensor [H] along dimension 1"),
           Value();
  return concat.getInputs()[0];
}

void Candidate::raise() {
  int64_t rank = softmax.getType().getRank();
  if (int64_t(softmax.getDim()) != rank - 1)
    return missed("the softmax is over dimension " + Twine(softmax.getDim()) + ", wanted the last one",
                  "normalise over the keys, the last dimension of the scores");
  Value scoresIn = takeSinks();
  if (!scoresIn)
    return;
  Value weights = softmax.getResult();
  bool sinkColumn = sinks != nullptr; // still among the weights
  while (true) {
    if (!weights.hasOneUse())
      return missed("the softmax has " + Twine(std::distance(weights.use_begin(), weights.use_end())) +
                        " uses, wanted one: the weights themselves are asked for",
                    "do not return or read the weights, or accept attention on the reference path");
    Operation *user = *weights.getUsers().begin();
    if (user == product)
      break;
    if (auto slice = dyn_cast<tw::SliceOp>(user); slice && sinkColumn && int64_t(slice.getDim()) == rank - 1 &&
                                                  slice.getStart() == 0 &&
                                                  typeOf(slice.getResult()).getShape() == typeOf(scoresIn).getShape()) {
      sinkColumn = false;
      weights = slice.getResult();
      continue;
    }
    const bool keeps =
        isa<tw::CastOp>(user) ? isa<FloatType>(typeOf(user->getResult(0)).getElementType()) : keepsScores(user);
    if (!keeps)
      return missed("'" + user->getName().getStringRef() +
                        "' stands between the softmax and the product with the values",
                    "multiply the weights with the values as they are");
    weights = user->getResult(0);
  }
  if (sinkColumn)
    return missed("the sinks' column is multiplied with values as well", "cut the last column off the weights");
  if (product.getLhs() != weights)
    return missed("the weights are the right operand of their product",
                  "multiply the weights, as the left operand, with the values");
  ScorePath path = walkScores(scoresIn, sinks != nullptr);
  if (!path.fault.empty())
    return missed(path.fault, path.advice);
  if (!chooseLead(path))
    return;

  ArrayRef<int64_t> scores = typeOf(scoresIn).getShape();
  queries = scores[scores.size() - 2];
  keys = scores.back();
  auto swapLast = [&](Value value) -> Value {
    SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
    std::swap(perm.back(), perm[perm.size() - 2]);
    // One transpose in place of two.
    if (auto inner = value.getDefiningOp<tw::TransposeOp>()) {
      SmallVector<int64_t> joined = llvm::map_to_vector(perm, [&](int64_t d) { return inner.getPerm()[d]; });
      if (llvm::equal(joined, llvm::seq<int64_t>(0, joined.size())))
        return inner.getInput();
      return tw::transpose(b, inner.getInput(), joined);
    }
    return tw::transpose(b, value, perm);
  };
  Value query = path.query, key = path.keyTransposed ? swapLast(path.key) : path.key;
  Value values = product.getTransposeB() ? swapLast(product.getRhs()) : product.getRhs();
  SmallVector<Value> heads;
  for (Value value : {query, key, values}) {
    heads.push_back(toHeads(value));
    if (!heads.back())
      return missed("an operand of shape " + text(typeOf(value).getShape()) + " has no " + text(lead) +
                        " batch and heads that a reshape could name",
                    "give batch or length a static size, or write queries, keys and values as [B, H, T, D]");
  }
  if (typeOf(heads[0]).getElementType() != typeOf(heads[1]).getElementType() ||
      typeOf(heads[0]).getElementType() != typeOf(heads[2]).getElementType())
    return missed("queries, keys and values have different element types", "cast them to one type");
  if (!addBiases(path.biases) || !addMasks(path))
    return;

  SmallVector<int64_t> shape = {lead[0], lead[1], queries, typeOf(values).getShape().back()};
  SmallVector<int64_t> wanted(product.getType().getShape());
  if (shape != wanted && llvm::count_if(wanted, ShapedType::isDynamic) > 1)
    return missed("the result has shape " + text(wanted) + ", to which " + text(shape) + " cannot be reshaped",
                  "give batch or length a static size, or write queries, keys and values as [B, H, T, D]");
  std::string what = "raised to tw.attention with scale " + llvm::formatv("{0}", path.scale).str();
  if (causal != "none")
    what += ", causal from the " + causal;
  if (sinks)
    what += ", with sinks";
  if (window)
    what += ", window " + std::to_string(window.getInt());
  const bool rowsMayBeEmpty = mask || (causal == "end" && (ShapedType::isDynamic(keys) || queries > keys));
  if (path.finiteFill && rowsMayBeEmpty)
    what += "; rows whose keys are all masked now give 0 instead of the mean of the values";
  receipt::done(product, passFlag, "attention", what);
  auto attention = tw::AttentionOp::create(b, typeOf(query).clone(shape), heads[0], heads[1], heads[2], path.scale);
  if (mask)
    attention.getMaskMutable().assign(mask);
  if (bias)
    attention.getBiasMutable().assign(bias);
  if (sinks)
    attention.getSinksMutable().assign(sinks);
  attention.setCausal(causal);
  attention.setWindowAttr(window);
  if (path.softcap)
    attention.setSoftcapAttr(b.getF64FloatAttr(*path.softcap));
  Value result = attention.getResult();
  if (product.getType().getElementType() != typeOf(result).getElementType())
    result = tw::castTo(b, result, product.getType().getElementType());
  if (result.getType() != product.getType())
    result = tw::reshape(b, result, wanted);
  result.getDefiningOp()->setLoc(product.getLoc());
  product.getResult().replaceAllUsesWith(result);
  tw::eraseDead(product);
}

class Recognise : public PassWrapper<Recognise, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Recognise)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Raises softmax(Q K^T) V written in tw ops to tw.attention"; }

  void runOnOperation() final {
    SmallVector<tw::SoftmaxOp> softmaxes;
    getOperation()->walk([&](tw::SoftmaxOp op) { softmaxes.push_back(op); });
    for (tw::SoftmaxOp softmax : softmaxes)
      if (Candidate candidate(softmax); candidate.is())
        candidate.raise();
  }
};
} // namespace

std::unique_ptr<Pass> createRecognise() { return std::make_unique<Recognise>(); }

} // namespace tilewright::multi_head_attention
