// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tile/Tile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright::tile;

#include "ir/tile/TileDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ir/tile/Tile.cpp.inc"

void TileDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/tile/Tile.cpp.inc"
      >();
}

int64_t LoadFieldOp::getFieldBytes() {
  auto type = cast<RankedTensorType>(getResult().getType());
  return type.getNumElements() * (type.getElementTypeBitWidth() / 8);
}

int64_t LoadFieldOp::getBlockBytes() { return cast<RankedTensorType>(getPacked().getType()).getShape().back(); }

/// (C1) and (C2) of the loads.
static LogicalResult verifyPacked(Operation *op, RankedTensorType packed, ValueRange indices) {
  if (packed.getRank() < 1 || !packed.getElementType().isInteger(8) || packed.isDynamicDim(packed.getRank() - 1))
    return op->emitOpError("packed tensor is ") << packed << ", wanted i8 elements and a static last dimension (C1)";
  const int64_t rank = packed.getRank(), count = static_cast<int64_t>(indices.size());
  if (count != rank - 1 && count != rank)
    return op->emitOpError("has ") << count << " indices, wanted " << rank - 1 << " or " << rank
                                   << ": one for every dimension of the packed tensor, or for all but the last (C2)";
  return success();
}

/// Elements of a static shape, or -1 when there are none or more than `limit`.
static int64_t elementsUpTo(ArrayRef<int64_t> shape, int64_t limit) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent < 1 || extent > limit / elements)
      return -1;
    elements *= extent;
  }
  return elements;
}

/// (C4) of the loads: `bytes` bytes (-1: too many) at `offset` of a block.
static LogicalResult verifyPlace(Operation *op, int64_t offset, int64_t bytes, int64_t block, Type result) {
  if (bytes < 0)
    return op->emitOpError("result ") << result << " is larger than a block of " << block << " bytes (C4)";
  if (offset < 0 || offset > block - bytes)
    return op->emitOpError("field of ") << bytes << " bytes at offset " << offset << " is outside of a block of "
                                        << block << " bytes (C4)";
  return success();
}

LogicalResult LoadFieldOp::verify() {
  auto packed = cast<RankedTensorType>(getPacked().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyPacked(*this, packed, getIndices())))
    return failure();
  // (C3)
  Type element = result.getElementType();
  bool wholeBytes = element.isInteger(8) || element.isInteger(16) || element.isInteger(32) || element.isInteger(64) ||
                    isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element);
  if (!wholeBytes || !result.hasStaticShape() || result.getRank() < 1 || llvm::is_contained(result.getShape(), 0))
    return emitOpError("result is ") << result
                                     << ", wanted a static shape without zero extents and an element type of whole "
                                        "bytes (C3)";
  // (C4)
  int64_t size = element.getIntOrFloatBitWidth() / 8;
  int64_t elements = elementsUpTo(result.getShape(), getBlockBytes() / size);
  return verifyPlace(*this, getOffset(), elements < 0 ? -1 : elements * size, getBlockBytes(), result);
}

LogicalResult LoadBitsOp::verify() {
  auto packed = cast<RankedTensorType>(getPacked().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyPacked(*this, packed, getIndices())))
    return failure();
  // (C5)
  const int64_t width = getWidth(), first = getFirst(), count = getCount();
  if ((width != 1 && width != 2 && width != 4) || first < 0 || count < 1 || first >= 8 / width ||
      count > 8 / width - first)
    return emitOpError("reads ") << count << " items of " << width << " bits from number " << first
                                 << " on, wanted items of 1, 2 or 4 bits that are in a byte (C5)";
  // (C3)
  bool divides = result.hasStaticShape() && result.getRank() >= 1 && result.getDimSize(0) % count == 0;
  if (!divides || llvm::is_contained(result.getShape(), 0) || !result.getElementType().isInteger(8))
    return emitOpError("result is ") << result << ", wanted i8 and a static shape with an outermost extent in " << count
                                     << " parts (C3)";
  // (C4)
  int64_t block = packed.getShape().back();
  int64_t elements = elementsUpTo(result.getShape(), count * block);
  return verifyPlace(*this, getOffset(), elements < 0 ? -1 : getFieldBytes(), block, result);
}

int64_t LoadBitsOp::getFieldBytes() {
  return cast<RankedTensorType>(getResult().getType()).getNumElements() / static_cast<int64_t>(getCount());
}
