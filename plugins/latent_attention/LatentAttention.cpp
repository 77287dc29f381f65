// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the ops demand of their operands.
#include "plugins/latent_attention/LatentAttention.h"

#include "ir/tw/Build.h"
#include "ir/tw/Numerics.h"
#include "ir/tw/Shapes.h"
#include "ir/tw/StateReach.h"

#include <cmath>

#include "plugins/latent_attention/LatentAttentionDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/latent_attention/LatentAttention.cpp.inc"

namespace tilewright::latent_attention {

using namespace mlir;
using tw::shapesAgree;
using tw::shapeText;
using tw::tensorType;

void LatentAttentionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/latent_attention/LatentAttention.cpp.inc"
      >();
}

//===--- attention
//--------------------------------------------------------------------------------------------------===//

namespace {

constexpr int64_t kAny = ShapedType::kDynamic;

LogicalResult checkShape(Operation *op, StringRef what, Value value, ArrayRef<int64_t> wanted) {
  if (shapesAgree(tensorType(value).getShape(), wanted))
    return success();
  return op->emitOpError("wants ") << what << " of shape " << shapeText(wanted) << ", found " << value.getType();
}

/// (C8) [T, S], [B, T, S] or [B, H, T, S], where each dimension but the last may be 1.
LogicalResult checkMask(AttentionOp op) {
  if (!op.getMask())
    return success();
  ArrayRef<int64_t> shape = op.getMask().getType().getShape(), q = op.getQNope().getType().getShape();
  int64_t full[4] = {q[0], q[1], q[2], op.getLatent().getType().getDimSize(1)};
  bool fits = shape.size() >= 2 && shape.size() <= 4;
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    size_t at = shape.size() == 3 && i == 0 ? 0 : 4 - shape.size() + i;
    fits = (at < 3 && shape[i] == 1) || tw::dimsAgree(shape[i], full[at]);
  }
  if (fits)
    return success();
  return op.emitOpError("wants a mask that repeats to ") << shapeText(full) << ", found " << op.getMask().getType();
}

LogicalResult checkShapes(AttentionOp op) {
  RankedTensorType nope = op.getQNope().getType(), rope = op.getQRope().getType(), up = op.getUpWeight().getType();
  unsigned rank = op.isRagged() ? 3 : 4;
  if (nope.getRank() != rank || rope.getRank() != rank || op.getType().getRank() != rank) // (C2)
    return op.emitOpError("wants query parts and result of rank ")
           << rank << ", found " << nope << ", " << rope << " and " << op.getType();
  if (up.getRank() != 2 || !up.hasStaticShape() || up.getDimSize(1) < 1) // (C3)
    return op.emitOpError("wants a static up-projection [H * (Dn + Dv), rank], found ") << up;
  auto storage = dyn_cast<StorageType>(up.getElementType());
  bool isFloat = isa<FloatType>(up.getElementType());
  if (!isFloat && (!storage || up.getDimSize(1) % storage.getBlockElements() != 0)) // (C3)
    return op.emitOpError("wants an up-projection of floats, or of a storage type whose blocks divide its ")
           << up.getDimSize(1) << " columns, found " << up;
  for (auto [what, extent] : {std::pair("heads", op.heads()),
                              {"columns without rotation", op.nopeDim()},
                              {"rotary columns", op.ropeDim()},
                              {"value columns", op.valueDim()}})
    if (ShapedType::isDynamic(extent) || extent < 1) // (C2)
      return op.emitOpError("wants a static number of ")
             << what << " of at least 1, found " << nope << ", " << rope << " and " << op.getType();
  if (up.getDimSize(0) != op.heads() * (op.nopeDim() + op.valueDim())) // (C3)
    return op.emitOpError("has an up-projection of ") << up.getDimSize(0) << " rows, wanted " << op.heads()
                                                      << " heads of " << op.nopeDim() << " + " << op.valueDim();
  SmallVector<int64_t> parts(nope.getShape().drop_back()), result = parts;
  parts.push_back(kAny);
  result.push_back(op.valueDim());
  if (failed(checkShape(op, "a rotary part of the query", op.getQRope(), parts)) || // (C2)
      failed(checkShape(op, "a result", op.getResult(), result)))
    return failure();
  return success();
}

