// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/mixture_of_experts/MixtureOfExperts.h"

#include "ir/tw/Shapes.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

#include "plugins/mixture_of_experts/MixtureOfExpertsDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/mixture_of_experts/MixtureOfExperts.cpp.inc"

namespace tilewright::mixture_of_experts {

using namespace mlir;

void MixtureOfExpertsDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/mixture_of_experts/MixtureOfExperts.cpp.inc"
      >();
}

namespace {

/// [N, k] with a static k of at least 1.
LogicalResult checkChoices(Operation *op, RankedTensorType indices) {
  if (indices.getRank() == 2 && !indices.isDynamicDim(1) && indices.getDimSize(1) >= 1)
    return success();
  return op->emitOpError("has indices of type ") << indices << ", wanted shape [N, k], k static and at least 1";
}

LogicalResult checkExperts(Operation *op, int64_t experts) {
  if (experts >= 1 && experts <= INT32_MAX)
    return success();
  return op->emitOpError("has ") << experts << " experts, wanted 1 to " << INT32_MAX;
}

NumericsBound boundOf(RankedTensorType type, StringRef mode, double precise, double fast) {
  return {0.0, type.getElementTypeBitWidth() < 32 ? 1e-2 : mode == "precise" ? precise : fast};
}

} // namespace

LogicalResult RouteOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto logits = dyn_cast<RankedTensorType>(adaptor.getLogits().getType());
  if (!logits || logits.getRank() != 2 || logits.isDynamicDim(1))
    return failure();
  SmallVector<int64_t> shape = {logits.getDimSize(0), std::min(logits.getDimSize(1), adaptor.getTopK())};
  if (shape[1] < 1)
    return failure();
  types.assign({logits.clone(shape), RankedTensorType::get(shape, IntegerType::get(context, 32))});
  return success();
}

LogicalResult RouteOp::verify() {
  RankedTensorType logits = getLogits().getType();
  // (C1)
  if (logits.getRank() != 2 || logits.isDynamicDim(1) || logits.getDimSize(1) < 1)
    return emitOpError("has logits of type ") << logits << ", wanted shape [N, E], E static and at least 1";
  int64_t experts = logits.getDimSize(1);
  // (C2)
  if (getTopK() < 1)
    return emitOpError("has top_k ") << getTopK() << ", wanted at least 1";
  int64_t k = std::min(getTopK(), experts);
  // (C3)
  if (Value bias = getSelectionBias()) {
    if (getSelectionBias().getType().getShape() != ArrayRef<int64_t>{experts})
      return emitOpError("has a selection_bias of type ") << bias.getType() << ", wanted shape [" << experts << "]";
    DenseElementsAttr numbers;
    if (matchPattern(bias, m_Constant(&numbers)))
      for (auto [e, number] : llvm::enumerate(numbers.getValues<APFloat>()))
        if (!number.isFinite())
          return emitOpError("has the selection_bias ")
                 << number.convertToDouble() << " for expert " << e << ", wanted finite numbers";
  }
  // (C4)
  int64_t groups = getGroups(), best = getTopGroups();
  if (groups < 1 || experts % groups != 0)
    return emitOpError("has ") << groups << " groups of " << experts << " experts, wanted a divisor";
  if (best < 1 || best > groups)
    return emitOpError("has top_groups ") << best << ", wanted 1 to " << groups;
  if (k > experts / groups * best)
    return emitOpError("chooses ") << k << " experts of " << best << " groups of " << experts / groups;
  // (C5)
  if (!std::isfinite(getScaling().convertToDouble()))
    return emitOpError("has scaling ") << getScaling().convertToDouble() << ", wanted a finite number";
  // (C6)
  SmallVector<int64_t> shape = {logits.getDimSize(0), k};
  if (getWeights().getType() != logits.clone(shape) || getIndices().getType().getShape() != ArrayRef(shape))
    return emitOpError("results are ") << getResultTypes() << ", wanted " << logits.clone(shape)
                                       << " and i32 of its shape";
  return success();
}

NumericsBound RouteOp::getNumericsBound(StringRef mode) {
  // A softmax and a quotient. Where two scores are as good as equal another expert may be chosen: no bound holds there.
  return boundOf(getWeights().getType(), mode, 1e-5, 1e-4);
}

LogicalResult ExpertsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto x = dyn_cast<RankedTensorType>(adaptor.getX().getType());
  auto down = dyn_cast<RankedTensorType>(adaptor.getDown().getType());
  if (!x || x.getRank() != 2 || !down || down.getRank() != 3)
    return failure();
  types.push_back(x.clone({x.getDimSize(0), down.getDimSize(adaptor.getInOut() ? 2 : 1)}));
  return success();
}

