// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Tw.h"

#include "ir/tw/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace tilewright::tw {

LogicalResult StateType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<RankedTensorType> buffers,
                                StringAttr group) {
  if (buffers.empty())
    return emitError() << "a state has at least one buffer";
  for (RankedTensorType buffer : buffers)
    if (buffer.getRank() < 1 || !buffer.isDynamicDim(0) || buffer.getNumDynamicDims() != 1)
      return emitError() << "buffer " << buffer
                         << " of a state: wanted a dynamic number of tokens, then static dimensions";
  if (group && group != "source" && group != "transient")
    return emitError() << "group " << group << " of a state: wanted source, transient or none";
  return success();
}

Type StateType::parse(AsmParser &parser) {
  SmallVector<RankedTensorType> buffers;
  StringRef group;
  auto buffer = [&] { return parser.parseType(buffers.emplace_back()); };
  if (parser.parseLess() || parser.parseCommaSeparatedList(buffer))
    return {};
  if (succeeded(parser.parseOptionalKeyword("in")) && parser.parseKeyword(&group))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<StateType>(parser.getContext(), ArrayRef<RankedTensorType>(buffers),
                                      group.empty() ? StringAttr() : parser.getBuilder().getStringAttr(group));
}

void StateType::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getBuffers(), printer);
  if (getGroup())
    printer << " in " << getGroup().getValue();
  printer << '>';
}

void AttentionOp::build(OpBuilder &b, OperationState &state, Type type, Value query, Value key, Value value,
                        double scale) {
  build(b, state, type, /*extra=*/TypeRange(), query, key, value, /*state_=*/Value(), /*row_start=*/Value(),
        /*kv_len=*/Value(), /*positions=*/Value(), /*mask=*/Value(), /*bias=*/Value(), /*sinks=*/Value(),
        /*kv_start=*/Value(), /*kv_end=*/Value(), /*prefix_len=*/Value(), /*cu_seqlens_q=*/Value(),
        /*cu_seqlens_kv=*/Value(), b.getF64FloatAttr(scale), b.getStringAttr("none"), /*window=*/IntegerAttr(),
        /*softcap=*/FloatAttr(), /*offset=*/IntegerAttr(), /*radius=*/IntegerAttr(), /*chunk=*/IntegerAttr(),
        b.getStringAttr("bhtd"), /*scoreCount=*/0);
}

AttentionOp::Sizes AttentionOp::getSizes() {
  ArrayRef<int64_t> q = getQuery().getType().getShape();
  if (isRagged()) {
    auto buffers = getState().getType().getBuffers();
    return {1, q[1], buffers[0].getDimSize(1), q[0], ShapedType::kDynamic, q[2], getType().getShape().back()};
  }
  if (getLayout() == "bt3hd")
    return {q[0], q[3], q[3], q[1], q[1], q[4], q[4]};
  ArrayRef<int64_t> k = getKey().getType().getShape(), v = getValue().getType().getShape();
  if (getLayout() == "bthd")
    return {q[0], q[2], k[2], q[1], k[1], q[3], v[3]};
  return {q[0], q[1], k[1], q[2], k[2], q[3], v[3]};
}