LogicalResult checkDense(AttentionOp op) {
  RankedTensorType latent = op.getLatent().getType();
  int64_t batch = op.getQNope().getType().getDimSize(0), keys = latent.getRank() == 3 ? latent.getDimSize(1) : kAny;
  if (failed(checkShape(op, "a latent", op.getLatent(), {batch, kAny, op.rank()})) || // (C2)
      failed(checkShape(op, "a rotary key", op.getKRope(), {batch, keys, op.ropeDim()})))
    return failure();
  auto isStatic = [](Value value, ArrayRef<int64_t> dims) {
    return llvm::none_of(dims, [&](int64_t dim) { return tensorType(value).isDynamicDim(dim); });
  };
  if (!isStatic(op.getLatent(), {2}) || !isStatic(op.getKRope(), {2}) ||
      (!(isStatic(op.getQNope(), {0}) && isStatic(op.getQRope(), {0}) && isStatic(op.getLatent(), {0})) &&
       !(isStatic(op.getQNope(), {2}) && isStatic(op.getQRope(), {2}) && isStatic(op.getLatent(), {1}) &&
         isStatic(op.getKRope(), {1})))) // (C2)
    return op.emitOpError("wants static columns, and a static batch or static lengths, found ")
           << op.getQNope().getType() << " and " << latent;
  return checkMask(op);
}

LogicalResult checkRagged(AttentionOp op) {
  ArrayRef<RankedTensorType> buffers = op.getState().getType().getBuffers();
  if (buffers.size() != 1 || !shapesAgree(buffers[0].getShape(), {kAny, 1, op.rank() + op.ropeDim()})) // (C4)
    return op.emitOpError("wants a state of one buffer [tokens, 1, ")
           << op.rank() << " + " << op.ropeDim() << "], found " << op.getState().getType();
  if (op.getForm() == "expanded") // (C5)
    return op.emitOpError("has no expanded form over a state, which holds latents: wanted auto or absorbed");
  if (op.getCausal() == "start") // (C7)
    return op.emitOpError("causal is \"start\", which the form over a state does not have");
  return success();
}

} // namespace

double AttentionOp::scaleOrDefault() {
  return getScale() ? getScale()->convertToDouble() : 1.0 / std::sqrt(static_cast<double>(nopeDim() + ropeDim()));
}

LogicalResult AttentionOp::verify() {
  bool anyRagged = getState() || getRowStart() || getKvLen() || getPositions();
  bool dense = getLatent() && getKRope() && !anyRagged;
  bool ragged =
      getState() && getRowStart() && getKvLen() && getPositions() && !getLatent() && !getKRope() && !getMask();
  if (!dense && !ragged) // (C1)
    return emitOpError(
        "wants either a latent and a rotary key, or state, row_start, kv_len and positions without a mask");
  if (failed(checkShapes(*this)) || failed(dense ? checkDense(*this) : checkRagged(*this)))
    return failure();
  if (getScale() && !getScale()->isFinite()) // (C6)
    return emitOpError("wants a finite scale");
  if (getWindow() && (*getWindow() < 1 || getCausal() == "none")) // (C7)
    return emitOpError("wants a window of at least 1 that is causal, found ")
           << *getWindow() << " with causal \"" << getCausal() << "\"";
  return success();
}

NumericsBound AttentionOp::getNumericsBound(StringRef mode) {
  return attentionBound(getType(), mode); // of either form
}

std::optional<int64_t> AttentionOp::getStateReach(Value) { return tw::attentionReach(getWindow()); }

//===--- absorb
//-----------------------------------------------------------------------------------------------------===//

LogicalResult AbsorbOp::verify() {
  RankedTensorType input = getInput().getType(), weight = getWeight().getType(), result = getType();
  auto isRows = [](RankedTensorType type) {
    return type.getRank() == 3 && !type.isDynamicDim(1) && !type.isDynamicDim(2) && type.getDimSize(1) >= 1 &&
           type.getDimSize(2) >= 1;
  };
  if (!isRows(input) || !isRows(result) ||
      !shapesAgree(input.getShape().take_front(2), result.getShape().take_front(2))) // (C1)
    return emitOpError("wants an input and a result [N, H, columns] of equal rows and static heads and columns, found ")
           << input << " and " << result;
  int64_t heads = input.getDimSize(1);
  if (weight.getRank() != 2 || !weight.hasStaticShape() || weight.getDimSize(0) % heads != 0) // (C2)
    return emitOpError("wants a static weight of a multiple of ") << heads << " rows, found " << weight;
  bool isKey = getPart() == "key";
  int64_t narrow = (isKey ? input : result).getDimSize(2), wide = (isKey ? result : input).getDimSize(2);
  if (wide != weight.getDimSize(1) || narrow > weight.getDimSize(0) / heads) // (C3)
    return emitOpError("wants ") << (isKey ? "a result" : "an input") << " of " << weight.getDimSize(1)
                                 << " columns and " << (isKey ? "an input" : "a result") << " of at most "
                                 << weight.getDimSize(0) / heads << ", found " << input << " and " << result;
  return success();
}

NumericsBound AbsorbOp::getNumericsBound(StringRef) {
  return {0.0, getType().getElementTypeBitWidth() < 32 ? 1e-2 : 1e-5}; // sums of products in f32
}

