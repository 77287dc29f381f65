// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/tile/GroupKernel.h"

#include "ir/tw/Tw.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace tilewright {

namespace {

/// Bytes of weights in a chunk: enough to hide the cost of claiming one, little enough to balance and to stay in a
/// core's cache while row tiles pass over it.
constexpr int64_t kChunkBytes = 128 * 1024;
/// Column chunks wanted, so that threads find work.
constexpr int64_t kWantedChunks = 8;

class GroupKernelBuilder {
public:
  GroupKernelBuilder(const KernelGroup &group, const KernelGroups &groups, const ShapeClass &shapeClass,
                     KernelFunction &kernel)
      : group(group), groups(groups), kernel(kernel), b(kernel.builder()), loc(kernel.function().getLoc()),
        rowTile(group.rows == "R" ? shapeClass.logitRowMultiple : shapeClass.rowMultiple) {}

  LogicalResult build();

private:
  LogicalResult clone(Operation *op);
  int64_t weightBytesOfUnit() const;
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value times(Value value, int64_t factor) {
    return factor == 1 ? value : arith::MulIOp::create(b, loc, value, constant(factor)).getResult();
  }
  /// The tile of every output for rows at `row` and columns at `units` * unit; inserted into `destinations`.
  LogicalResult tile(Value row, Value units, int64_t columns, SmallVectorImpl<Value> &destinations);
  /// Where in `value` columns [units * unit, + columns) of the group lie.
  LogicalResult tilePosition(Value value, Value row, Value units, int64_t columns,
                             SmallVectorImpl<OpFoldResult> &offsets, SmallVectorImpl<OpFoldResult> &sizes);
  LogicalResult fuse(SmallVectorImpl<tensor::ExtractSliceOp> &slices);
  LogicalResult lowerTiles();
  /// Tiles take their places: in the result where their op can write to it, else in a buffer of their own.
  void placeTiles();
  /// A loop from `low` to `high` around `body`, which replaces the destinations.
  template <typename Body> LogicalResult loop(Value low, Value high, SmallVectorImpl<Value> &destinations, Body body) {
    auto forOp = scf::ForOp::create(b, loc, low, high, constant(1), destinations);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    SmallVector<Value> inner(forOp.getRegionIterArgs());
    if (failed(body(forOp.getInductionVar(), inner)))
      return failure();
    scf::YieldOp::create(b, loc, inner);
    destinations.assign(forOp.getResults().begin(), forOp.getResults().end());
    return success();
  }

  const KernelGroup &group;
  const KernelGroups &groups;
  KernelFunction &kernel;
  OpBuilder &b;
  Location loc;
  int64_t rowTile;
  IRMapping mapping;                   ///< the program's values -> the kernel's
  llvm::SetVector<Operation *> clones; ///< the group's ops on whole tensors; they disappear
  SmallVector<Value> outputs;
  SmallVector<linalg::GenericOp> stores; ///< of tiles into results
};

LogicalResult GroupKernelBuilder::clone(Operation *op) {
  for (Value operand : op->getOperands()) {
    if (mapping.contains(operand))
      continue;
    Operation *producer = operand.getDefiningOp();
    if (producer && isView(producer, groups)) {
      if (failed(clone(producer)))
        return failure();
      continue;
    }
    Value input = kernel.input(operand);
    if (!input)
      return failure();
    mapping.map(operand, input);
  }
  Operation *cloned;
  if (auto constantOp = dyn_cast<tw::ConstantOp>(op)) {
    cloned = arith::ConstantOp::create(b, loc, cast<TypedAttr>(constantOp.getValue()));
    mapping.map(constantOp.getResult(), cloned->getResult(0));
    return success();
  }
  clones.insert(b.clone(*op, mapping));
  return success();
}

int64_t GroupKernelBuilder::weightBytesOfUnit() const {
  int64_t bytes = 0;
  for (Operation *op : group.ops)
    if (auto linear = dyn_cast<tw::PackedLinearOp>(op)) {
      auto type = cast<RankedTensorType>(linear.getWeight().getType());
      bytes += type.getNumElements() * group.unit / group.columns;
    }
  return std::max<int64_t>(bytes, 1);
}

LogicalResult GroupKernelBuilder::tilePosition(Value value, Value row, Value units, int64_t columns,
                                               SmallVectorImpl<OpFoldResult> &offsets,
                                               SmallVectorImpl<OpFoldResult> &sizes) {
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t extent : type.getShape()) {
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(b.getIndexAttr(extent));
  }
  if (group.kind == KernelGroup::Kind::Static)
    return success();
  offsets[0] = row;
  sizes[0] = b.getIndexAttr(rowTile);
  if (!units)
    return success();
  // Columns of this value in place of the group's.
  int64_t all = rowElements(type);
  int64_t own = columns * all / group.columns, step = group.unit * all / group.columns;
  if (own * group.columns != columns * all || type.getRank() < 2)
    return emitError(loc) << "a tile of " << columns << " of " << group.columns << " columns is no tile of " << type;
  int64_t inner = all / type.getDimSize(1);
  if (own % inner || step % inner)
    return emitError(loc) << "a tile of " << own << " columns cuts the inner dimensions of " << type;
  offsets[1] = times(units, step / inner);
  if (auto known = getConstantIntValue(units))
    offsets[1] = b.getIndexAttr(*known * (step / inner));
  sizes[1] = b.getIndexAttr(own / inner);
  return success();
}