namespace {

/// [B, H, T, D] in the order of the layout.
SmallVector<int64_t> inLayout(AttentionOp op, int64_t batch, int64_t heads, int64_t rows, int64_t dim) {
  if (op.getLayout() == "bhtd")
    return {batch, heads, rows, dim};
  return {batch, rows, heads, dim};
}

/// (C2)
LogicalResult checkDense(AttentionOp op) {
  RankedTensorType q = op.getQuery().getType();
  if (op.getLayout() == "bt3hd") {
    if (q.getRank() != 5 || q.getDimSize(2) != 3)
      return op.emitOpError("query has shape ")
             << shapeText(q.getShape()) << ", wanted [B, T, 3, H, D] in the layout bt3hd";
  } else {
    RankedTensorType k = op.getKey().getType(), v = op.getValue().getType();
    if (q.getRank() != 4 || k.getRank() != 4 || v.getRank() != 4)
      return op.emitOpError("query, key and value have ranks ")
             << q.getRank() << ", " << k.getRank() << " and " << v.getRank() << ", wanted 4 in the dense form";
    AttentionOp::Sizes s = op.getSizes();
    SmallVector<int64_t> key = inLayout(op, q.getDimSize(0), s.kvHeads, s.keys, s.dim);
    if (!shapesAgree(k.getShape(), key))
      return op.emitOpError("key has shape ")
             << shapeText(k.getShape()) << ", wanted " << shapeText(key) << " (the query's batch and head dimension)";
    SmallVector<int64_t> value = inLayout(op, k.getDimSize(0), s.kvHeads, s.keys, s.valueDim);
    if (!shapesAgree(v.getShape(), value))
      return op.emitOpError("value has shape ")
             << shapeText(v.getShape()) << ", wanted " << shapeText(value) << " (the key's batch, heads and length)";
  }
  AttentionOp::Sizes s = op.getSizes();
  SmallVector<int64_t> result = inLayout(op, s.batch, s.heads, s.queries, s.valueDim);
  if (!shapesAgree(op.getType().getShape(), result))
    return op.emitOpError("result has shape ")
           << shapeText(op.getType().getShape()) << ", wanted " << shapeText(result);
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
      return op.emitOpError("result has ")
             << op.getType().getDimSize(2) << " columns, wanted at most the " << width << " of the state's one buffer";
    width = op.getType().getDimSize(2);
  }
  // (C2)
  if (q.getRank() != 3 || !dimsAgree(q.getDimSize(2), buffers[0].getDimSize(2)))
    return op.emitOpError("query has shape ")
           << shapeText(q.getShape()) << ", wanted "
           << shapeText({ShapedType::kDynamic, ShapedType::kDynamic, buffers[0].getDimSize(2)});
  int64_t rows = q.getDimSize(0);
  if (!shapesAgree(op.getType().getShape(), {rows, q.getDimSize(1), width}))
    return op.emitOpError("result has shape ")
           << shapeText(op.getType().getShape()) << ", wanted " << shapeText({rows, q.getDimSize(1), width});
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

/// (C6): the last dimensions of [B, H, T, S], or of [B, T, S]; all but the last may be 1.
LogicalResult checkScoreOperand(AttentionOp op, StringRef what, Value value) {
  if (!value)
    return success();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  AttentionOp::Sizes s = op.getSizes();
  SmallVector<int64_t> full = {s.batch, s.heads, s.queries, s.keys};
  if (shape.size() == 3)
    full.erase(full.begin() + 1);
  bool fits = shape.size() >= 2 && shape.size() <= 4;
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = dimsAgree(shape[i], full[full.size() - shape.size() + i]) || (i + 1 < shape.size() && shape[i] == 1);
  if (!fits)
    return op.emitOpError(what) << " has shape " << shapeText(shape) << ", wanted the last dimensions of "
                                << shapeText(full) << ", each but the last one it or 1";
  return success();
}

/// (C6): of the ragged form [H, 2 R + 1].
LogicalResult checkDistanceBias(AttentionOp op) {
  if (!op.getBias())
    return success();
  RankedTensorType type = op.getBias().getType();
  if (type.getRank() == 2 && type.hasStaticShape() && type.getDimSize(0) == op.getSizes().heads &&
      type.getDimSize(1) % 2 == 1 && isa<FloatType>(type.getElementType()))
    return success();
  return op.emitOpError("bias has type ") << type << ", wanted in the ragged form floats [" << op.getSizes().heads
                                          << ", 2 R + 1]: a number for each distance from -R to R";
}

/// One number for each of `count`.
LogicalResult checkPerSequence(AttentionOp op, StringRef what, Value value, int64_t count) {
  if (!value || shapesAgree(cast<RankedTensorType>(value.getType()).getShape(), {count}))
    return success();
  return op.emitOpError(what) << " has shape " << shapeText(cast<RankedTensorType>(value.getType()).getShape())
                              << ", wanted " << shapeText({count});
}

/// (C9) to (C13).
LogicalResult checkVisibility(AttentionOp op) {
  auto atLeast = [&](StringRef what, std::optional<int64_t> value, int64_t least) -> LogicalResult {
    if (!value || *value >= least)
      return success();
    return op.emitOpError(what) << " is " << *value << ", wanted at least " << least;
  };
  // (C9), (C10), (C11)
  if (failed(atLeast("radius", op.getRadius(), 0)) || failed(atLeast("chunk", op.getChunk(), 1)))
    return failure();
  if (op.getRadius() && op.getCausal() != "none")
    return op.emitOpError("has a radius of ")
           << *op.getRadius()
           << " but is causal; a radius lets keys through on both sides, a window only the last ones";
  if (op.getOffset() && op.getCausal() == "end")
    return op.emitOpError("has an offset of ")
           << *op.getOffset() << " but is aligned at the end, which gives the offset";
  // Positions are i32, and so are their sums.
  if (op.getOffset() && *op.getOffset() != static_cast<int32_t>(*op.getOffset()))
    return op.emitOpError("offset is ") << *op.getOffset() << ", wanted a number of 32 bits";
  // (C12)
  const bool lengths = op.getKvStart() || op.getKvEnd();
  if (op.isRagged() && (op.getOffset() || lengths || op.getPrefixLen()))
    return op.emitOpError("takes no offset, kv_start, kv_end or prefix_len in the ragged form");
  // (C13)
  Value starts = op.getCuSeqlensQ(), keyStarts = op.getCuSeqlensKv();
  if (!starts != !keyStarts)
    return op.emitOpError("wanted both or none of cu_seqlens_q and cu_seqlens_kv");
  int64_t sequences = op.getSizes().batch;
  if (starts) {
    auto q = cast<RankedTensorType>(starts.getType()), k = cast<RankedTensorType>(keyStarts.getType());
    if (op.isRagged() || lengths || !dimsAgree(sequences, 1))
      return op.emitOpError("has cu_seqlens_q; wanted a dense form of batch 1 without kv_start and kv_end, whose rows "
                            "and keys they cut");
    if (q.getRank() != 1 || q.getDimSize(0) == 0 || !shapesAgree(q.getShape(), k.getShape()))
      return op.emitOpError("cu_seqlens_q and cu_seqlens_kv have shapes ")
             << shapeText(q.getShape()) << " and " << shapeText(k.getShape())
             << ", wanted one number more than there are segments";
    sequences = q.isDynamicDim(0) ? q.getDimSize(0) : q.getDimSize(0) - 1;
  }
  for (auto [what, value] : {std::pair<StringRef, Value>("kv_start", op.getKvStart()),
                             {"kv_end", op.getKvEnd()},
                             {"prefix_len", op.getPrefixLen()}})
    if (failed(checkPerSequence(op, what, value, sequences)))
      return failure();
  return success();
}

/// (C12), (C14)
LogicalResult checkFurtherResults(AttentionOp op) {
  if (op.isRagged() && !op.getExtra().empty())
    return op.emitOpError("has ") << op.getExtra().size() << " further results, which the ragged form does not give";
  AttentionOp::Sizes s = op.getSizes();
  auto isLse = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.getElementTypeBitWidth() >= 32 && shapesAgree(tensor.getShape(), {s.batch, s.heads, s.queries});
  };
  auto isWeights = [&](Type type) {
    return shapesAgree(cast<RankedTensorType>(type).getShape(), {s.batch, s.heads, s.queries, s.keys});
  };
  TypeRange types = op.getExtra().getTypes();
  bool fits = types.size() == 2 ? isLse(types[0]) && isWeights(types[1])
                                : types.empty() || (types.size() == 1 && (isLse(types[0]) || isWeights(types[0])));
  if (!fits) {
    InFlightDiagnostic error = op.emitOpError("has further results of types ");
    llvm::interleaveComma(types, error);
    return error << ", wanted lse " << shapeText({s.batch, s.heads, s.queries}) << " of f32 or f64, weights "
                 << shapeText({s.batch, s.heads, s.queries, s.keys}) << ", or both in this order";
  }
  return success();
}

