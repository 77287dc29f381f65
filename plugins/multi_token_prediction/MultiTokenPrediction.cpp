// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/multi_token_prediction/MultiTokenPrediction.h"

#include "ir/tw/Layers.h"

#include <cmath>

#include "plugins/multi_token_prediction/MultiTokenPredictionDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/multi_token_prediction/MultiTokenPrediction.cpp.inc"

namespace tilewright::multi_token_prediction {

using namespace mlir;

void MultiTokenPredictionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/multi_token_prediction/MultiTokenPrediction.cpp.inc"
      >();
}

namespace {

bool hasShape(Value value, ArrayRef<int64_t> shape) { return tw::tensorType(value).getShape() == shape; }

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << '[';
  llvm::interleaveComma(shape, out);
  out << ']';
  return text;
}

constexpr StringLiteral wantedHidden =
    "wants a hidden state whose last dimension is static and at least 1, and of whose "
    "others one at most is dynamic, found ";

RankedTensorType rankedType(Value value) { return dyn_cast_or_null<RankedTensorType>(value.getType()); }

/// x [d...] -> [n, d...] or, with `last`, [n, d..., last] instead of x's last dimension.
RankedTensorType stacked(RankedTensorType x, int64_t n, std::optional<int64_t> last = std::nullopt) {
  SmallVector<int64_t> shape(x.getShape());
  if (last)
    shape.back() = *last;
  shape.insert(shape.begin(), n);
  return x.clone(shape);
}

/// More than one dynamic dimension could not be moved behind another one.
bool isHidden(RankedTensorType type) {
  return type.getRank() >= 1 && !type.isDynamicDim(type.getRank() - 1) && type.getShape().back() >= 1 &&
         type.getNumDynamicDims() <= 1;
}

/// A linear map's contract: sums of products in another order, or of activations of 8 bits.
NumericsBound linearBound(Type type, StringRef mode) {
  bool narrow = cast<RankedTensorType>(type).getElementTypeBitWidth() < 32;
  return {0.0, (narrow ? 2e-2 : 0.0) + (mode == "precise" ? 1e-5 : 4e-2)};
}

} // namespace

// Heads.

LogicalResult HeadsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType hidden = rankedType(adaptor.getHidden()), weight = rankedType(adaptor.getWeight());
  if (!hidden || !weight || hidden.getRank() < 1 || weight.getRank() != 3)
    return failure();
  types.push_back(stacked(hidden, weight.getDimSize(0), weight.getDimSize(1)));
  return success();
}

LogicalResult HeadsOp::verify() {
  RankedTensorType hidden = getHidden().getType(), weight = getWeight().getType();
  if (!isHidden(hidden)) // (C1)
    return emitOpError(wantedHidden) << hidden;
  int64_t width = hidden.getShape().back();
  if (weight.getRank() != 3 || !weight.hasStaticShape() || weight.getDimSize(0) < 1 ||
      weight.getDimSize(2) != width) // (C2)
    return emitOpError("wants a weight of shape [n, V, ") << width << "], found " << weight;
  if (getBias() && !hasShape(getBias(), weight.getShape().drop_back())) // (C3)
    return emitOpError("wants a bias of shape ")
           << shapeText(weight.getShape().drop_back()) << ", found " << getBias().getType();
  return success();
}

// One linear map by the rows of all heads.
FailureOr<SmallVector<Value>> HeadsOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  RankedTensorType weight = getWeight().getType();
  int64_t n = weight.getDimSize(0), vocabulary = weight.getDimSize(1), last = getHidden().getType().getRank() - 1;
  Value rows = tw::reshape(b, getWeight(), {n * vocabulary, weight.getDimSize(2)});
  Value bias = getBias() ? tw::reshape(b, getBias(), {n * vocabulary}) : Value();
  Value all = tw::linear(b, getHidden(), rows, bias); // [..., n * V]
  SmallVector<Value> heads;
  for (int64_t i = 0; i < n; ++i)
    heads.push_back(tw::unsqueeze(b, tw::slice(b, all, last, i * vocabulary, vocabulary), 0));
  return SmallVector<Value>{tw::concat(b, 0, heads)};
}