//===--- latent_array
//-----------------------------------------------------------------------------------------------===//

namespace {

struct Projection {
  StringRef name;
  Value weight, bias;
};

/// (C3), (C4) of one projection [H * D, E]; `rows` is that of those before, or 0.
LogicalResult checkProjection(LatentArrayOp op, const Projection &p, int64_t &rows) {
  if (!p.weight) {
    if (p.bias) // (C9)
      return op.emitOpError("has a bias for a ") << p.name << " projection without its weight";
    return success();
  }
  RankedTensorType type = tensorType(p.weight);
  int64_t heads = op.getHeads(), width = op.getInput().getType().getDimSize(2);
  if (type.getRank() != 2 || !type.hasStaticShape() || type.getDimSize(1) != width || type.getDimSize(0) < 1 ||
      type.getDimSize(0) % heads != 0 || (rows && type.getDimSize(0) != rows)) // (C3)
    return op.emitOpError("wants a ") << p.name << " weight of "
                                      << (rows ? std::to_string(rows) : "a multiple of " + std::to_string(heads))
                                      << " rows by " << width << ", found " << type;
  rows = type.getDimSize(0);
  if (p.bias && tensorType(p.bias).getShape() != type.getShape().take_front(1)) // (C4)
    return op.emitOpError("wants a ") << p.name << " bias of " << type.getDimSize(0) << " elements, found "
                                      << p.bias.getType();
  return success();
}

} // namespace

LogicalResult LatentArrayOp::verify() {
  RankedTensorType input = getInput().getType(), latents = getLatents().getType();
  constexpr StringLiteral other = "; latent_attention.attention, attention of low rank, has that";
  if (getCausal() != "none" || getWindow()) // (C8)
    return emitOpError("is not causal and has no window, for every output sees every input") << other;
  if (input.getRank() == 2) // (C1)
    return emitOpError("wants whole sequences [B, L, E], found rows ")
           << input << ": it cannot decode step by step" << other;
  if (input.getRank() != 3 || input.isDynamicDim(0) || input.isDynamicDim(2) || latents.getRank() != 2 ||
      !latents.hasStaticShape() || latents.getDimSize(0) < 1 || latents.getDimSize(1) != input.getDimSize(2)) // (C1)
    return emitOpError("wants an input [B, L, E] with static B and E, and static latents [N, E], found ")
           << input << " and " << latents;
  if (getHeads() < 1) // (C2)
    return emitOpError("wants at least one head, found ") << getHeads();
  int64_t rows = 0;
  for (const Projection &p :
       {Projection{"query", getQueryWeight(), getQueryBias()}, Projection{"key", getKeyWeight(), getKeyBias()},
        Projection{"value", getValueWeight(), getValueBias()},
        Projection{"latent query", getLatentQueryWeight(), getLatentQueryBias()},
        Projection{"latent key", getLatentKeyWeight(), getLatentKeyBias()},
        Projection{"latent value", getLatentValueWeight(), getLatentValueBias()}})
    if (failed(checkProjection(*this, p, rows)))
      return failure();
  if (getValues() == "updated" && getLatentValueWeight()) // (C9)
    return emitOpError("has a value projection of the latents, which values = \"updated\" does not use");
  RankedTensorType out = tensorType(getOutputWeight());
  if (out.getRank() != 2 || !out.hasStaticShape() || out.getDimSize(1) != rows) // (C3)
    return emitOpError("wants an output weight of ") << rows << " columns, found " << out;
  if (getOutputBias() && getOutputBias().getType().getShape() != out.getShape().take_front(1)) // (C4)
    return emitOpError("wants an output bias of ")
           << out.getDimSize(0) << " elements, found " << getOutputBias().getType();
  int64_t batch = input.getDimSize(0), number = latents.getDimSize(0);
  if (failed(checkShape(*this, "a result", getResult(), {batch, input.getDimSize(1), out.getDimSize(0)})) || // (C5)
      failed(checkShape(*this, "updated latents", getUpdated(), {batch, getHeads(), number, rows / getHeads()})))
    return failure();
  if (getScale() && !getScale()->isFinite()) // (C6)
    return emitOpError("wants a finite scale");
  if (Value mask = getMask()) { // (C7)
    int64_t middle = tensorType(mask).getRank() == 3 && tensorType(mask).getDimSize(1) == 1 ? 1 : number;
    return checkShape(*this, "a mask", mask, {batch, middle, input.getDimSize(1)});
  }
  return success();
}

NumericsBound LatentArrayOp::getNumericsBound(StringRef mode) {
  // Linear maps, two attentions and a linear map, each by its own contract.
  bool narrow = getResult().getType().getElementTypeBitWidth() < 32;
  return {0.0, mode == "precise" && !narrow ? 2e-4 : 8e-2};
}

} // namespace tilewright::latent_attention
