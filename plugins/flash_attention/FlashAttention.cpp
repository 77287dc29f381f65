// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/flash_attention/FlashAttention.h"

#include "ir/tw/AttentionForm.h"
#include "ir/tw/AttentionMerge.h"
#include "ir/tw/Build.h"
#include "ir/tw/Numerics.h"
#include "ir/tw/StateReach.h"

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

LogicalResult AttentionOp::verify() {
  // (C1) One set of rules: the core op's.
  return OwningOpRef<tw::AttentionOp>(tw::coreAttention(*this, getResultTypes()))->verifyInvariants();
}

FailureOr<SmallVector<Value>> AttentionOp::lowerToReference(OpBuilder &builder) {
  return SmallVector<Value>(builder.insert(tw::coreAttention(*this, getResultTypes()).getOperation())->getResults());
}

std::optional<int64_t> AttentionOp::getStateReach(Value) {
  return tw::attentionReach(getWindow(), getRadius(), getChunk());
}

StringRef AttentionOp::getFusionKind() { return "attention"; }

StringRef AttentionOp::describeFusion() { return "attention by tiles with an online softmax"; }

NumericsBound AttentionOp::getNumericsBound(StringRef mode) { return attentionBound(getQuery().getType(), mode); }

/// The types of one part's results.
static SmallVector<Type> partTypes(PartialsOp op) {
  return llvm::map_to_vector(op->getResultTypes(), [](Type type) -> Type {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.clone(tensor.getShape().drop_front());
  });
}

LogicalResult PartialsOp::verify() {
  if (static_cast<int64_t>(getParts()) < 2) // (C2)
    return emitOpError("parts is ") << static_cast<int64_t>(getParts()) << ", wanted at least 2";
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  if (getState() || getCuSeqlensQ() || getSinks() || !llvm::all_of(getOperandTypes(), isStatic)) // (C3)
    return emitOpError("wants the dense form of static shapes, without cu_seqlens_q and sinks");
  for (Value result : getResults()) // (C4)
    if (auto type = cast<RankedTensorType>(result.getType()); type.getRank() < 1 ||
                                                              type.getDimSize(0) != static_cast<int64_t>(getParts()) ||
                                                              type.getElementTypeBitWidth() < 32)
      return emitOpError("has a result of type ") << type << ", wanted " << getParts() << " parts of f32 or f64";
  return OwningOpRef<tw::AttentionOp>(tw::coreAttention(*this, partTypes(*this), getPartsAttrName()))
      ->verifyInvariants(); // (C1)
}

FailureOr<SmallVector<Value>> PartialsOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  SmallVector<Type> types = partTypes(*this);
  SmallVector<Value> outs, lses;
  const int64_t batches = getQuery().getType().getDimSize(0), parts = getParts();
  const int64_t rowDim = getLayout() == "bhtd" ? 2 : 1;
  auto keyType = cast<RankedTensorType>((getKey() ? getKey() : getQuery()).getType());
  const int64_t keys = keyType.getDimSize(rowDim), size = llvm::divideCeil(keys, parts);
  for (int64_t part = 0; part < parts; ++part) {
    auto [from, to] = tw::keyRange(b, batches, std::min(part * size, keys), std::min((part + 1) * size, keys),
                                   getKvStart(), getKvEnd());
    tw::AttentionOp core = tw::coreAttention(*this, types, getPartsAttrName());
    b.insert(core.getOperation());
    core.getKvStartMutable().assign(from);
    core.getKvEndMutable().assign(to);
    outs.push_back(tw::unsqueeze(b, core.getResult(), 0));
    lses.push_back(tw::unsqueeze(b, core.getLse(), 0));
  }
  return SmallVector<Value>{tw::concat(b, 0, outs), tw::concat(b, 0, lses)};
}

StringRef PartialsOp::getFusionKind() { return "attention"; }

StringRef PartialsOp::describeFusion() { return "attention by tiles with an online softmax, keys in parts"; }

NumericsBound PartialsOp::getNumericsBound(StringRef mode) { return attentionBound(getQuery().getType(), mode); }

} // namespace tilewright::flash_attention
