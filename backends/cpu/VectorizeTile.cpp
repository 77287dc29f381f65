// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/VectorizeTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tilewright {

static SmallVector<Value> zeros(RewriterBase &rewriter, Location loc, int64_t count) {
  return SmallVector<Value>(count, arith::ConstantIndexOp::create(rewriter, loc, 0));
}

/// The whole of a statically shaped tensor as a vector.
static Value readWhole(RewriterBase &rewriter, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value padding = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  SmallVector<bool> inBounds(type.getRank(), true);
  return vector::TransferReadOp::create(rewriter, loc, VectorType::get(type.getShape(), type.getElementType()), tensor,
                                        zeros(rewriter, loc, type.getRank()), padding, ArrayRef<bool>(inBounds));
}

static Value writeWhole(RewriterBase &rewriter, Location loc, Value vector, Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<bool> inBounds(rank, true);
  return vector::TransferWriteOp::create(rewriter, loc, vector, tensor, zeros(rewriter, loc, rank),
                                         ArrayRef<bool>(inBounds))
      .getResult();
}

void vectorizeContraction(RewriterBase &rewriter, linalg::LinalgOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Block *body = op.getBlock();
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value vector = readWhole(rewriter, loc, operand.get());
    // A widening in the body is done on the operand, before it is combined with the other.
    for (Operation *user : body->getArgument(operand.getOperandNumber()).getUsers())
      if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::ExtFOp>(user)) {
        Type wide = cast<VectorType>(vector.getType()).clone(user->getResult(0).getType());
        vector = rewriter.create(loc, user->getName().getIdentifier(), vector, wide)->getResult(0);
        break;
      }
    operands.push_back(vector);
  }
  SmallVector<Attribute> iterators;
  for (utils::IteratorType type : op.getIteratorTypesArray())
    iterators.push_back(vector::IteratorTypeAttr::get(rewriter.getContext(), type == utils::IteratorType::reduction
                                                                                 ? vector::IteratorType::reduction
                                                                                 : vector::IteratorType::parallel));
  Value result = vector::ContractionOp::create(rewriter, loc, operands[0], operands[1], operands[2],
                                               rewriter.getAffineMapArrayAttr(op.getIndexingMapsArray()),
                                               rewriter.getArrayAttr(iterators));
  rewriter.replaceOp(op, writeWhole(rewriter, loc, result, op.getDpsInits()[0]));
}

/// `count` bytes at `offset` of the place that `indices` name: a block, or a byte of it.
static Value readBytes(RewriterBase &rewriter, Location loc, Value packed, ValueRange indices, Value offset,
                       int64_t count) {
  SmallVector<Value> at(indices);
  if (static_cast<int64_t>(at.size()) == cast<RankedTensorType>(packed.getType()).getRank())
    offset = arith::AddIOp::create(rewriter, loc, at.pop_back_val(), offset);
  at.push_back(offset);
  Value padding = arith::ConstantOp::create(rewriter, loc, rewriter.getI8IntegerAttr(0));
  bool inBounds[] = {true};
  return vector::TransferReadOp::create(rewriter, loc, VectorType::get({count}, rewriter.getI8Type()), packed, at,
                                        padding, ArrayRef<bool>(inBounds));
}

/// Replaces a load by `flat`, its elements in order, as bytes or of the load's type.
static void replaceLoad(RewriterBase &rewriter, Operation *op, Value flat) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto flatType = VectorType::get({type.getNumElements()}, type.getElementType());
  if (flatType != flat.getType())
    flat = vector::BitCastOp::create(rewriter, loc, flatType, flat);
  auto shaped = VectorType::get(type.getShape(), type.getElementType());
  if (shaped != flat.getType())
    flat = vector::ShapeCastOp::create(rewriter, loc, shaped, flat);
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  rewriter.replaceOp(op, writeWhole(rewriter, loc, flat, empty));
}

void vectorizeLoadField(RewriterBase &rewriter, tile::LoadFieldOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value offset = arith::ConstantIndexOp::create(rewriter, op.getLoc(), op.getOffset());
  replaceLoad(rewriter, op,
              readBytes(rewriter, op.getLoc(), op.getPacked(), op.getIndices(), offset, op.getFieldBytes()));
}

/// Is the slice one run of the source's elements: whole in the inner dimensions, one index in the outer ones?
static bool isContiguous(tensor::ExtractSliceOp slice) {
  ArrayRef<int64_t> whole = slice.getSourceType().getShape(), sizes = slice.getStaticSizes();
  if (!slice.getType().hasStaticShape() || !slice.hasUnitStride())
    return false;
  unsigned dim = 0;
  while (dim < sizes.size() && sizes[dim] == 1)
    ++dim;
  for (++dim; dim < sizes.size(); ++dim)
    if (sizes[dim] != whole[dim])
      return false;
  return true;
}

