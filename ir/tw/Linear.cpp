// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Tw.h"

#include "ir/tw/PackedWeight.h"
#include "ir/tw/Shapes.h"

using namespace mlir;

namespace tilewright::tw {

// The verifiers run first and say what is wrong.
LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto weight = dyn_cast<RankedTensorType>(adaptor.getWeight().getType());
  if (!input || !weight || input.getRank() < 1 || weight.getRank() != 2)
    return failure();
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = weight.getDimSize(0);
  types.push_back(input.clone(shape));
  return success();
}

LogicalResult LinearOp::verify() {
  RankedTensorType input = getInput().getType(), weight = getWeight().getType();
  // (C1)
  if (input.getRank() < 1)
    return emitOpError("input has rank 0, wanted at least 1");
  if (weight.getRank() != 2)
    return emitOpError("weight has rank ") << weight.getRank() << ", wanted 2";
  if (!dimsAgree(weight.getDimSize(1), input.getShape().back()))
    return emitOpError("weight has ") << weight.getDimSize(1) << " columns, wanted the input's last dimension, "
                                      << input.getShape().back();
  // (C2)
  Type element = weight.getElementType();
  auto storage = dyn_cast<StorageType>(element);
  if (!storage && !isa<FloatType>(element))
    return emitOpError("weight has element type ") << element << ", wanted a float or a storage type";
  if (storage && !isa<FloatType>(element) && !weight.isDynamicDim(1) &&
      weight.getDimSize(1) % storage.getBlockElements() != 0)
    return emitOpError("weight has ") << weight.getDimSize(1) << " columns, wanted a multiple of the block of "
                                      << element << ", " << storage.getBlockElements();
  // (C3)
  if (getBias() && !shapesAgree(getBias().getType().getShape(), {weight.getDimSize(0)}))
    return emitOpError("bias has shape ")
           << shapeText(getBias().getType().getShape()) << ", wanted " << shapeText({weight.getDimSize(0)});
  // (C4)
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = weight.getDimSize(0);
  if (getType() != input.clone(shape))
    return emitOpError("result is ") << getType() << ", wanted " << input.clone(shape);
  return success();
}

LogicalResult QuantizeRowsOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t block = adaptor.getBlock();
  if (!input || input.getRank() != 2 || input.isDynamicDim(1) || block < 1 || input.getDimSize(1) % block != 0)
    return failure();
  auto perBlock = input.clone({input.getDimSize(0), input.getDimSize(1) / block});
  types.assign({RankedTensorType::get(input.getShape(), IntegerType::get(context, 8)), perBlock, perBlock});
  return success();
}

LogicalResult QuantizeRowsOp::verify() {
  RankedTensorType input = getInput().getType();
  int64_t block = getBlock();
  // (C1)
  if (input.getRank() != 2 || input.isDynamicDim(1))
    return emitOpError("input is ") << input << ", wanted rank 2 and a static second dimension";
  if (block < 1 || input.getDimSize(1) % block != 0)
    return emitOpError("has block ") << block << ", wanted a divisor of " << input.getDimSize(1);
  // (C2)
  auto perBlock = input.clone({input.getDimSize(0), input.getDimSize(1) / block});
  if (getQuants().getType().getShape() != input.getShape() || getScales().getType() != perBlock ||
      getSums().getType() != perBlock)
    return emitOpError("results are ") << getResultTypes() << ", wanted int8 of the input's shape and twice "
                                       << perBlock;
  return success();
}

/// Loops: rows, blocks.
FailureOr<LoopMap> QuantizeRowsOp::getLoopMap() {
  LoopMap map;
  map.loops = 2;
  LoopDims elements = {LoopDim::along(0), LoopDim::along(1, getBlock())};
  map.operands = {elements};
  map.results = {elements, leadingLoops(2, 2), leadingLoops(2, 2)};
  return map;
}

