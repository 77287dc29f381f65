// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect and its absolute encodings.
#include "plugins/position_encoding/PositionEncoding.h"

#include "ir/tw/Build.h"
#include "ir/tw/Shapes.h"
#include "plugins/position_encoding/Places.h"

#include <cmath>
#include <numbers>

#include "plugins/position_encoding/PositionEncodingDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/position_encoding/PositionEncoding.cpp.inc"

namespace tilewright::position_encoding {

using namespace mlir;

void PositionEncodingDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/position_encoding/PositionEncoding.cpp.inc"
      >();
}

LogicalResult verifyShape(Operation *op, RankedTensorType found, ArrayRef<int64_t> wanted, StringRef what) {
  if (tw::shapesAgree(found.getShape(), wanted))
    return success();
  return op->emitOpError("has the ") << what << " " << found << ", wanted the shape " << tw::shapeText(wanted);
}

SmallVector<int64_t> leadingDims(int64_t count) { return llvm::to_vector(llvm::seq<int64_t>(0, count)); }

LogicalResult SinusoidalOp::verify() {
  if (getDim() < 1) // (C1)
    return emitOpError("wants a dim of at least 1, found ") << getDim();
  SmallVector<int64_t> wanted(getPositions().getType().getShape());
  wanted.push_back(getDim());
  if (failed(verifyShape(*this, getType(), wanted))) // (C1)
    return failure();
  double base = getBase().convertToDouble();
  if (!std::isfinite(base) || base <= 0) // (C2)
    return emitOpError("wants a finite base above 0, found ") << base;
  return success();
}

FailureOr<SmallVector<Value>> SinusoidalOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  int64_t dim = getDim(), sines = (dim + 1) / 2;
  double base = getBase().convertToDouble();
  // A cosine is the sine of a quarter turn more.
  SmallVector<double> rates, phases;
  for (int64_t j = 0; j < dim; ++j) {
    bool isSine = getLayout() == "half" ? j < sines : j % 2 == 0;
    int64_t i = getLayout() == "half" ? j % sines : j / 2;
    rates.push_back(std::pow(base, -2.0 * double(i) / double(dim)));
    phases.push_back(isSine ? 0.0 : std::numbers::pi / 2);
  }
  Value position = tw::castTo(b, getPositions(), b.getF64Type()); // [...]
  Value turns = tw::atPlaces(b, position, rates, dim);            // [..., dim]
  turns =
      tw::MulOp::create(b, turns, tw::broadcast(b, position, turns, leadingDims(tw::tensorType(position).getRank())));
  Value y = tw::SinOp::create(b, tw::AddOp::create(b, turns, tw::atPlaces(b, position, phases, dim)));
  return SmallVector<Value>{tw::castTo(b, y, getType().getElementType())};
}

NumericsBound SinusoidalOp::getNumericsBound(StringRef) {
  return {0.0, getType().getElementTypeBitWidth() < 32 ? 1e-2 : 1e-6};
}

LogicalResult LearnedOp::verify() {
  RankedTensorType table = getTable().getType(), positions = getPositions().getType();
  if (table.getRank() != 2 || positions.getRank() < 1) // (C1)
    return emitOpError("wants a table of rank 2 and positions of rank 1 or more, found ")
           << table << " and " << positions;
  SmallVector<int64_t> wanted(positions.getShape());
  wanted.push_back(table.getDimSize(1));
  if (failed(verifyShape(*this, getType(), wanted))) // (C2)
    return failure();
  if (getType().getElementType() != table.getElementType()) // (C2)
    return emitOpError("has the result ")
           << getType() << ", wanted the element type of the table, " << table.getElementType();
  return success();
}

FailureOr<SmallVector<Value>> LearnedOp::lowerToReference(OpBuilder &builder) {
  RankedTensorType table = getTable().getType();
  SmallVector<int64_t> shape(getPositions().getType().getShape());
  shape.push_back(table.getDimSize(1));
  return SmallVector<Value>{tw::GatherOp::create(builder, getLoc(), table.clone(shape), getTable(), getPositions())};
}

NumericsBound LearnedOp::getNumericsBound(StringRef) {
  return {}; // rows are copied
}

} // namespace tilewright::position_encoding
