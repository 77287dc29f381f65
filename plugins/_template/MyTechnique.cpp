// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/_template/MyTechnique.h"

#include "ir/tw/Build.h"

#include "plugins/_template/MyTechniqueDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/_template/MyTechnique.cpp.inc"

namespace tilewright::my_technique {

using namespace mlir;

void MyTechniqueDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/_template/MyTechnique.cpp.inc"
      >();
}

// The shape rule. It runs before the verifier, so it must bear any input; the verifier says what is wrong with one.
LogicalResult MaxoutOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  SmallVector<int64_t> shape(input.getShape());
  int64_t pieces = adaptor.getPieces();
  if (!shape.empty() && !ShapedType::isDynamic(shape.back()) && pieces > 0)
    shape.back() /= pieces;
  types.push_back(input.clone(shape));
  return success();
}

LogicalResult MaxoutOp::verify() {
  RankedTensorType type = getInput().getType();
  if (getPieces() < 2) // (C1)
    return emitOpError("wants at least 2 pieces, found ") << getPieces();
  if (type.getRank() < 1 || type.isDynamicDim(type.getRank() - 1) || type.getShape().back() % getPieces() != 0) // (C2)
    return emitOpError("wants an input whose last dimension is static and a multiple of ")
           << getPieces() << ", found " << type;
  return success();
}

// The meaning of the op in core ops: every other form of it is compared with this one.
FailureOr<SmallVector<Value>> MaxoutOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  int64_t last = getType().getRank() - 1, width = getType().getShape().back();
  Value largest = tw::slice(b, getInput(), last, 0, width); // [..., E]
  for (int64_t piece = 1; piece < getPieces(); ++piece)
    largest = tw::MaximumOp::create(b, largest, tw::slice(b, getInput(), last, piece * width, width));
  return SmallVector<Value>{largest};
}

NumericsBound MaxoutOp::getNumericsBound(StringRef) {
  return {}; // nothing is rounded: a compiled form gives the same numbers
}

} // namespace tilewright::my_technique