LogicalResult verifyPackedOperands(Operation *op, RankedTensorType input, Value scales, Value sums,
                                   RankedTensorType weight, Type element) {
  if (input.getRank() != 2 || input.isDynamicDim(1))
    return op->emitOpError("input is ") << input << ", wanted rank 2 and a static second dimension";
  auto storage = dyn_cast<StorageType>(element);
  if (!storage)
    return op->emitOpError("element ") << element << " is no storage type";
  LayoutDescriptor layout = storage.getLayout();
  int64_t block = layout.blockElements, columns = input.getDimSize(1);
  if (layout.rowsPerGroup != kPackedGroupRows || block < 1 ||
      (columns % storage.getBlockElements() != 0 && !isa<FloatType>(element)))
    return op->emitOpError("input has ") << columns << " columns, wanted a multiple of the block of " << element << ", "
                                         << block;
  int64_t bytes = layout.packedBlockBytes(), blocks = llvm::divideCeilSigned(columns, block);
  if (weight.getRank() != 3 || weight.getDimSize(1) != blocks || weight.getDimSize(2) != bytes)
    return op->emitOpError("weight has shape ")
           << shapeText(weight.getShape()) << ", wanted " << shapeText({ShapedType::kDynamic, blocks, bytes});
  bool isInteger = input.getElementType().isInteger(8);
  if (static_cast<bool>(scales) != isInteger || static_cast<bool>(sums) != isInteger)
    return op->emitOpError("takes ") << (isInteger ? "scales and sums with an input of i8"
                                                   : "no scales and sums with a float input");
  if (isInteger)
    for (Value perPiece : {scales, sums}) {
      auto type = cast<RankedTensorType>(perPiece.getType());
      int64_t pieces = type.getRank() == 2 ? type.getDimSize(1) : 0;
      if (type.getRank() != 2 || !shapesAgree(type.getShape().take_front(), {input.getDimSize(0)}) ||
          pieces < columns / kPackedStep || columns % pieces != 0 || kPackedStep % (columns / pieces) != 0 ||
          columns / pieces % 4 != 0 || type != scales.getType())
        return op->emitOpError("scales or sums are ")
               << type << ", wanted " << shapeText({input.getDimSize(0), columns / kPackedStep})
               << ", or a whole number of pieces of at least 4 elements for each " << kPackedStep << " elements";
    }
  return success();
}

LogicalResult PackedLinearOp::verify() {
  RankedTensorType input = getInput().getType(), weight = getWeight().getType(), result = getType();
  // (C1), (C2)
  if (failed(verifyPackedOperands(*this, input, getScales(), getSums(), weight, getElement())))
    return failure();
  if (result.getRank() != 2 || result.isDynamicDim(1) || !dimsAgree(result.getDimSize(0), input.getDimSize(0)))
    return emitOpError("result is ") << result << ", wanted the input's rows and a static second dimension";
  // (C3)
  if (!weight.isDynamicDim(0) && weight.getDimSize(0) < llvm::divideCeilSigned(result.getDimSize(1), kPackedGroupRows))
    return emitOpError("weight has ") << weight.getDimSize(0) << " groups of 16 rows, wanted enough for "
                                      << result.getDimSize(1);
  // (C4)
  if (getBias() && !shapesAgree(getBias().getType().getShape(), {result.getDimSize(1)}))
    return emitOpError("bias has shape ")
           << shapeText(getBias().getType().getShape()) << ", wanted " << shapeText({result.getDimSize(1)});
  return success();
}

/// Loops: rows, groups of 16 output columns. The input is cut by rows with all of K, the weight by groups.
FailureOr<LoopMap> PackedLinearOp::getLoopMap() {
  LoopMap map;
  map.loops = 2;
  map.operands.push_back(leadingLoops(2, 1));
  if (getScales())
    map.operands.push_back(leadingLoops(2, 1));
  if (getSums())
    map.operands.push_back(leadingLoops(2, 1));
  map.operands.push_back({LoopDim::along(1), LoopDim::whole(), LoopDim::whole()});
  if (getBias())
    map.operands.push_back({LoopDim::along(1, kPackedGroupRows)});
  map.results.push_back({LoopDim::along(0), LoopDim::along(1, kPackedGroupRows)});
  return map;
}

LogicalResult PackedGatherOp::verify() {
  RankedTensorType table = getTable().getType(), ids = getIds().getType(), result = getType();
  // (C2)
  if (ids.getRank() != 1 || result.getRank() != 2 || !result.getElementType().isF32() || result.isDynamicDim(1) ||
      !dimsAgree(result.getDimSize(0), ids.getDimSize(0)))
    return emitOpError("result is ") << result << ", wanted f32 rows, one for each of " << ids;
  // (C1)
  auto storage = dyn_cast<StorageType>(getElement());
  if (!storage)
    return emitOpError("element ") << getElement() << " is no storage type";
  LayoutDescriptor layout = storage.getLayout();
  int64_t block = layout.blockElements, columns = result.getDimSize(1), bytes = layout.packedBlockBytes();
  if (block < 1 || (columns % storage.getBlockElements() != 0 && !isa<FloatType>(getElement())))
    return emitOpError("result has ") << columns << " columns, wanted a multiple of the block of " << getElement()
                                      << ", " << block;
  int64_t blocks = block < 1 ? 0 : llvm::divideCeilSigned(columns, block);
  if (table.getRank() != 3 || table.getDimSize(1) != blocks || table.getDimSize(2) != bytes)
    return emitOpError("table has shape ")
           << shapeText(table.getShape()) << ", wanted " << shapeText({ShapedType::kDynamic, blocks, bytes});
  return success();
}

} // namespace tilewright::tw
