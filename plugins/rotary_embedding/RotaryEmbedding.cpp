// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/rotary_embedding/RotaryEmbedding.h"

#include "ir/tw/Build.h"
#include "ir/tw/Shapes.h"

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

Operation *RotaryEmbeddingDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return tw::ConstantOp::create(builder, loc, type, cast<ElementsAttr>(value));
}

/// The dimensions of rows that the positions have: all but that of sections.
static ArrayRef<int64_t> rowShape(RotateOp op) {
  return op.getPositions().getType().getShape().drop_front(op.getSections() ? 1 : 0);
}

LogicalResult RotateOp::verify() {
  RankedTensorType input = getInput().getType(), positions = getPositions().getType();
  auto sections = getSections();
  int64_t rank = input.getRank(), rows = positions.getRank() - (sections ? 1 : 0);
  if (!(rank == 3 && rows == 1) && !(rank == 4 && (rows == 1 || rows == 2))) // (C1)
    return emitOpError("wants an input [N, H, D] with positions [N], or [B, H, T, D] with [B, T] or [T]")
           << (sections ? ", behind a dimension of sections" : "") << "; found " << input << " and " << positions;
  if (sections && positions.getDimSize(0) != int64_t(sections->size())) // (C1)
    return emitOpError("has ") << sections->size() << " sections and positions " << positions
                               << ", wanted as many of each row";
  if (input.isDynamicDim(rank - 1)) // (C1)
    return emitOpError("wants a static last dimension, found ") << input;
  for (auto [count, dim] : llvm::zip_equal(rowShape(*this), rowDims(rank, rows))) // (C2)
    if (!tw::dimsAgree(count, input.getDimSize(dim)))
      return emitOpError("has ") << count << " positions along dimension " << dim << " of the input, wanted "
                                 << input.getDimSize(dim);
  int64_t width = input.getShape().back(), rotary = getRotaryDim();
  if (rotary < 0 || rotary > width || rotary % 2 != 0) // (C3)
    return emitOpError("wants an even rotary_dim from 0 to ") << width << ", found " << rotary;
  return verifyAngles(*this, getBase().convertToDouble(), getAttentionFactor().convertToDouble(), rotary,
                      rowShape(*this), getFactors(), sections, getSectionLayout()); // (C4) (C5) (C6) (C7)
}

OpFoldResult RotateOp::fold(FoldAdaptor adaptor) {
  if (getRotaryDim() == 0)
    return getInput();
  auto positions = dyn_cast_or_null<DenseIntElementsAttr>(adaptor.getPositions());
  if (positions && positions.isSplat() && positions.getSplatValue<APInt>().isZero() &&
      getAttentionFactor().isExactlyValue(1.0))
    return getInput();
  return {};
}

FailureOr<SmallVector<Value>> RotateOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  if (getRotaryDim() == 0)
    return SmallVector<Value>{getInput()};
  Type element = getType().getElementType();
  SmallVector<int64_t> shape(rowShape(*this));
  shape.push_back(getRotaryDim());
  auto type = RankedTensorType::get(shape, tw::wideFloat(element));
  auto tables = TablesOp::create(b, type, type, getPositions(), getFactors(), getRotaryDim(), getBase(), getLayout(),
                                 getAttentionFactor(), getSectionsAttr(), getSectionLayout());
  return SmallVector<Value>{
      ApplyOp::create(b, getType(), getInput(), tables.getCosine(), tables.getSine(), getLayout()).getResult()};
}

StringRef RotateOp::getFusionKind() { return "rotary"; }

NumericsBound RotateOp::getNumericsBound(StringRef mode) {
  // Angles are reduced in f64; what is left of them, cosine and sine are f32's.
  bool narrow = getInput().getType().getElementTypeBitWidth() < 32;
  return {0.0, narrow ? 1e-2 : mode == "precise" ? 2e-6 : 1e-5};
}

// Rows and heads are independent; a head is never cut.
FailureOr<LoopMap> RotateOp::getLoopMap() {
  RankedTensorType type = getInput().getType();
  LoopMap map;
  map.loops = type.getRank() - 1;
  LoopDims positions(getSections() ? 1 : 0, LoopDim::whole()), factors;
  for (int64_t dim : rowDims(type.getRank(), rowShape(*this).size())) {
    positions.push_back(LoopDim::along(dim));
    if (hasFactorsOfRows())
      factors.push_back(LoopDim::along(dim));
  }
  factors.push_back(LoopDim::whole());
  map.operands = {leadingLoops(type.getRank(), map.loops), positions};
  if (getFactors())
    map.operands.push_back(factors);
  map.results = {leadingLoops(type.getRank(), map.loops)};
  return map;
}

} // namespace tilewright::rotary_embedding
