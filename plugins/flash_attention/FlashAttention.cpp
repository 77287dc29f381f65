// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/flash_attention/FlashAttention.h"

#include "mlir/IR/Verifier.h"

#include "plugins/flash_attention/FlashAttentionDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/flash_attention/FlashAttention.cpp.inc"

namespace tilewright::flash_attention {

using namespace mlir;

void FlashAttentionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/flash_attention/FlashAttention.cpp.inc"
      >();
}

namespace {
/// The same operands and attributes as a tw.attention that stands in no block yet.
OwningOpRef<tw::AttentionOp> asCore(AttentionOp op) {
  OperationState state(op.getLoc(), tw::AttentionOp::getOperationName());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  state.addAttributes(op->getAttrDictionary().getValue());
  return OwningOpRef<tw::AttentionOp>(cast<tw::AttentionOp>(Operation::create(state)));
}
} // namespace

LogicalResult AttentionOp::verify() {
  // (C1) One set of rules: the core op's.
  return asCore(*this)->verifyInvariants();
}

FailureOr<SmallVector<Value>> AttentionOp::lowerToReference(OpBuilder &builder) {
  Operation *core = builder.insert(asCore(*this).release());
  return SmallVector<Value>{core->getResult(0)};
}

StringRef AttentionOp::getFusionKind() { return "attention"; }

StringRef AttentionOp::describeFusion() { return "attention by tiles with an online softmax"; }

NumericsBound AttentionOp::getNumericsBound(StringRef mode) {
  // Exponentials by a polynomial, sums tile by tile; fast may round P and V to bf16.
  bool narrow = getQuery().getType().getElementTypeBitWidth() < 32;
  return {0.0, mode == "precise" && !narrow ? 1e-4 : 2e-2};
}

} // namespace tilewright::flash_attention
