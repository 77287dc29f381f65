// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/rotary_embedding/RotaryEmbedding.h"

#include "ir/tw/Build.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

#include "plugins/rotary_embedding/RotaryEmbeddingDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/rotary_embedding/RotaryEmbedding.cpp.inc"

namespace tilewright::rotary_embedding {

using namespace mlir;

void RotaryEmbeddingDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/rotary_embedding/RotaryEmbedding.cpp.inc"
      >();
}

namespace {
bool agree(int64_t a, int64_t b) { return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b); }

/// Dimensions of the input that the positions' dimensions are: [N] of [N, H, D]; [B, T] or [T] of [B, H, T, D].
SmallVector<int64_t> positionDims(RankedTensorType input, RankedTensorType positions) {
  if (input.getRank() == 3)
    return {0};
  if (positions.getRank() == 2)
    return {0, 2};
  return {2};
}
} // namespace

SmallVector<double> angleRates(double base, int64_t rotaryDim) {
  SmallVector<double> rates;
  for (int64_t i = 0; i < rotaryDim / 2; ++i)
    rates.push_back(std::pow(base, -2.0 * double(i) / double(rotaryDim)));
  return rates;
}

LogicalResult RotateOp::verify() {
  RankedTensorType input = getInput().getType(), positions = getPositions().getType();
  int64_t rank = input.getRank(), rows = positions.getRank();
  if (!(rank == 3 && rows == 1) && !(rank == 4 && (rows == 1 || rows == 2))) // (C1)
    return emitOpError("wants an input [N, H, D] with positions [N], or [B, H, T, D] with [B, T] or [T]; found ")
           << input << " and " << positions;
  if (input.isDynamicDim(rank - 1)) // (C1)
    return emitOpError("wants a static last dimension, found ") << input;
  for (auto [k, dim] : llvm::enumerate(positionDims(input, positions))) // (C2)
    if (!agree(positions.getDimSize(k), input.getDimSize(dim)))
      return emitOpError("has ") << positions.getDimSize(k) << " positions along dimension " << dim
                                 << " of the input, wanted " << input.getDimSize(dim);
  int64_t width = input.getShape().back(), rotary = getRotaryDim();
  if (rotary < 0 || rotary > width || rotary % 2 != 0) // (C3)
    return emitOpError("wants an even rotary_dim from 0 to ") << width << ", found " << rotary;
  double base = getBase().convertToDouble();
  if (!std::isfinite(base) || base <= 0) // (C4)
    return emitOpError("wants a finite base above 0, found ") << base;
  if (Value factors = getFactors()) { // (C5)
    auto type = cast<RankedTensorType>(factors.getType());
    if (type.getRank() != 1 || type.getDimSize(0) != rotary / 2)
      return emitOpError("wants factors of shape [") << rotary / 2 << "], found " << type;
  }
  return success();
}

OpFoldResult RotateOp::fold(FoldAdaptor adaptor) {
  if (getRotaryDim() == 0)
    return getInput();
  auto positions = dyn_cast_or_null<DenseIntElementsAttr>(adaptor.getPositions());
  if (positions && positions.isSplat() && positions.getSplatValue<APInt>().isZero())
    return getInput();
  return {};
}

