// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/conformance/broken/Broken.h"

#include "ir/tw/Build.h"
#include "tests/conformance/broken/Fault.h"

#include <cmath>
#include <unistd.h>

#include "tests/conformance/broken/BrokenDialect.cpp.inc"

#define GET_OP_CLASSES
#include "tests/conformance/broken/Broken.cpp.inc"

namespace tilewright::broken {

using namespace mlir;

void BrokenDialect::initialize() {
  addOperations<ScaleOp>();
  if (isFault("duplicate_op"))
    addOperations<ScaleOp>();
  if (isFault("missing_reference"))
    addOperations<NoReferenceOp>();
  if (isFault("kernel_ignores_length") || isFault("state_without_offsets"))
    addOperations<AttendOp>();
  if (isFault("undocumented"))
    addOperations<UndocumentedOp>();
}

/// The shape rule.
static RankedTensorType resultType(RankedTensorType input) {
  if (!isFault("wrong_shape") || input.isDynamicDim(0))
    return input;
  SmallVector<int64_t> shape(input.getShape());
  ++shape[0];
  return RankedTensorType::get(shape, input.getElementType());
}

ParseResult ScaleOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand input, mask;
  RankedTensorType inputType, maskType;
  if (parser.parseOperand(input) || parser.parseComma() || parser.parseOperand(mask) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(inputType) || parser.parseComma() ||
      parser.parseType(maskType) || parser.resolveOperand(input, inputType, result.operands) ||
      parser.resolveOperand(mask, maskType, result.operands))
    return failure();
  result.addTypes(resultType(inputType));
  return success();
}

void ScaleOp::print(OpAsmPrinter &printer) {
  printer << " " << getInput() << ", " << getMask();
  if (isFault("round_trip")) // says another factor than it has
    printer << " {factor = 1.0 : f64}";
  else
    printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getInput().getType() << ", " << getMask().getType();
}

LogicalResult ScaleOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(resultType(cast<RankedTensorType>(adaptor.getInput().getType())));
  return success();
}

LogicalResult ScaleOp::verify() {
  if (isFault("crash_in_verifier"))
    *static_cast<volatile int *>(nullptr) = 1;
  if (isFault("sleeps_in_verifier"))
    pause();
  if (isFault("fatal_in_verifier"))
    llvm::report_fatal_error("the op is beyond repair");
  if (isFault("refuses_everything") && getInput().getType().hasStaticShape())
    return emitOpError("takes no static shape");
  if (getMask().getType().getShape() != getInput().getType().getShape()) // (C1)
    return emitOpError("wants a mask of the input's shape, found ") << getMask().getType();
  if (!getFactor().isFinite() && !isFault("accepts_bad_sample")) // (C2)
    return emitOpError("wants a finite factor");
  return success();
}

FailureOr<SmallVector<Value>> ScaleOp::lowerToReference(OpBuilder &builder) {
  if (isFault("reference_gives_null"))
    return SmallVector<Value>{Value()};
  if (isFault("endless_reference")) {
    return SmallVector<Value>{ScaleOp::create(builder, getLoc(), getInput(), getMask(), getFactorAttr())};
  }
  ImplicitLocOpBuilder b(getLoc(), builder);
  Value scaled = tw::MulOp::create(b, getInput(), tw::splat(b, getFactor().convertToDouble(), getInput()));
  return SmallVector<Value>{tw::SelectOp::create(b, getMask(), scaled, tw::splat(b, 0.0, scaled))};
}

FailureOr<SmallVector<Value>> ScaleOp::buildGradient(OpBuilder &builder, ValueRange gradients) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  double factor = getFactor().convertToDouble();
  if (isFault("wrong_gradient"))
    factor *= 1.0005;
  if (isFault("wrong_gradient_of_16_bits") && getInput().getType().getElementTypeBitWidth() == 16)
    factor *= 1.03125; // a number of bf16
  Value scaled = tw::MulOp::create(b, gradients[0], tw::splat(b, factor, gradients[0]));
  return SmallVector<Value>{tw::SelectOp::create(b, getMask(), scaled, tw::splat(b, 0.0, scaled)), Value()};
}

NumericsBound ScaleOp::getNumericsBound(StringRef) {
  if (isFault("contract_too_wide"))
    return {0.0, 0.5};
  if (isFault("contract_takes_zeros"))
    return {100.0, 1e-4};
  if (isFault("contract_no_number"))
    return {0.0, std::nan("")};
  return {0.0, 1e-4};
}

FailureOr<SmallVector<Value>> UndocumentedOp::lowerToReference(OpBuilder &builder) {
  return SmallVector<Value>{tw::NegOp::create(builder, getLoc(), getInput())};
}

} // namespace tilewright::broken
