// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Tw.h"

#include "ir/tw/Shapes.h"

#include <cmath>

using namespace mlir;

namespace tilewright::tw {

LogicalResult StateType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<RankedTensorType> buffers) {
  if (buffers.empty())
    return emitError() << "a state has at least one buffer";
  for (RankedTensorType buffer : buffers)
    if (buffer.getRank() < 1 || !buffer.isDynamicDim(0) || buffer.getNumDynamicDims() != 1)
      return emitError() << "buffer " << buffer
                         << " of a state: wanted a dynamic number of tokens, then static dimensions";
  return success();
}

namespace {

LogicalResult checkDense(AttentionOp op) {
  RankedTensorType q = op.getQuery().getType(), k = op.getKey().getType(), v = op.getValue().getType();
  // (C2)
  if (q.getRank() != 4 || k.getRank() != 4 || v.getRank() != 4)
    return op.emitOpError("query, key and value have ranks ")
           << q.getRank() << ", " << k.getRank() << " and " << v.getRank() << ", wanted 4 in the dense form";
  ArrayRef<int64_t> qs = q.getShape(), ks = k.getShape(), vs = v.getShape();
  if (!shapesAgree(ks, {qs[0], ks[1], ks[2], qs[3]}))
    return op.emitOpError("key has shape ") << shapeText(ks) << ", wanted " << shapeText({qs[0], ks[1], ks[2], qs[3]})
                                            << " (the query's batch and head dimension)";
  if (!shapesAgree(vs, {ks[0], ks[1], ks[2], vs[3]}))
    return op.emitOpError("value has shape ") << shapeText(vs) << ", wanted " << shapeText({ks[0], ks[1], ks[2], vs[3]})
                                              << " (the key's batch, heads and length)";
  if (!shapesAgree(op.getType().getShape(), {qs[0], qs[1], qs[2], vs[3]}))
    return op.emitOpError("result has shape ")
           << shapeText(op.getType().getShape()) << ", wanted " << shapeText({qs[0], qs[1], qs[2], vs[3]});
  return success();
}

LogicalResult checkRagged(AttentionOp op) {
  RankedTensorType q = op.getQuery().getType();
  auto buffers = op.getState().getType().getBuffers();
  // (C8)
  if (buffers.size() > 2 || buffers.front().getRank() != 3 || buffers.back().getRank() != 3 ||
      buffers.front().getDimSize(1) != buffers.back().getDimSize(1))
    return op.emitOpError("state is ") << op.getState().getType()
                                       << ", wanted keys [tokens, Hkv, D] and values [tokens, Hkv, Dv], or keys alone";
  int64_t width = buffers.back().getDimSize(2);
  if (buffers.size() == 1 && op.getType().getRank() == 3 && !op.getType().isDynamicDim(2)) {
    if (op.getType().getDimSize(2) > width)
      return op.emitOpError("result has ") << op.getType().getDimSize(2)
                                           << " columns, wanted at most the " << width << " of the state's one buffer";
    width = op.getType().getDimSize(2);
  }
  // (C2)
  if (q.getRank() != 3 || !dimsAgree(q.getDimSize(2), buffers[0].getDimSize(2)))
    return op.emitOpError("query has shape ")
           << shapeText(q.getShape()) << ", wanted "
           << shapeText({ShapedType::kDynamic, ShapedType::kDynamic, buffers[0].getDimSize(2)});
  int64_t rows = q.getDimSize(0);
  if (!shapesAgree(op.getType().getShape(), {rows, q.getDimSize(1), width}))
    return op.emitOpError("result has shape ") << shapeText(op.getType().getShape()) << ", wanted "
                                               << shapeText({rows, q.getDimSize(1), width});
  int64_t sequences = op.getKvLen().getType().getRank() == 1 ? op.getKvLen().getType().getDimSize(0) : 0;
  int64_t bounds = ShapedType::isDynamic(sequences) ? sequences : sequences + 1;
  if (op.getKvLen().getType().getRank() != 1 || !shapesAgree(op.getRowStart().getType().getShape(), {bounds}) ||
      !shapesAgree(op.getPositions().getType().getShape(), {rows}))
    return op.emitOpError("row_start, kv_len and positions have shapes ")
           << shapeText(op.getRowStart().getType().getShape()) << ", " << shapeText(op.getKvLen().getType().getShape())
           << " and " << shapeText(op.getPositions().getType().getShape()) << ", wanted B+1, B and "
           << shapeText({rows});
  return success();
}

/// (C6): [T, S] behind up to two leading dimensions, which are 1 or the batch and heads.
LogicalResult checkScoreOperand(AttentionOp op, StringRef what, Value value) {
  if (!value)
    return success();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  int64_t lead[2] = {op.getQuery().getType().getDimSize(0), op.getQuery().getType().getDimSize(1)};
  int64_t wanted[2] = {op.getQuery().getType().getDimSize(2), op.getKey().getType().getDimSize(2)};
  bool fits = shape.size() >= 2 && shape.size() <= 4 && shapesAgree(shape.take_back(2), wanted);
  for (size_t i = 0; fits && i + 2 < shape.size(); ++i) {
    int64_t full = lead[2 - (shape.size() - 2) + i];
    fits = shape[i] == 1 || dimsAgree(shape[i], full);
  }
  if (!fits)
    return op.emitOpError(what) << " has shape " << shapeText(shape) << ", wanted " << shapeText(wanted)
                                << " behind at most [B or 1, H or 1] of " << shapeText(lead);
  return success();
}

} // namespace

