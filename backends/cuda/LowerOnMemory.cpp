// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on memory: each thread does every so-manieth element. A reduction over at least a warp's worth of numbers is done
// by one warp for each result, lanes side by side, and ends in shuffles; any other by one thread for each result.
#include "backends/cuda/Lanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright {

namespace {

class MemoryOp {
public:
  MemoryOp(Lanes &lanes, linalg::LinalgOp op) : lanes(lanes), op(op) {
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
      bool isParallel = iterator == utils::IteratorType::parallel;
      (isParallel ? parallelDims : reducedDims).push_back(dim);
      (isParallel ? parallelExtents : reducedExtents).push_back(extents[dim]);
      (isParallel ? points : length) *= extents[dim];
    }
    for (OpOperand &init : op.getDpsInitsMutable())
      carried.push_back(llvm::none_of(
          reducedDims, [&](unsigned dim) { return op.getMatchingIndexingMap(&init).isFunctionOfDim(dim); }));
  }

  void lower() {
    if (points == 0)
      return;
    if (reducedDims.empty())
      return lanes.loop(lanes.thread, points, lanes.threads(), [&](Value point) {
        SmallVector<Value> none, indices = indicesOf(point, Value());
        visit(indices, none);
      });
    if (std::optional<SmallVector<Operation *>> combiners = matchCombiners(op);
        combiners && length >= kWarpSize && canShuffle())
      return lanes.loop(lanes.warp, points, lanes.warps, [&](Value point) { reduceByWarp(point, *combiners); });
    lanes.loop(lanes.thread, points, lanes.threads(), [&](Value point) { reduceByThread(point); });
  }

private:
  SmallVector<Value> indicesOf(Value point, Value step) {
    SmallVector<Value> indices(parallelDims.size() + reducedDims.size());
    for (auto [dim, index] : llvm::zip(parallelDims, lanes.delinearize(point, parallelExtents)))
      indices[dim] = index;
    if (step)
      for (auto [dim, index] : llvm::zip(reducedDims, lanes.delinearize(step, reducedExtents)))
        indices[dim] = index;
    else
      for (unsigned dim : reducedDims)
        indices[dim] = lanes.constant(0);
    return indices;
  }

  bool canShuffle() {
    return llvm::all_of(llvm::enumerate(carried), [&](auto each) {
      Type type = getElementTypeOrSelf(op.getDpsInits()[each.index()]);
      return !each.value() || type.isF32() || type.isInteger(32);
    });
  }

  Value read(OpOperand *operand, ValueRange indices) {
    if (!isa<MemRefType>(operand->get().getType()))
      return operand->get();
    return memref::LoadOp::create(lanes.b, lanes.loc, operand->get(),
                                  lanes.apply(op.getMatchingIndexingMap(operand), indices));
  }

  void write(OpOperand *operand, ValueRange indices, Value value) {
    memref::StoreOp::create(lanes.b, lanes.loc, value, operand->get(),
                            lanes.apply(op.getMatchingIndexingMap(operand), indices));
  }

  /// One point of the loops: carried inits come from and go to `running`, others are read and written.
  void visit(ValueRange indices, SmallVector<Value> &running) {
    SmallVector<Value> arguments;
    for (OpOperand *input : op.getDpsInputOperands())
      arguments.push_back(read(input, indices));
    unsigned number = 0;
    for (auto [i, isCarried] : llvm::enumerate(carried)) {
      OpOperand *init = op.getDpsInitOperand(i);
      if (isCarried && !reducedDims.empty())
        arguments.push_back(running[number++]);
      else if (op.payloadUsesValueFromOperand(init))
        arguments.push_back(read(init, indices));
      else
        arguments.push_back(
            arith::ConstantOp::create(lanes.b, lanes.loc, lanes.b.getZeroAttr(getElementTypeOrSelf(init->get()))));
    }
    SmallVector<Value> yielded = lanes.inlineBody(op, indices, arguments);
    number = 0;
    for (auto [i, isCarried] : llvm::enumerate(carried)) {
      if (isCarried && !reducedDims.empty())
        running[number++] = yielded[i];
      else
        write(op.getDpsInitOperand(i), indices, yielded[i]);
    }
  }

  SmallVector<OpOperand *> carriedInits() {
    SmallVector<OpOperand *> inits;
    for (auto [i, isCarried] : llvm::enumerate(carried))
      if (isCarried)
        inits.push_back(op.getDpsInitOperand(i));
    return inits;
  }

  /// The reduction loops from `first` in steps of `step`, on running values that start as `initial`.
  SmallVector<Value> reduce(Value point, Value first, int64_t step, ValueRange initial) {
    auto loop = scf::ForOp::create(lanes.b, lanes.loc, first, lanes.constant(length), lanes.constant(step), initial);
    OpBuilder::InsertionGuard guard(lanes.b);
    lanes.b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> running(loop.getRegionIterArgs());
    visit(indicesOf(point, loop.getInductionVar()), running);
    if (!running.empty())
      scf::YieldOp::create(lanes.b, lanes.loc, running);
    return loop.getResults();
  }

  void reduceByThread(Value point) {
    SmallVector<Value> at = indicesOf(point, Value()), initial;
    for (OpOperand *init : carriedInits())
      initial.push_back(read(init, at));
    SmallVector<Value> results = reduce(point, lanes.constant(0), 1, initial);
    for (auto [init, result] : llvm::zip(carriedInits(), results))
      write(init, at, result);
  }

  void reduceByWarp(Value point, ArrayRef<Operation *> combiners) {
    SmallVector<Operation *> used;
    SmallVector<Value> neutral;
    for (Operation *combiner : combiners)
      if (combiner) {
        used.push_back(combiner);
        neutral.push_back(lanes.neutralElement(combiner));
      }
    SmallVector<Value> partial = reduce(point, lanes.lane, kWarpSize, neutral);
    SmallVector<Value> at = indicesOf(point, Value());
    for (auto [init, combiner, value] : llvm::zip(carriedInits(), used, partial)) {
      Value total = lanes.combineLanes(combiner, value, kWarpSize);
      lanes.ifAll(lanes.isBelow(lanes.lane, 1), [&, init = init, combiner = combiner] {
        write(init, at, lanes.combine(combiner, read(init, at), total));
      });
    }
  }

  Lanes &lanes;
  linalg::LinalgOp op;
  SmallVector<unsigned> parallelDims, reducedDims;
  SmallVector<int64_t> parallelExtents, reducedExtents;
  int64_t points = 1, length = 1;
  SmallVector<bool> carried; ///< inits that do not depend on a reduction loop
};

} // namespace

void lowerOnMemory(Lanes &lanes, linalg::LinalgOp op) { MemoryOp(lanes, op).lower(); }

} // namespace tilewright