FailureOr<SmallVector<Value>> RotateOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  RankedTensorType type = getInput().getType();
  int64_t last = type.getRank() - 1, width = type.getShape().back(), rotary = getRotaryDim();
  if (rotary == 0)
    return SmallVector<Value>{getInput()};
  Type element = type.getElementType(), f64 = b.getF64Type();
  Type inner = element.getIntOrFloatBitWidth() < 32 ? b.getF32Type() : element;
  Value x = tw::castTo(b, getInput(), inner);

  // The two elements of each pair: [..., r/2].
  auto constantIds = [&](ArrayRef<int32_t> ids) -> Value {
    auto idType = RankedTensorType::get({int64_t(ids.size())}, b.getI32Type());
    return tw::ConstantOp::create(b, idType, DenseElementsAttr::get(idType, ids));
  };
  // Elements `ids` of the last dimension, as rows of the transpose: no reshape, so any dimension may be dynamic.
  auto pick = [&](Value value, ArrayRef<int32_t> ids) -> Value {
    SmallVector<int64_t> toFront = {last}, toBack;
    for (int64_t i = 0; i < last; ++i) {
      toFront.push_back(i);
      toBack.push_back(i + 1);
    }
    toBack.push_back(0);
    Value table = tw::transpose(b, value, toFront);
    SmallVector<int64_t> shape(tw::tensorType(table).getShape());
    shape[0] = ids.size();
    Value rows = tw::GatherOp::create(b, tw::tensorType(table).clone(shape), table, constantIds(ids));
    return tw::transpose(b, rows, toBack);
  };
  bool interleaved = getLayout() == "interleaved";
  SmallVector<int32_t> even, odd, order;
  for (int32_t i = 0; i < rotary / 2; ++i) {
    even.push_back(2 * i);
    odd.push_back(2 * i + 1);
    order.append({i, int32_t(i + rotary / 2)});
  }
  Value x1 = interleaved ? pick(x, even) : tw::slice(b, x, last, 0, rotary / 2);
  Value x2 = interleaved ? pick(x, odd) : tw::slice(b, x, last, rotary / 2, rotary / 2);

  // Angles [..., r/2] in f64: rounding a rate to f32 would show at large positions.
  auto rateType = RankedTensorType::get({rotary / 2}, f64);
  Value rates = tw::ConstantOp::create(
      b, rateType, DenseElementsAttr::get(rateType, ArrayRef<double>(angleRates(getBase().convertToDouble(), rotary))));
  if (Value factors = getFactors())
    rates = tw::DivOp::create(b, rates, tw::castTo(b, factors, f64));
  Value position = tw::castTo(b, getPositions(), f64);
  Value angle = tw::MulOp::create(b, tw::broadcast(b, position, x1, positionDims(type, getPositions().getType())),
                                  tw::broadcast(b, rates, x1, {last}));
  Value cosine = tw::castTo(b, tw::CosOp::create(b, angle), inner);
  Value sine = tw::castTo(b, tw::SinOp::create(b, angle), inner);

  auto mul = [&](Value l, Value r) -> Value { return tw::MulOp::create(b, l, r); };
  Value y1 = tw::SubOp::create(b, mul(x1, cosine), mul(x2, sine));
  Value y2 = tw::AddOp::create(b, mul(x2, cosine), mul(x1, sine));
  Value turned = tw::concat(b, last, {y1, y2});
  if (interleaved)
    turned = pick(turned, order);
  if (rotary < width)
    turned = tw::concat(b, last, {turned, tw::slice(b, x, last, rotary, -1)});
  return SmallVector<Value>{tw::castTo(b, turned, element)};
}

StringRef RotateOp::getFusionKind() { return "rotary"; }

NumericsBound RotateOp::getNumericsBound(StringRef mode) {
  // Angles reduced in f32 lose about position * 6e-8.
  bool narrow = getInput().getType().getElementTypeBitWidth() < 32;
  return {0.0, narrow ? 1e-2 : mode == "precise" ? 1e-4 : 1e-3};
}

// Rows and heads are independent; a head is never cut.
FailureOr<LoopMap> RotateOp::getLoopMap() {
  RankedTensorType type = getInput().getType();
  LoopMap map;
  map.loops = type.getRank() - 1;
  LoopDims positions;
  for (int64_t dim : positionDims(type, getPositions().getType()))
    positions.push_back(LoopDim::along(dim));
  map.operands = {leadingLoops(type.getRank(), map.loops), positions};
  if (getFactors())
    map.operands.push_back({LoopDim::whole()});
  map.results = {leadingLoops(type.getRank(), map.loops)};
  return map;
}

} // namespace tilewright::rotary_embedding