StringRef AttentionOp::getFusionKind() { return "attention"; }

LogicalResult AttentionOp::verify() {
  // (C1)
  bool anyDense = getKey() || getValue(), allDense = getKey() && getValue();
  bool anyRagged = getState() || getRowStart() || getKvLen() || getPositions();
  bool allRagged = getState() && getRowStart() && getKvLen() && getPositions();
  if (anyDense ? !allDense || anyRagged : !allRagged)
    return emitOpError("wanted either key and value, or state, row_start, kv_len and positions");
  // (C2), (C8)
  if (failed(allDense ? checkDense(*this) : checkRagged(*this)))
    return failure();
  int64_t heads = getQuery().getType().getDimSize(1);
  int64_t kvHeads = allDense ? getKey().getType().getDimSize(1) : getState().getType().getBuffers()[0].getDimSize(1);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(kvHeads) || kvHeads < 1 || heads % kvHeads != 0)
    return emitOpError("has ") << heads << " query heads and " << kvHeads
                               << " key/value heads, wanted a static multiple of at least one";
  // (C3)
  double softcap = getSoftcap() ? getSoftcap()->convertToDouble() : 0.0;
  if (!getScale().isFinite())
    return emitOpError("scale is ") << getScaleAttr() << ", wanted a finite number";
  if (!std::isfinite(softcap) || softcap < 0)
    return emitOpError("softcap is ") << getSoftcapAttr() << ", wanted a finite number >= 0";
  // (C4)
  if (getWindow() && *getWindow() < 1)
    return emitOpError("window is ") << *getWindow() << ", wanted at least 1";
  if (getWindow() && getCausal() == "none")
    return emitOpError("has a window of ")
           << *getWindow() << " but is not causal; the window ends at the query's position";
  // (C5)
  if (allRagged && getCausal() == "start")
    return emitOpError("causal is \"start\", which the ragged form does not have");
  // (C6)
  if (allRagged && (getMask() || getBias()))
    return emitOpError("takes no mask or bias in the ragged form");
  if (failed(checkScoreOperand(*this, "mask", getMask())) || failed(checkScoreOperand(*this, "bias", getBias())))
    return failure();
  // (C7)
  if (getSinks() && !shapesAgree(getSinks().getType().getShape(), {heads}))
    return emitOpError("sinks have shape ") << shapeText(getSinks().getType().getShape()) << ", wanted " << heads;
  return success();
}

} // namespace tilewright::tw
