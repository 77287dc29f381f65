// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/VectorizeTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

void vectorizeLoadField(RewriterBase &rewriter, tile::LoadFieldOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<Value> at(op.getIndices());
  at.push_back(arith::ConstantIndexOp::create(rewriter, loc, op.getOffset()));
  Value padding = arith::ConstantOp::create(rewriter, loc, rewriter.getI8IntegerAttr(0));
  bool inBounds[] = {true};
  Value bytes = vector::TransferReadOp::create(rewriter, loc,
                                               VectorType::get({op.getFieldBytes()}, rewriter.getI8Type()),
                                               op.getPacked(), at, padding, ArrayRef<bool>(inBounds));
  auto flat = VectorType::get({type.getNumElements()}, type.getElementType());
  if (flat != bytes.getType())
    bytes = vector::BitCastOp::create(rewriter, loc, flat, bytes);
  auto shaped = VectorType::get(type.getShape(), type.getElementType());
  if (shaped != flat)
    bytes = vector::ShapeCastOp::create(rewriter, loc, shaped, bytes);
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  rewriter.replaceOp(op, writeWhole(rewriter, loc, bytes, empty));
}

} // namespace tilewright
