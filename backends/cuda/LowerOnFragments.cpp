// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on rows, or on rows by columns, some of whose operands are fragments: each lane does its own elements. What is in
// memory is read and written at them; a reduction over columns ends with the four lanes that share a row.
#include "backends/cuda/Lanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright {

namespace {

class FragmentOp {
public:
  FragmentOp(Lanes &lanes, linalg::LinalgOp op)
      : lanes(lanes), op(op), extents(op.getStaticLoopRanges()), rows(extents[0]),
        columns(extents.size() > 1 ? extents[1] : 0), tail(lanes.hasRowTail(rows)) {
    if (op.getNumReductionLoops() > 0)
      combiners = *matchCombiners(op);
    else
      combiners.assign(op.getNumDpsInits(), nullptr);
  }

  void lower() {
    for (int64_t block = 0; block < lanes.rowBlocks(rows); ++block)
      for (int64_t half : {0, 1})
        lowerRow(block, half);
  }

private:
  /// A place in the fragment: of a row when there are no columns.
  struct Place {
    int64_t block, half, tile, item;
    SmallVector<Value> indices; ///< of the loops, the row one that exists
  };

  void lowerRow(int64_t block, int64_t half) {
    Value row = lanes.row(block, half), within = lanes.rowWithin(block, half, rows);
    SmallVector<Value> partial;
    for (Operation *combiner : combiners)
      partial.push_back(combiner ? lanes.neutralElement(combiner) : Value());
    if (extents.size() == 1)
      visit({block, half, 0, 0, {within}}, row, partial);
    for (int64_t tile = 0; tile < columns / 8; ++tile)
      for (int64_t item : {0, 1})
        visit({block, half, tile, item, {within, lanes.column(tile, item)}}, row, partial);
    for (auto [i, combiner] : llvm::enumerate(combiners)) {
      if (!combiner)
        continue;
      Place place{block, half, 0, 0, {within, lanes.constant(0)}};
      OpOperand *init = op.getDpsInitOperand(i);
      Value value = lanes.combineLanes(combiner, partial[i], 4);
      auto finish = [&, combiner = combiner] { write(init, place, lanes.combine(combiner, read(init, place), value)); };
      layoutOf(init->get()) == TileLayout::Memory ? lanes.ifAll(ownsRow(row), finish) : finish();
    }
  }

  /// For one lane of those that have a row's number.
  SmallVector<Value> ownsRow(Value row) {
    SmallVector<Value> conditions{lanes.leadsRow()};
    if (tail)
      conditions.push_back(lanes.isBelow(row, rows));
    return conditions;
  }

  void visit(const Place &place, Value row, SmallVector<Value> &partial) {
    SmallVector<Value> arguments;
    for (OpOperand *input : op.getDpsInputOperands())
      arguments.push_back(read(input, place));
    for (auto [i, combiner] : llvm::enumerate(combiners)) {
      OpOperand *init = op.getDpsInitOperand(i);
      if (combiner)
        arguments.push_back(partial[i]);
      else if (op.payloadUsesValueFromOperand(init))
        arguments.push_back(read(init, place));
      else
        arguments.push_back(
            arith::ConstantOp::create(lanes.b, lanes.loc, lanes.b.getZeroAttr(getElementTypeOrSelf(init->get()))));
    }
    SmallVector<Value> yielded = lanes.inlineBody(op, place.indices, arguments);
    for (auto [i, combiner] : llvm::enumerate(combiners)) {
      OpOperand *init = op.getDpsInitOperand(i);
      if (combiner) {
        partial[i] = yielded[i];
      } else if (layoutOf(init->get()) != TileLayout::Memory) {
        write(init, place, yielded[i]);
      } else {
        SmallVector<Value> conditions;
        if (extents.size() == 1)
          conditions = ownsRow(row);
        else if (tail)
          conditions.push_back(lanes.isBelow(row, rows));
        lanes.ifAll(conditions, [&, i = i] { write(init, place, yielded[i]); });
      }
    }
  }

  Value read(OpOperand *operand, const Place &place) {
    Value value = operand->get();
    if (!isa<MemRefType>(value.getType()))
      return value;
    switch (layoutOf(value)) {
    case TileLayout::Accumulator:
      return lanes.load(value, lanes.elementSlot(columns, place.block, place.half, place.tile, place.item));
    case TileLayout::Row:
      return lanes.load(value, lanes.rowSlot(place.block, place.half));
    default:
      return memref::LoadOp::create(lanes.b, lanes.loc, value,
                                    lanes.apply(op.getMatchingIndexingMap(operand), place.indices));
    }
  }

  void write(OpOperand *operand, const Place &place, Value number) {
    Value buffer = operand->get();
    switch (layoutOf(buffer)) {
    case TileLayout::Accumulator:
      return lanes.store(number, buffer, lanes.elementSlot(columns, place.block, place.half, place.tile, place.item));
    case TileLayout::Row:
      return lanes.store(number, buffer, lanes.rowSlot(place.block, place.half));
    default:
      memref::StoreOp::create(lanes.b, lanes.loc, number, buffer,
                              lanes.apply(op.getMatchingIndexingMap(operand), place.indices));
    }
  }

  Lanes &lanes;
  linalg::LinalgOp op;
  SmallVector<int64_t> extents;
  int64_t rows, columns;
  bool tail;
  SmallVector<Operation *> combiners; ///< null for an init that is written element by element
};

} // namespace

void lowerOnFragments(Lanes &lanes, linalg::LinalgOp op) { FragmentOp(lanes, op).lower(); }

} // namespace tilewright
