// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/tile/GroupKernel.h"

#include "ir/interfaces/Verify.h"
#include "ir/tw/RowCount.h"
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
/// Elements of the largest result of one tile of an op without rows.
constexpr int64_t kStaticTileElements = 4096;

class GroupKernelBuilder {
public:
  GroupKernelBuilder(const KernelGroup &group, const KernelGroups &groups, const ShapeClass &shapeClass,
                     KernelFunction &kernel)
      : group(group), groups(groups), kernel(kernel), b(kernel.builder()), loc(kernel.function().getLoc()),
        count(tw::RowCount::parse(group.rows)),
        rowTile(count.base == "R" ? shapeClass.logitRowMultiple : shapeClass.rowMultiple) {}

  LogicalResult build();

private:
  LogicalResult buildStatic(SmallVectorImpl<Value> &destinations);
  LogicalResult lower(ArrayRef<Value> destinations);
  LogicalResult clone(Operation *op);
  /// Whether a tile of `view`, which no group computes, is made in the kernel, and not the whole view in the program.
  bool isRecomputed(Operation *view) const;
  int64_t weightBytesOfUnit() const;
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value times(Value value, int64_t factor) {
    return factor == 1 ? value : arith::MulIOp::create(b, loc, value, constant(factor)).getResult();
  }
  /// The tile of every output for rows at `row` and columns at `units` * unit; inserted into `destinations`.
  LogicalResult tile(Value row, Value units, int64_t columns, SmallVectorImpl<Value> &destinations);
  /// The tile of every output that stands where `position` says.
  using Position =
      llvm::function_ref<LogicalResult(Value output, SmallVectorImpl<OpFoldResult> &, SmallVectorImpl<OpFoldResult> &)>;
  LogicalResult tile(SmallVectorImpl<Value> &destinations, Position position);
  /// Where in `value` columns [units * unit, + columns) of the group lie.
  LogicalResult tilePosition(Value value, Value row, Value units, int64_t columns,
                             SmallVectorImpl<OpFoldResult> &offsets, SmallVectorImpl<OpFoldResult> &sizes);
  /// `tile` written to `place` by a generic: as an insertion alone it would become a copy between strided memories.
  linalg::GenericOp store(Value tile, Value place);
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
  tw::RowCount count; ///< of the group's rows
  int64_t rowTile;
  IRMapping mapping;                   ///< the program's values -> the kernel's
  llvm::SetVector<Operation *> clones; ///< the group's ops on whole tensors; they disappear
  SmallVector<Value> outputs;
  SmallVector<linalg::GenericOp> stores; ///< of tiles into results
};

bool GroupKernelBuilder::isRecomputed(Operation *view) const {
  auto reshape = dyn_cast<tw::ReshapeOp>(view);
  return !reshape || (group.kind != KernelGroup::Kind::Static && succeeded(reshape.getLoopMap()));
}

