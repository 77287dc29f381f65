// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/Lanes.h"

#include "backends/cuda/Memory.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {

Lanes::Lanes(func::FuncOp kernel, int64_t warps)
    : b(OpBuilder::atBlockBegin(&kernel.getBody().front())), loc(kernel.getLoc()), warps(warps), kernel(kernel) {
  thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  warp = warps == 1 ? constant(0) : div(thread, kWarpSize);
  lane = warps == 1 ? thread : rem(thread, kWarpSize);
  group = div(lane, 4);
  quad = rem(lane, 4);
}

Value Lanes::constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

Value Lanes::add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }

Value Lanes::mul(Value x, int64_t factor) { return b.createOrFold<arith::MulIOp>(loc, x, constant(factor)); }

Value Lanes::div(Value x, int64_t divisor) { return b.createOrFold<arith::DivUIOp>(loc, x, constant(divisor)); }

Value Lanes::rem(Value x, int64_t divisor) { return b.createOrFold<arith::RemUIOp>(loc, x, constant(divisor)); }

SmallVector<Value> Lanes::apply(AffineMap map, ValueRange dims) {
  SmallVector<Value> results;
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      results.push_back(dims[dim.getPosition()]);
    else if (auto number = dyn_cast<AffineConstantExpr>(expr))
      results.push_back(constant(number.getValue()));
    else
      results.push_back(affine::AffineApplyOp::create(b, loc, AffineMap::get(map.getNumDims(), 0, expr), dims));
  }
  return results;
}

SmallVector<Value> Lanes::delinearize(Value number, ArrayRef<int64_t> extents) {
  SmallVector<Value> indices(extents.size());
  for (size_t d = extents.size(); d-- > 1;) {
    indices[d] = rem(number, extents[d]);
    number = div(number, extents[d]);
  }
  if (!indices.empty())
    indices[0] = number;
  return indices;
}

SmallVector<Value> Lanes::indicesInRoot(Value view, SmallVector<Value> indices) {
  while (Operation *op = view.getDefiningOp()) {
    SmallVector<Value> inner;
    if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
      ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
      for (auto [index, dims] : llvm::zip(indices, collapse.getReassociationIndices()))
        llvm::append_range(inner, delinearize(index, shape.slice(dims.front(), dims.size())));
    } else if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
      ArrayRef<int64_t> shape = expand.getResultType().getShape();
      for (const ReassociationIndices &dims : expand.getReassociationIndices()) {
        Value number = constant(0);
        for (int64_t dim : dims)
          number = add(mul(number, shape[dim]), indices[dim]);
        inner.push_back(number);
      }
    } else {
      return indices;
    }
    view = op->getOperand(0);
    indices = inner;
  }
  return indices;
}

Value Lanes::row(int64_t block, int64_t half) {
  return add(add(mul(warp, kWarpRows), group), constant(block * warps * kWarpRows + half * 8));
}

Value Lanes::rowWithin(int64_t block, int64_t half, int64_t rows) {
  Value own = row(block, half);
  return hasRowTail(rows) ? arith::MinUIOp::create(b, loc, own, constant(rows - 1)).getResult() : own;
}

Value Lanes::column(int64_t tile, int64_t item) { return add(mul(quad, 2), constant(tile * 8 + item)); }

Value Lanes::kOf(const MmaForm &form, int64_t step, int64_t item) {
  return add(mul(quad, form.perLane()), constant(step * form.kStep() + item));
}

Value Lanes::columnOfB(int64_t tile) { return add(group, constant(tile * 8)); }

/// The lane's numbers of a fragment, in registers once LLVM has seen that only known ones are asked for.
Value Lanes::array(Value buffer) {
  Value root = bufferRoot(buffer);
  Value &found = arrays[root];
  if (found)
    return found;
  auto type = cast<MemRefType>(root.getType());
  int64_t size = 0;
  switch (layoutOf(root)) {
  case TileLayout::Accumulator:
    size = rowBlocks(type.getNumElements() / type.getShape().back()) * type.getShape().back() / 2;
    break;
  case TileLayout::Row:
    size = rowBlocks(type.getNumElements()) * 2;
    break;
  default:
    size = type.getNumElements() / kWarpSize;
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&kernel.getBody().front());
  found = memref::AllocaOp::create(b, loc, MemRefType::get({size}, type.getElementType()));
  return found;
}

Value Lanes::load(Value buffer, int64_t slot) {
  Value from = array(buffer);
  return memref::LoadOp::create(b, loc, from, constant(slot));
}

void Lanes::store(Value value, Value buffer, int64_t slot) {
  Value to = array(buffer);
  memref::StoreOp::create(b, loc, value, to, constant(slot));
}

SmallVector<Value> Lanes::inlineBody(linalg::LinalgOp op, ValueRange indices, ValueRange arguments) {
  IRMapping map;
  map.map(op.getBlock()->getArguments(), arguments);
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      map.map(index.getResult(), indices[index.getDim()]);
    else
      b.clone(inner, map);
  }
  SmallVector<Value> yielded;
  for (Value value : op.getBlock()->getTerminator()->getOperands())
    yielded.push_back(map.lookupOrDefault(value));
  return yielded;
}

Value Lanes::combine(Operation *combiner, Value x, Value y) {
  IRMapping map;
  map.map(combiner->getOperand(0), x);
  map.map(combiner->getOperand(1), y);
  return b.clone(*combiner, map)->getResult(0);
}

Value Lanes::neutralElement(Operation *combiner) {
  return arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner));
}

Value Lanes::combineLanes(Operation *combiner, Value value, int64_t width) {
  for (int64_t distance = 1; distance < width; distance *= 2) {
    Value other = gpu::ShuffleOp::create(b, loc, value, distance, kWarpSize, gpu::ShuffleMode::XOR).getShuffleResult();
    value = combine(combiner, value, other);
  }
  return value;
}

void Lanes::ifAll(ValueRange conditions, llvm::function_ref<void()> body) {
  if (conditions.empty())
    return body();
  Value all = conditions.front();
  for (Value condition : conditions.drop_front())
    all = arith::AndIOp::create(b, loc, all, condition);
  auto branch = scf::IfOp::create(b, loc, all);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

Value Lanes::isBelow(Value x, int64_t bound) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, constant(bound));
}

void Lanes::loop(Value from, int64_t to, int64_t step, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, constant(to), constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

} // namespace tilewright
