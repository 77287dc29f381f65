// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/TileBuilder.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace tilewright {

Value TileBuilder::alloc(ArrayRef<int64_t> shape, Type element) {
  return bufferization::AllocTensorOp::create(b, loc, RankedTensorType::get(shape, element), ValueRange());
}

Value TileBuilder::filled(ArrayRef<int64_t> shape, double value) { return filled(shape, f32(value)); }

Value TileBuilder::filled(ArrayRef<int64_t> shape, Value scalar) {
  Value buffer = alloc(shape, scalar.getType());
  return linalg::FillOp::create(b, loc, scalar, buffer).getResult(0);
}

Value TileBuilder::empty(ArrayRef<int64_t> shape, Type element) {
  return tensor::EmptyOp::create(b, loc, shape, element);
}

Value TileBuilder::slice(Value source, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes,
                         ArrayRef<int64_t> shape) {
  auto type =
      RankedTensorType::get(shape.empty() ? sizes : shape, cast<RankedTensorType>(source.getType()).getElementType());
  SmallVector<OpFoldResult> extents =
      llvm::map_to_vector(sizes, [&](int64_t v) -> OpFoldResult { return b.getIndexAttr(v); });
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, type, source, offsets, extents, strides);
}

Value TileBuilder::insert(Value source, Value destination, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> extents =
      llvm::map_to_vector(sizes, [&](int64_t v) -> OpFoldResult { return b.getIndexAttr(v); });
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, loc, source, destination, offsets, extents, strides);
}

Value TileBuilder::tensorOf(Value buffer, bool writable) {
  auto type = cast<MemRefType>(buffer.getType());
  return bufferization::ToTensorOp::create(b, loc, RankedTensorType::get(type.getShape(), type.getElementType()),
                                           buffer,
                                           /*restrict=*/true, writable);
}

void TileBuilder::store(Value tensor, Value buffer) {
  bufferization::MaterializeInDestinationOp::create(b, loc, Type(), tensor, buffer, /*restrict=*/true,
                                                    /*writable=*/true);
}

Value TileBuilder::reshape(Value source, ArrayRef<int64_t> shape) {
  auto from = cast<RankedTensorType>(source.getType());
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (from == to)
    return source;
  if (std::optional<SmallVector<ReassociationIndices>> groups = getReassociationIndicesForReshape(from, to)) {
    if (from.getRank() > to.getRank())
      return tensor::CollapseShapeOp::create(b, loc, to, source, *groups);
    return tensor::ExpandShapeOp::create(b, loc, to, source, *groups);
  }
  ReassociationIndices all = llvm::to_vector<2>(llvm::seq<int64_t>(0, from.getRank()));
  auto flat = RankedTensorType::get({from.getNumElements()}, from.getElementType());
  Value row = tensor::CollapseShapeOp::create(b, loc, flat, source, SmallVector<ReassociationIndices>{all});
  return reshape(row, shape);
}

Value TileBuilder::generic(ValueRange ins, Value out, ArrayRef<AffineMap> maps, StringRef iterators, Body body) {
  return generic(ins, ValueRange(out), maps, iterators,
                 Bodies([&](TileBuilder &t, ValueRange args) { return SmallVector<Value>{body(t, args)}; }))[0];
}

SmallVector<Value> TileBuilder::generic(ValueRange ins, ValueRange outs, ArrayRef<AffineMap> maps, StringRef iterators,
                                        Bodies body) {
  SmallVector<utils::IteratorType> types = llvm::map_to_vector(
      iterators, [](char c) { return c == 'r' ? utils::IteratorType::reduction : utils::IteratorType::parallel; });
  auto op = linalg::GenericOp::create(b, loc, outs.getTypes(), ins, outs, maps, types,
                                      [&](OpBuilder &inner, Location innerLoc, ValueRange args) {
                                        TileBuilder builder(inner, innerLoc);
                                        linalg::YieldOp::create(inner, innerLoc, body(builder, args));
                                      });
  return SmallVector<Value>(op.getResults());
}

Value TileBuilder::elementwise(ValueRange ins, Value out, Body body) {
  unsigned rank = shapeOf(out).size();
  SmallVector<AffineMap> maps(ins.size() + 1, b.getMultiDimIdentityMap(rank));
  return generic(ins, out, maps, std::string(rank, 'p'), body);
}

Value TileBuilder::index(unsigned dim) { return linalg::IndexOp::create(b, loc, dim); }

SmallVector<Value> TileBuilder::loop(Value low, Value high, ValueRange inits, LoopBody body) {
  auto loop = scf::ForOp::create(b, loc, low, high, constant(1), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> yielded = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!inits.empty())
    scf::YieldOp::create(b, loc, yielded);
  return SmallVector<Value>(loop.getResults());
}

Value TileBuilder::add(Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

Value TileBuilder::sub(Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::SubFOp::create(b, loc, x, y);
  return arith::SubIOp::create(b, loc, x, y);
}

Value TileBuilder::mul(Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::MulFOp::create(b, loc, x, y);
  return arith::MulIOp::create(b, loc, x, y);
}

Value TileBuilder::div(Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::DivFOp::create(b, loc, x, y);
  return arith::DivUIOp::create(b, loc, x, y);
}

Value TileBuilder::rem(Value x, Value y) { return arith::RemUIOp::create(b, loc, x, y); }

Value TileBuilder::min(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }

Value TileBuilder::max(Value x, Value y) { return arith::MaxSIOp::create(b, loc, x, y); }

Value TileBuilder::compare(arith::CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, predicate, x, y);
}

Value TileBuilder::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}

Value TileBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

Value TileBuilder::ceilDiv(Value x, int64_t y) { return div(add(x, constant(y - 1)), constant(y)); }

Value TileBuilder::toIndex(Value value) { return arith::IndexCastOp::create(b, loc, b.getIndexType(), value); }

Value TileBuilder::toF32(Value value) {
  if (value.getType().isF32())
    return value;
  if (cast<FloatType>(value.getType()).getWidth() > 32)
    return arith::TruncFOp::create(b, loc, b.getF32Type(), value);
  return arith::ExtFOp::create(b, loc, b.getF32Type(), value);
}

} // namespace tilewright