LogicalResult GroupKernelBuilder::clone(Operation *op) {
  for (Value operand : op->getOperands()) {
    if (mapping.contains(operand))
      continue;
    Operation *producer = operand.getDefiningOp();
    if (producer && isView(producer, groups) && isRecomputed(producer)) {
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
  return tile(destinations,
              [&](Value output, SmallVectorImpl<OpFoldResult> &offsets, SmallVectorImpl<OpFoldResult> &sizes) {
                return tilePosition(output, row, units, columns, offsets, sizes);
              });
}

linalg::GenericOp GroupKernelBuilder::store(Value tile, Value place) {
  unsigned rank = cast<RankedTensorType>(tile.getType()).getRank();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      b, loc, place.getType(), ValueRange(tile), ValueRange(place), maps, parallel,
      [](OpBuilder &inner, Location at, ValueRange args) { linalg::YieldOp::create(inner, at, args[0]); });
}

LogicalResult GroupKernelBuilder::tile(SmallVectorImpl<Value> &destinations, Position position) {
  SmallVector<tensor::ExtractSliceOp> slices, places;
  SmallVector<linalg::GenericOp> tiles;
  for (auto [output, destination] : llvm::zip_equal(outputs, destinations)) {
    SmallVector<OpFoldResult> offsets, sizes;
    if (failed(position(output, offsets, sizes)))
      return failure();
    SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
    slices.push_back(tensor::ExtractSliceOp::create(b, loc, mapping.lookup(output), offsets, sizes, strides));
    auto place = tensor::ExtractSliceOp::create(b, loc, destination, offsets, sizes, strides);
    stores.push_back(store(slices.back().getResult(), place));
    places.push_back(place);
    tiles.push_back(stores.back());
  }
  if (failed(fuse(slices)))
    return failure();
  // Behind every op of the tile: one that reads another output's tile reads it before it becomes part of the result.
  for (auto [destination, place, store] : llvm::zip_equal(destinations, places, tiles))
    destination = tensor::InsertSliceOp::create(b, loc, store.getResult(0), destination, place.getMixedOffsets(),
                                                place.getMixedSizes(), place.getMixedStrides());
  return success();
}

LogicalResult GroupKernelBuilder::lowerTiles() {
  SmallVector<TileLowering> ops;
  kernel.function().walk([&](TileLowering op) { ops.push_back(op); });
  for (TileLowering op : ops) {
    b.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> values = op.lowerTile(b);
    if (failed(values) || failed(verifyGivenTypes(op, "TileLowering", *values)))
      return failure();
    op->replaceAllUsesWith(*values);
    op->erase();
  }
  return success();
}

/// What `tile` was before linalg ops and insertions wrote to it.
static Value beginningOf(Value tile) {
  while (auto result = dyn_cast<OpResult>(tile)) {
    if (auto op = dyn_cast<linalg::LinalgOp>(result.getOwner()))
      tile = op.getDpsInits()[result.getResultNumber()];
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(result.getOwner()))
      tile = insert.getDest();
    else
      break;
  }
  return tile;
}