/// Ops of a score region.
bool isScoreOp(Operation *op) {
  if (isa<arith::DivSIOp, arith::RemSIOp>(op)) {
    llvm::APInt divisor;
    return matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && !divisor.isZero() && !divisor.isAllOnes();
  }
  return isa<arith::ConstantOp, arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SelectOp,
             arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp, arith::CmpIOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::SIToFPOp, arith::ExtUIOp, math::AbsFOp, math::ExpOp, math::Exp2Op,
             math::LogOp, math::TanhOp, math::SinOp, math::CosOp, math::SqrtOp, math::ErfOp, math::FloorOp>(op);
}

/// (C15)
LogicalResult checkScoreRegion(AttentionOp op) {
  if (op.getScore().empty())
    return success();
  if (op.getScore().size() != 1 || op.isRagged())
    return op.emitOpError("has ") << op.getScore().size() << " score regions, wanted at most one, in a dense form";
  Block &block = op.getScore().front().front();
  Builder b(op.getContext());
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  if (block.getArgumentTypes() != TypeRange({f32, i32, i32, i32, i32}))
    return op.emitOpError("has a score region of ")
           << block.getNumArguments() << " arguments, wanted (f32, i32, i32, i32, i32): score, batch, head, row, key";
  auto isScalar = [](Type type) { return type.isF32() || type.isInteger(32) || type.isInteger(1); };
  for (Operation &inner : block.without_terminator())
    if (!isScoreOp(&inner) || !llvm::all_of(inner.getResultTypes(), isScalar) ||
        !llvm::all_of(inner.getOperandTypes(), isScalar))
      return inner.emitOpError("stands in a score region, which holds scalar arith and math ops of the list in "
                               "tw.attention (C15), of f32, i32 and i1");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().getTypes() != TypeRange({f32}))
    return op.emitOpError("has a score region that does not end in tw.yield of one f32");
  return success();
}

} // namespace