NumericsBound HeadsOp::getNumericsBound(StringRef mode) { return linearBound(getType(), mode); }

// Offsets.

LogicalResult OffsetsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType hidden = rankedType(adaptor.getHidden()), vectors = rankedType(adaptor.getVectors());
  if (!hidden || !vectors || vectors.getRank() != 2 || vectors.isDynamicDim(0))
    return failure();
  types.push_back(stacked(hidden, vectors.getDimSize(0) + 1));
  return success();
}

LogicalResult OffsetsOp::verify() {
  RankedTensorType hidden = getHidden().getType(), vectors = getVectors().getType();
  if (!isHidden(hidden)) // (C1)
    return emitOpError(wantedHidden) << hidden;
  int64_t width = hidden.getShape().back();
  if (vectors.getRank() != 2 || vectors.isDynamicDim(0) || vectors.getDimSize(1) != width) // (C2)
    return emitOpError("wants vectors of shape [n-1, ") << width << "], found " << vectors;
  if (getMatrix() && !hasShape(getMatrix(), {vectors.getDimSize(0), width, width})) // (C3)
    return emitOpError("wants a matrix of shape ")
           << shapeText({vectors.getDimSize(0), width, width}) << ", found " << getMatrix().getType();
  return success();
}

FailureOr<SmallVector<Value>> OffsetsOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Value hidden = getHidden();
  int64_t last = getHidden().getType().getRank() - 1;
  SmallVector<Value> states = {tw::unsqueeze(b, hidden, 0)};
  for (int64_t i = 0; i < getVectors().getType().getDimSize(0); ++i) {
    Value vector = tw::pick(b, getVectors(), i); // [E]
    Value offset = getMatrix() ? tw::activation(b, "silu", tw::linear(b, hidden, tw::pick(b, getMatrix(), i), vector))
                               : tw::broadcast(b, vector, hidden, {last});
    states.push_back(tw::unsqueeze(b, tw::AddOp::create(b, hidden, offset), 0));
  }
  return SmallVector<Value>{tw::concat(b, 0, states)};
}

NumericsBound OffsetsOp::getNumericsBound(StringRef mode) { return linearBound(getType(), mode); }

// Join.

LogicalResult JoinOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getHidden().getType());
  return success();
}

LogicalResult JoinOp::verify() {
  RankedTensorType hidden = getHidden().getType();
  if (hidden.getRank() < 1 || hidden.isDynamicDim(hidden.getRank() - 1) || hidden.getShape().back() < 1) // (C1)
    return emitOpError("wants a hidden state whose last dimension is static and at least 1, found ") << hidden;
  int64_t width = hidden.getShape().back();
  if (!hasShape(getHiddenNorm(), {width})) // (C2)
    return emitOpError("wants the norms' weights of shape [") << width << "], found " << getHiddenNorm().getType();
  if (!hasShape(getWeight(), {width, 2 * width})) // (C3)
    return emitOpError("wants a weight of shape ")
           << shapeText({width, 2 * width}) << ", found " << getWeight().getType();
  double epsilon = getEpsilon().convertToDouble();
  if (!std::isfinite(epsilon) || epsilon < 0) // (C4)
    return emitOpError("wants a finite epsilon of at least 0, found ") << epsilon;
  return success();
}

FailureOr<SmallVector<Value>> JoinOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  double epsilon = getEpsilon().convertToDouble();
  Value first = tw::rmsNorm(b, getEmbedding(), getEmbeddingNorm(), epsilon);
  Value second = tw::rmsNorm(b, getHidden(), getHiddenNorm(), epsilon);
  if (getOrder() == "hidden_first")
    std::swap(first, second);
  Value both = tw::concat(b, getHidden().getType().getRank() - 1, {first, second}); // [..., 2E]
  return SmallVector<Value>{tw::linear(b, both, getWeight())};
}

NumericsBound JoinOp::getNumericsBound(StringRef mode) { return linearBound(getType(), mode); }

} // namespace tilewright::multi_token_prediction