void vectorizeSlicedField(RewriterBase &rewriter, tile::LoadFieldOp op, int64_t limit) {
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !isContiguous(slice) || slice.getType().getNumElements() * elementBytes > limit)
      continue;
    rewriter.setInsertionPoint(slice);
    Value offset = arith::ConstantIndexOp::create(rewriter, loc, op.getOffset());
    int64_t stride = op.getFieldBytes();
    for (auto [at, extent] : llvm::zip_equal(slice.getMixedOffsets(), type.getShape())) {
      stride /= extent;
      Value bytes = arith::MulIOp::create(rewriter, loc, getValueOrCreateConstantIndexOp(rewriter, loc, at),
                                          arith::ConstantIndexOp::create(rewriter, loc, stride));
      offset = arith::AddIOp::create(rewriter, loc, offset, bytes);
    }
    replaceLoad(rewriter, slice,
                readBytes(rewriter, loc, op.getPacked(), op.getIndices(), offset,
                          slice.getType().getNumElements() * elementBytes));
  }
  if (op->use_empty())
    return rewriter.eraseOp(op);

  // As rows of at most `limit` bytes through a buffer.
  rewriter.setInsertionPoint(op);
  int64_t row = 1;
  for (int64_t extent : llvm::reverse(type.getShape())) {
    if (row * extent * elementBytes > limit)
      break;
    row *= extent;
  }
  Value buffer = bufferization::AllocTensorOp::create(
      rewriter, loc, RankedTensorType::get({type.getNumElements() / row, row}, type.getElementType()), ValueRange());
  auto rowType = VectorType::get({row}, type.getElementType());
  bool inBounds[] = {true};
  for (int64_t i = 0; i < type.getNumElements() / row; ++i) {
    Value offset = arith::ConstantIndexOp::create(rewriter, loc, op.getOffset() + i * row * elementBytes);
    Value bytes = readBytes(rewriter, loc, op.getPacked(), op.getIndices(), offset, row * elementBytes);
    Value values =
        rowType == bytes.getType() ? bytes : vector::BitCastOp::create(rewriter, loc, rowType, bytes).getResult();
    SmallVector<Value> at{arith::ConstantIndexOp::create(rewriter, loc, i),
                          arith::ConstantIndexOp::create(rewriter, loc, 0)};
    buffer = vector::TransferWriteOp::create(rewriter, loc, values, buffer, at, ArrayRef<bool>(inBounds)).getResult();
  }
  // [rows, row] seen as the field's shape.
  auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  SmallVector<ReassociationIndices> all(1), split(1);
  all[0] = {0, 1};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    split[0].push_back(dim);
  Value shaped = tensor::CollapseShapeOp::create(rewriter, loc, flat, buffer, all);
  if (type.getRank() > 1)
    shaped = tensor::ExpandShapeOp::create(rewriter, loc, type, shaped, split);
  rewriter.replaceOp(op, shaped);
}

void vectorizeLoadBits(RewriterBase &rewriter, tile::LoadBitsOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  const int64_t bytes = op.getFieldBytes(), width = op.getWidth(), count = op.getCount();
  Value offset = arith::ConstantIndexOp::create(rewriter, loc, op.getOffset());
  Value field = readBytes(rewriter, loc, op.getPacked(), op.getIndices(), offset, bytes);
  auto type = cast<VectorType>(field.getType());
  auto splat = [&](VectorType type, int64_t value) -> Value {
    Attribute byte = rewriter.getIntegerAttr(type.getElementType(), value);
    return arith::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(type, byte));
  };
  Value all = count == 1 ? Value() : splat(VectorType::get({count * bytes}, rewriter.getI8Type()), 0);
  for (int64_t part = 0; part < count; ++part) {
    Value items = field;
    const int64_t shift = width * (op.getFirst() + part);
    if (shift)
      items = arith::ShRUIOp::create(rewriter, loc, items, splat(type, shift));
    if (shift + width < 8)
      items = arith::AndIOp::create(rewriter, loc, items, splat(type, (1 << width) - 1));
    all = count == 1 ? items
                     : vector::InsertStridedSliceOp::create(rewriter, loc, items, all, ArrayRef<int64_t>(part * bytes),
                                                            ArrayRef<int64_t>(1))
                           .getResult();
  }
  replaceLoad(rewriter, op, all);
}

} // namespace tilewright