LogicalResult ExpertsOp::verify() {
  RankedTensorType x = getX().getType(), weights = getWeights().getType(), indices = getIndices().getType();
  RankedTensorType up = getUp().getType(), down = getDown().getType();
  // (C1)
  if (x.getRank() != 2 || x.isDynamicDim(1))
    return emitOpError("has x of type ") << x << ", wanted shape [N, in], in static";
  if (failed(checkChoices(*this, indices)))
    return failure();
  if (weights.getShape() != indices.getShape() || weights.getElementType() != x.getElementType() ||
      !tw::dimsAgree(indices.getDimSize(0), x.getDimSize(0)))
    return emitOpError("has weights ") << weights << " and indices " << indices << " for " << x
                                       << ", wanted one row of both for each of x, and weights of its element type";
  // (C2)
  if (getGate() && getFused())
    return emitOpError("has a gate, and gate and up projection in one as \"") << *getFused() << "\"";
  if (getGate() && getGate().getType().getShape() != up.getShape())
    return emitOpError("has a gate of type ") << getGate().getType() << ", wanted the shape of " << up;
  if (getGateBias() && !getGate())
    return emitOpError("has a gate_bias and no gate");
  // (C3)
  for (RankedTensorType weight : {up, down})
    if (weight.getRank() != 3 || !weight.hasStaticShape() || weight.getDimSize(0) < 1)
      return emitOpError("has a weight of type ") << weight << ", wanted a static shape [experts, out, in]";
  unsigned in = getInOut() ? 1 : 2, out = getInOut() ? 2 : 1;
  int64_t experts = up.getDimSize(0), parts = getFused() ? 2 : 1, hidden = down.getDimSize(in);
  if (up.getDimSize(in) != x.getDimSize(1) || up.getDimSize(out) != parts * hidden || down.getDimSize(0) != experts)
    return emitOpError("maps up by ") << up << " and down by " << down << ", wanted " << experts << " experts from "
                                      << x.getDimSize(1) << " to " << parts * hidden << " and from " << hidden;
  // (C4)
  for (auto [bias, weight] : {std::pair(getUpBias(), up), {getGateBias(), up}, {getDownBias(), down}})
    if (bias && bias.getType().getShape() != ArrayRef<int64_t>{experts, weight.getDimSize(out)})
      return emitOpError("has a bias of type ")
             << bias.getType() << ", wanted shape [" << experts << ", " << weight.getDimSize(out) << "]";
  // (C5)
  for (Value weight : {Value(getUp()), Value(getDown()), Value(getGate())})
    if (weight && getInOut() && !isa<FloatType>(cast<RankedTensorType>(weight.getType()).getElementType()))
      return emitOpError("has weights [in, out] of type ") << weight.getType() << ", wanted floats";
  // (C6)
  bool gated = getGate() || getFused();
  double alpha = getAlpha().convertToDouble(), offset = getUpOffset().convertToDouble();
  if (!std::isfinite(alpha) || alpha == 0 || (alpha != 1 && getActivation() != "silu"))
    return emitOpError("has alpha ") << alpha << " and activation \"" << getActivation()
                                     << "\", wanted a finite alpha other than 0, and 1 but for \"silu\"";
  if (std::optional<APFloat> limit = getLimit())
    if (double value = limit->convertToDouble(); !std::isfinite(value) || value <= 0 || !gated)
      return emitOpError("has limit ") << value << (gated ? "" : " and no gate")
                                       << ", wanted a finite limit above 0 of a gate";
  if (!std::isfinite(offset) || (offset != 0 && !gated))
    return emitOpError("has up_offset ") << offset << (gated ? "" : " and no gate")
                                         << ", wanted a finite one beside a gate";
  // (C7)
  RankedTensorType wanted = x.clone({x.getDimSize(0), down.getDimSize(out)});
  if (getType() != wanted)
    return emitOpError("result is ") << getType() << ", wanted " << wanted;
  return success();
}

NumericsBound ExpertsOp::getNumericsBound(StringRef mode) {
  // Two linear maps after another; fast: activations of 8 bits in both.
  return boundOf(getType(), mode, 2e-5, 8e-2);
}

LogicalResult CountsOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getExperts() < 1)
    return failure();
  types.push_back(RankedTensorType::get({adaptor.getExperts()}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult CountsOp::verify() {
  if (failed(checkChoices(*this, getIndices().getType())) || failed(checkExperts(*this, getExperts()))) // (C1), (C2)
    return failure();
  if (getType().getShape() != ArrayRef<int64_t>{getExperts()}) // (C3)
    return emitOpError("result is ") << getType() << ", wanted shape [" << getExperts() << "]";
  return success();
}

NumericsBound CountsOp::getNumericsBound(StringRef) { return {}; }

LogicalResult BalanceLossOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto values = dyn_cast<RankedTensorType>(adaptor.getValues().getType());
  if (!values)
    return failure();
  types.push_back(values.clone(ArrayRef<int64_t>()));
  return success();
}

LogicalResult BalanceLossOp::verify() {
  RankedTensorType values = getValues().getType(), indices = getIndices().getType();
  if (failed(checkChoices(*this, indices)) || failed(checkExperts(*this, getExperts()))) // (C1), (C2)
    return failure();
  // (C3)
  int64_t columns = getForm() == "mean_weight" ? indices.getDimSize(1) : getExperts();
  if (values.getRank() != 2 || values.getDimSize(1) != columns ||
      !tw::dimsAgree(values.getDimSize(0), indices.getDimSize(0)))
    return emitOpError("has values of type ")
           << values << " for form \"" << getForm() << "\", wanted " << tw::shapeText({indices.getDimSize(0), columns});
  // (C4)
  if (getType() != values.clone(ArrayRef<int64_t>()))
    return emitOpError("result is ") << getType() << ", wanted " << values.clone(ArrayRef<int64_t>());
  return success();
}

NumericsBound BalanceLossOp::getNumericsBound(StringRef mode) {
  // Sums over tokens; the differences from 1/E cancel where experts are used evenly.
  return {1e-6, boundOf(getValues().getType(), mode, 1e-5, 1e-4).relative};
}

} // namespace tilewright::mixture_of_experts