StringRef AttentionOp::getFusionKind() { return "attention"; }

LogicalResult AttentionOp::verify() {
  // (C1)
  bool anyDense = getKey() || getValue(), allDense = getKey() && getValue();
  bool anyRagged = getState() || getRowStart() || getKvLen() || getPositions();
  bool allRagged = getState() && getRowStart() && getKvLen() && getPositions();
  if (getLayout() == "bt3hd") {
    if (anyDense || anyRagged)
      return emitOpError("takes neither keys and values nor a state in the layout bt3hd: the query holds them");
  } else if (anyDense ? !allDense || anyRagged : !allRagged) {
    return emitOpError("wanted either key and value, or state, row_start, kv_len and positions");
  }
  if (allRagged && getLayout() != "bhtd")
    return emitOpError("has the layout ") << getLayout() << ", which the ragged form does not have";
  // (C2), (C8)
  if (failed(allRagged ? checkRagged(*this) : checkDense(*this)))
    return failure();
  Sizes sizes = getSizes();
  if (ShapedType::isDynamic(sizes.heads) || ShapedType::isDynamic(sizes.kvHeads) || sizes.kvHeads < 1 ||
      sizes.heads % sizes.kvHeads != 0)
    return emitOpError("has ") << sizes.heads << " query heads and " << sizes.kvHeads
                               << " key/value heads, wanted a static multiple of at least one";
  // (C3)
  // Kernels compute with them, their reciprocals and their products with log2(e) in f32.
  auto staysNumber = [](double value) { return std::isfinite(static_cast<float>(2 * value)); };
  double softcap = getSoftcap() ? getSoftcap()->convertToDouble() : 0.0;
  if (!staysNumber(getScale().convertToDouble()))
    return emitOpError("scale is ") << getScaleAttr() << ", wanted a finite number of f32's range";
  if (softcap != 0 && !(softcap > 0 && staysNumber(softcap) && staysNumber(1 / softcap)))
    return emitOpError("softcap is ") << getSoftcapAttr() << ", wanted 0 for none or a number above 0 of f32's range";
  // (C4)
  if (getWindow() && *getWindow() < 1)
    return emitOpError("window is ") << *getWindow() << ", wanted at least 1";
  // (C5)
  if (allRagged && getCausal() == "start")
    return emitOpError("causal is \"start\", which the ragged form does not have");
  // (C6)
  if (allRagged && getMask())
    return emitOpError("takes no mask in the ragged form");
  if (failed(checkScoreOperand(*this, "mask", getMask())) ||
      failed(allRagged ? checkDistanceBias(*this) : checkScoreOperand(*this, "bias", getBias())))
    return failure();
  // (C7)
  if (getSinks() && !shapesAgree(getSinks().getType().getShape(), {sizes.heads}))
    return emitOpError("sinks have shape ") << shapeText(getSinks().getType().getShape()) << ", wanted " << sizes.heads;
  if (failed(checkVisibility(*this)) || failed(checkFurtherResults(*this)))
    return failure();
  return checkScoreRegion(*this);
}

} // namespace tilewright::tw