void GroupKernelBuilder::placeTiles() {
  for (linalg::GenericOp store : stores) {
    Value tile = store.getOperand(0);
    Value beginning = beginningOf(tile);
    Operation *empty = beginning.getDefiningOp();
    if (!isa_and_nonnull<tensor::EmptyOp, bufferization::AllocTensorOp>(empty) || tile == beginning ||
        empty->getBlock() != store->getBlock() || beginning.getType() != tile.getType())
      continue;
    auto place = store.getDpsInits()[0].getDefiningOp<tensor::ExtractSliceOp>();
    bool isKnownThere = llvm::all_of(place->getOperands(), [&](Value operand) {
      Operation *op = operand.getDefiningOp();
      return !op || op->getBlock() != empty->getBlock() || op->isBeforeInBlock(empty);
    });
    if (!isKnownThere)
      continue;
    place->moveBefore(empty);
    beginning.replaceAllUsesWith(place.getResult());
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

  if (group.kind == KernelGroup::Kind::Static)
    return buildStatic(destinations);
  MLIRContext *context = b.getContext();
  bool anchored = group.kind == KernelGroup::Kind::Anchored;
  int64_t fullUnits = anchored ? group.columns / group.unit : 1;
  int64_t tail = anchored ? group.columns % group.unit : 0;
  int64_t units = fullUnits + (tail != 0);
  int64_t perChunk = std::clamp<int64_t>(kChunkBytes / weightBytesOfUnit(), 1, llvm::divideCeil(units, kWantedChunks));
  int64_t columnChunks = llvm::divideCeil(units, perChunk);
  StepCount of = count.base == "R" ? StepCount::LogitRows : StepCount::PaddedRows;
  kernel.setChunks((stepCount(of, context) * count.factor).floorDiv(rowTile) * columnChunks);

  Value zero = constant(0);
  Value rowTiles = rowTile == 1
                       ? kernel.symbol(group.rows)
                       : arith::DivUIOp::create(b, loc, kernel.symbol(group.rows), constant(rowTile)).getResult();
  auto chunkBody = [&](Value chunk, SmallVectorImpl<Value> &inner) -> LogicalResult {
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
  return lower(destinations);
}

/// A chunk is one tile of the op's loops: the innermost ones as far as a tile takes them, the others one by one.
LogicalResult GroupKernelBuilder::buildStatic(SmallVectorImpl<Value> &destinations) {
  Operation *op = clones.back();
  FailureOr<LoopMap> map = cast<LoopMapped>(op).getLoopMap();
  int64_t elements = 1;
  bool isEmpty = false;
  for (auto [result, dims] : llvm::zip_equal(op->getResults(), map->results)) {
    int64_t whole = 1; // elements of dimensions that are never cut, and of one step of a loop
    auto type = cast<RankedTensorType>(result.getType());
    isEmpty |= type.getNumElements() == 0;
    for (auto [d, dim] : llvm::enumerate(dims))
      whole *= dim.loop == LoopDim::kWhole ? type.getDimSize(d) : dim.factor;
    elements = std::max(elements, whole);
  }
  if (isEmpty) {
    kernel.setChunks(getAffineConstantExpr(0, b.getContext()));
    return lower(destinations);
  }
  auto isEmptyTensor = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements() == 0; };
  if (llvm::any_of(op->getOperands(), isEmptyTensor)) {
    // Nothing to cut: a result of nothing.
    kernel.setChunks(getAffineConstantExpr(1, b.getContext()));
    auto whole = [&](Value, SmallVectorImpl<Value> &inner) {
      clones.remove(op);
      for (auto [output, destination] : llvm::zip_equal(outputs, inner))
        destination = store(mapping.lookup(output), destination).getResult(0);
      return success();
    };
    if (failed(loop(kernel.begin(), kernel.end(), destinations, whole)))
      return failure();
    return lower(destinations);
  }
  SmallVector<int64_t> sizes, counts;
  int64_t chunks = 1;
  for (Range range : loopDomain(op, map, b)) {
    std::optional<int64_t> extent = getConstantIntValue(range.size);
    if (!extent)
      return op->emitOpError("has no kernel form for dynamic dimensions behind the first");
    counts.push_back(*extent);
  }
  sizes.assign(counts.size(), 1);
  for (int64_t l = static_cast<int64_t>(counts.size()) - 1; l >= 0; --l) {
    sizes[l] = largestDivisor(counts[l], kStaticTileElements / elements);
    elements *= sizes[l];
    counts[l] /= sizes[l];
    chunks *= counts[l];
  }
  kernel.setChunks(getAffineConstantExpr(chunks, b.getContext()));
  auto chunkBody = [&](Value chunk, SmallVectorImpl<Value> &inner) -> LogicalResult {
    SmallVector<OpFoldResult> loopOffsets(counts.size(), b.getIndexAttr(0)),
        loopSizes = getAsIndexOpFoldResult(b.getContext(), sizes);
    Value rest = chunk;
    for (int64_t l = static_cast<int64_t>(counts.size()) - 1; l >= 0; --l) {
      if (counts[l] == 1)
        continue;
      loopOffsets[l] = times(arith::RemUIOp::create(b, loc, rest, constant(counts[l])), sizes[l]);
      rest = arith::DivUIOp::create(b, loc, rest, constant(counts[l]));
    }
    return tile(inner,
                [&](Value output, SmallVectorImpl<OpFoldResult> &offsets, SmallVectorImpl<OpFoldResult> &resultSizes) {
                  return resultTileOfLoops(op, map, b, cast<OpResult>(output).getResultNumber(), loopOffsets, loopSizes,
                                           offsets, resultSizes);
                });
  };
  if (failed(loop(kernel.begin(), kernel.end(), destinations, chunkBody)))
    return failure();
  return lower(destinations);
}

LogicalResult GroupKernelBuilder::lower(ArrayRef<Value> destinations) {
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
  IRRewriter rewriter(b.getContext());
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