LogicalResult GroupKernelBuilder::fuse(SmallVectorImpl<tensor::ExtractSliceOp> &slices) {
  // Every op of a group stands at one place in a tile, so who reads it twice, or two of its results, shares one tile.
  // In order of the block, so that the first tile of an op is there for the later ones.
  llvm::DenseMap<Operation *, Operation *> tiles;
  for (size_t next = 0; next < slices.size(); ++next) {
    tensor::ExtractSliceOp slice = slices[next];
    auto producer = dyn_cast<OpResult>(slice.getSource());
    if (!producer || !clones.contains(producer.getOwner()))
      continue;
    if (Operation *tile = tiles.lookup(producer.getOwner());
        tile && tile->getBlock() == slice->getBlock() && tile->isBeforeInBlock(slice) &&
        tile->getResult(producer.getResultNumber()).getType() == slice.getType()) {
      slice.replaceAllUsesWith(tile->getResult(producer.getResultNumber()));
      slice.erase();
      continue;
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(slice);
    FailureOr<TilingResult> tiled = tensor::replaceExtractSliceWithTiledProducer(b, slice, producer);
    if (failed(tiled))
      return producer.getOwner()->emitOpError("cannot be cut to a tile of type ") << slice.getType();
    for (Operation *operand : tiled->generatedSlices)
      if (auto operandSlice = dyn_cast<tensor::ExtractSliceOp>(operand))
        slices.push_back(operandSlice);
    if (Operation *op = tiled->tiledValues[0].getDefiningOp();
        op->getNumResults() == producer.getOwner()->getNumResults())
      tiles[producer.getOwner()] = op;
    slice.replaceAllUsesWith(tiled->tiledValues[0]);
    slice.erase();
  }
  return success();
}

LogicalResult GroupKernelBuilder::tile(Value row, Value units, int64_t columns, SmallVectorImpl<Value> &destinations) {
  SmallVector<tensor::ExtractSliceOp> slices;
  for (auto [output, destination] : llvm::zip_equal(outputs, destinations)) {
    SmallVector<OpFoldResult> offsets, sizes;
    if (failed(tilePosition(output, row, units, columns, offsets, sizes)))
      return failure();
    SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
    slices.push_back(tensor::ExtractSliceOp::create(b, loc, mapping.lookup(output), offsets, sizes, strides));
    // Written by a generic: as an insertion alone it would become a copy between strided memories.
    Value place = tensor::ExtractSliceOp::create(b, loc, destination, offsets, sizes, strides);
    unsigned rank = offsets.size();
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel);
    auto store = linalg::GenericOp::create(
        b, loc, place.getType(), ValueRange(slices.back().getResult()), place, maps, parallel,
        [](OpBuilder &inner, Location at, ValueRange args) { linalg::YieldOp::create(inner, at, args[0]); });
    stores.push_back(store);
    destination = tensor::InsertSliceOp::create(b, loc, store.getResult(0), destination, offsets, sizes, strides);
  }
  return fuse(slices);
}

LogicalResult GroupKernelBuilder::lowerTiles() {
  SmallVector<TileLowering> ops;
  kernel.function().walk([&](TileLowering op) { ops.push_back(op); });
  for (TileLowering op : ops) {
    b.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> values = op.lowerTile(b);
    if (failed(values))
      return failure();
    op->replaceAllUsesWith(*values);
    op->erase();
  }
  return success();
}

void GroupKernelBuilder::placeTiles() {
  for (linalg::GenericOp store : stores) {
    auto tile = cast<OpResult>(store.getOperand(0));
    auto producer = dyn_cast<linalg::GenericOp>(tile.getOwner());
    if (!producer || producer->getBlock() != store->getBlock())
      continue;
    OpOperand &init = producer.getDpsInitsMutable()[tile.getResultNumber()];
    if (!init.get().getDefiningOp<tensor::EmptyOp>())
      continue;
    auto place = store.getDpsInits()[0].getDefiningOp<tensor::ExtractSliceOp>();
    place->moveBefore(producer);
    init.set(place);
    store.getResult(0).replaceAllUsesWith(tile);
    store.erase();
  }
  kernel.function().walk([&](tensor::EmptyOp empty) {
    if (empty->use_empty()) {
      empty.erase();
      return;
    }
    b.setInsertionPoint(empty);
    Value buffer = bufferization::AllocTensorOp::create(b, loc, empty.getType(), ValueRange());
    empty.replaceAllUsesWith(buffer);
    empty.erase();
  });
}

