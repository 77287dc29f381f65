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

LogicalResult LoadFieldOp::verify() {
  auto packed = cast<RankedTensorType>(getPacked().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  // (C1)
  if (packed.getRank() < 1 || !packed.getElementType().isInteger(8) || packed.isDynamicDim(packed.getRank() - 1))
    return emitOpError("packed tensor is ") << packed << ", wanted i8 elements and a static last dimension (C1)";
  // (C2)
  if (static_cast<int64_t>(getIndices().size()) != packed.getRank() - 1)
    return emitOpError("has ") << getIndices().size() << " indices, wanted " << packed.getRank() - 1
                               << ": one for every dimension of the packed tensor but the last (C2)";
  // (C3)
  Type element = result.getElementType();
  bool wholeBytes = element.isInteger(8) || element.isInteger(16) || element.isInteger(32) || element.isInteger(64) ||
                    isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element);
  if (!wholeBytes || !result.hasStaticShape() || result.getRank() < 1 || llvm::is_contained(result.getShape(), 0))
    return emitOpError("result is ") << result
                                     << ", wanted a static shape without zero extents and an element type of whole "
                                        "bytes (C3)";
  // (C4), without overflow: every bound is below the block's bytes.
  int64_t offset = static_cast<int64_t>(getOffset());
  int64_t block = getBlockBytes();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  for (int64_t extent : result.getShape()) {
    if (extent > block / bytes)
      return emitOpError("result ") << result << " is larger than a block of " << block << " bytes (C4)";
    bytes *= extent;
  }
  if (offset < 0 || offset > block - bytes)
    return emitOpError("field at bytes ") << offset << " to " << offset + bytes << " is outside of a block of " << block
                                          << " bytes (C4)";
  return success();
}