LogicalResult GroupKernelBuilder::build() {
  for (Operation *op : group.ops)
    if (failed(clone(op)))
      return failure();
  outputs = group.outputs();
  SmallVector<Value> destinations;
  for (Value output : outputs) {
    destinations.push_back(kernel.output(output));
    if (!destinations.back())
      return failure();
  }

  MLIRContext *context = b.getContext();
  bool anchored = group.kind == KernelGroup::Kind::Anchored, rows = group.kind != KernelGroup::Kind::Static;
  int64_t fullUnits = anchored ? group.columns / group.unit : 1;
  int64_t tail = anchored ? group.columns % group.unit : 0;
  int64_t units = fullUnits + (tail != 0);
  int64_t perChunk = std::clamp<int64_t>(kChunkBytes / weightBytesOfUnit(), 1, llvm::divideCeil(units, kWantedChunks));
  int64_t columnChunks = llvm::divideCeil(units, perChunk);
  AffineExpr count = getAffineConstantExpr(columnChunks, context);
  if (rows) {
    StepCount of = group.rows == "R" ? StepCount::LogitRows : StepCount::PaddedRows;
    count = stepCount(of, context).floorDiv(rowTile) * columnChunks;
  }
  kernel.setChunks(count);

  Value zero = constant(0);
  Value rowTiles;
  if (rows)
    rowTiles = rowTile == 1 ? kernel.symbol(group.rows)
                            : arith::DivUIOp::create(b, loc, kernel.symbol(group.rows), constant(rowTile)).getResult();
  auto chunkBody = [&](Value chunk, SmallVectorImpl<Value> &inner) -> LogicalResult {
    if (!rows)
      return tile({}, {}, group.columns, inner);
    // Chunks of the same columns follow each other: their weights stay in the cache.
    Value row = columnChunks == 1 ? chunk : arith::RemUIOp::create(b, loc, chunk, rowTiles).getResult();
    row = times(row, rowTile);
    if (!anchored)
      return tile(row, {}, group.columns, inner);
    Value low = zero;
    if (columnChunks > 1) {
      low = arith::DivUIOp::create(b, loc, chunk, rowTiles);
      low = times(low, perChunk);
    }
    auto unitBody = [&](Value unit, SmallVectorImpl<Value> &innermost) {
      return tile(row, unit, group.unit, innermost);
    };
    if (fullUnits > 0) {
      if (perChunk == 1 && !tail) {
        if (failed(unitBody(low, inner)))
          return failure();
      } else {
        Value high = arith::AddIOp::create(b, loc, low, constant(perChunk));
        if (columnChunks * perChunk > fullUnits)
          high = arith::MinUIOp::create(b, loc, high, constant(fullUnits));
        if (failed(loop(low, high, inner, unitBody)))
          return failure();
      }
    }
    if (!tail)
      return success();
    // The columns behind the last full tile belong to the last chunk: a loop of one round there, of none elsewhere.
    Value after = arith::AddIOp::create(b, loc, low, constant(perChunk));
    Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, after, constant(units));
    Value rounds = arith::SelectOp::create(b, loc, last, constant(1), zero);
    return loop(zero, rounds, inner, [&](Value, SmallVectorImpl<Value> &innermost) {
      return tile(row, constant(fullUnits), tail, innermost);
    });
  };
  if (failed(loop(kernel.begin(), kernel.end(), destinations, chunkBody)))
    return failure();
  for (auto [output, destination] : llvm::zip_equal(outputs, destinations))
    kernel.finish(output, destination);

  // The ops on whole tensors, and what only asked for their sizes, have no reader left.
  kernel.function().walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (isOpTriviallyDead(op)) {
      clones.remove(op);
      op->erase();
    }
  });
  if (!clones.empty())
    return clones.front()->emitOpError("is read by its kernel outside of tiles");
  OpBuilder::InsertionGuard guard(b);
  IRRewriter rewriter(context);
  DominanceInfo dominance(kernel.function());
  eliminateCommonSubExpressions(rewriter, dominance, kernel.function());
  if (failed(lowerTiles()))
    return failure();
  placeTiles();
  return success();
}

} // namespace

LogicalResult buildGroupKernel(const KernelGroup &group, const KernelGroups &groups, const ShapeClass &shapeClass,
                               KernelFunction &kernel) {
  return GroupKernelBuilder(group, groups, shapeClass, kernel).build();
}

} // namespace tilewright
