// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuda-stage-tiles: decides where each tile lives, and makes every change of place an explicit copy.
//
// All values that one buffer will hold form a tile: an init and its result, what a loop carries, a row value as [M] or
// [M, 1]. Layouts spread from the contractions: the tile that mma.sync adds to is an accumulator; so is each
// tile that an op combines with one element by element; what an op has one number of for each row is a row value. A
// tile that is written in slices, or by an op that has no fragment form, stays in memory. Then:
//
//   - a fragment read by anything that wants memory is copied to shared memory in front of it,
//   - operand B is calculated in place where an elementwise op makes it for one warp alone, and is copied to shared
//   memory
//     where several warps read it from global memory; operand A is an accumulator as it is, or read from memory.
#include "backends/cuda/Layouts.h"
#include "backends/cuda/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// The most warps a block has, and those it has when no contraction asks for a number.
constexpr int64_t kMostWarps = 8;
/// Numbers of an operand B that a lane may hold.
constexpr int64_t kMostOperandB = 32;

/// The views through which a fragment stays one: a row value as [M] or [M, 1].
bool isRowReshape(Operation *op) {
  if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return false;
  ArrayRef<int64_t> from = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  ArrayRef<int64_t> to = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  if (from.size() > to.size())
    std::swap(from, to);
  return from.size() == 1 && to.size() == 2 && from[0] == to[0] && to[1] == 1;
}

/// Values by the tile they belong to.
class Tiles {
public:
  explicit Tiles(func::FuncOp kernel) {
    kernel.walk([&](Operation *op) { visit(op); });
    // What nothing here makes is an argument's memory.
    kernel.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (isa<TensorType>(result.getType()) && !keepsTile(op))
          pin(result);
    });
  }

  TileLayout layout(Value value) { return info(value).layout; }
  bool canMove(Value value) { return !info(value).pinned && cast<RankedTensorType>(value.getType()).hasStaticShape(); }
  /// Returns whether that is news.
  bool set(Value value, TileLayout layout) {
    if (!canMove(value) || info(value).layout == layout)
      return false;
    info(value).layout = layout;
    return true;
  }
  /// The tile lives in memory and stays there.
  void pin(Value value) { info(value) = {true, TileLayout::Memory}; }

private:
  struct Info {
    bool pinned = false;
    TileLayout layout = TileLayout::Memory;
  };

  static bool keepsTile(Operation *op) {
    return isa<linalg::LinalgOp, scf::ForOp, scf::IfOp, bufferization::AllocTensorOp>(op) || isRowReshape(op);
  }

  unsigned number(Value value) {
    auto [found, isNew] = numbers.try_emplace(value, parents.size());
    if (isNew) {
      parents.push_back(found->second);
      infos.emplace_back();
    }
    return root(found->second);
  }
  unsigned root(unsigned i) {
    while (parents[i] != i)
      i = parents[i] = parents[parents[i]];
    return i;
  }
  Info &info(Value value) { return infos[number(value)]; }

  void join(Value a, Value b) {
    unsigned x = number(a), y = number(b);
    infos[x].pinned |= infos[y].pinned;
    parents[y] = x;
  }

  void visit(Operation *op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      for (auto [init, result] : llvm::zip(linalgOp.getDpsInits(), op->getResults()))
        join(init, result);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument, yielded, result] :
           llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults()))
        if (isa<TensorType>(result.getType())) {
          join(init, argument);
          join(init, yielded);
          join(init, result);
        }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (auto [i, result] : llvm::enumerate(branch.getResults()))
        if (isa<TensorType>(result.getType())) {
          join(branch.thenYield()->getOperand(i), result);
          join(branch.elseYield()->getOperand(i), result);
        }
    } else if (isRowReshape(op)) {
      join(op->getOperand(0), op->getResult(0));
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      join(insert.getDest(), insert.getResult());
      pin(insert.getDest());
    }
  }

  DenseMap<Value, unsigned> numbers;
  SmallVector<unsigned> parents;
  SmallVector<Info> infos;
};

class CudaStageTiles : public PassWrapper<CudaStageTiles, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CudaStageTiles)
  StringRef getArgument() const override { return "cuda-stage-tiles"; }
  StringRef getDescription() const override { return "Decide where the tiles of a kernel live"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<bufferization::BufferizationDialect, gpu::GPUDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(prepare(rewriter)))
      return signalPassFailure();
    Tiles tiles(getOperation());
    spread(tiles);
    warps = chooseWarps(tiles);
    placeOperandsB(rewriter, tiles);
    copyWhereMemoryIsWanted(rewriter, tiles);
    getOperation().walk([&](bufferization::AllocTensorOp op) {
      op.setMemorySpaceAttr(layoutSpace(&getContext(), tiles.layout(op.getResult())));
    });
    getOperation()->setAttr(kWarpsAttr, rewriter.getI64IntegerAttr(warps));
  }

private:
  SmallVector<linalg::LinalgOp> linalgOps() {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    return ops;
  }

  /// Named ops become generic ones, each use of an empty tensor a buffer of its own.
  LogicalResult prepare(IRRewriter &rewriter) {
    for (linalg::LinalgOp op : linalgOps()) {
      if (op.hasDynamicShape())
        return op->emitOpError("has a dynamic shape; tiles of a kernel are static");
      if (isa<linalg::GenericOp, linalg::FillOp>(op))
        continue;
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op)))
        return op->emitOpError("has no generic form");
    }
    SmallVector<tensor::EmptyOp> empties;
    getOperation().walk([&](tensor::EmptyOp op) { empties.push_back(op); });
    for (tensor::EmptyOp op : empties) {
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
        rewriter.setInsertionPoint(use.getOwner());
        use.set(bufferization::AllocTensorOp::create(rewriter, op.getLoc(), op.getType(), op.getDynamicSizes()));
      }
      rewriter.eraseOp(op);
    }
    return success();
  }

  static bool isFragment(TileLayout layout) { return layout == TileLayout::Accumulator || layout == TileLayout::Row; }

  /// Whether an operand in layout `layout` can be read or written through `map` as a fragment.
  static bool fits(TileLayout layout, AffineMap map) {
    return accessOf(map) == (layout == TileLayout::Accumulator ? Access::Element : Access::RowValue);
  }

  /// An op on rows, or on rows by columns, that lanes can do on their own elements of a fragment.
  static bool hasFragmentForm(linalg::LinalgOp op) {
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    if (iterators.empty() || iterators.size() > 2 || iterators[0] != utils::IteratorType::parallel)
      return false;
    bool reduces = iterators.size() == 2 && iterators[1] == utils::IteratorType::reduction;
    if (iterators.size() == 2 && op.getStaticLoopRanges()[1] % 8 != 0)
      return false;
    return !reduces || matchCombiners(op).has_value();
  }

  /// Layouts to a fixed point. A tile that an op cannot hold as a fragment is pinned to memory, and all starts again.
  void spread(Tiles &tiles) {
    SmallVector<linalg::LinalgOp> ops = linalgOps();
    for (bool changed = true; changed;) {
      changed = false;
      for (linalg::LinalgOp op : ops)
        changed |= matchMma(op) ? tiles.set(op.getDpsInits()[0], TileLayout::Accumulator) : spreadOver(op, tiles);
      if (!changed)
        for (linalg::LinalgOp op : ops)
          if (!matchMma(op) && demote(op, tiles)) {
            changed = true;
            break;
          }
    }
  }

  bool spreadOver(linalg::LinalgOp op, Tiles &tiles) {
    if (!hasFragmentForm(op) || llvm::none_of(op->getOpOperands(), [&](OpOperand &operand) {
          return isa<TensorType>(operand.get().getType()) && isFragment(tiles.layout(operand.get()));
        }))
      return false;
    bool changed = false;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType()) || isFragment(tiles.layout(operand.get())))
        continue;
      Access access = accessOf(op.getMatchingIndexingMap(&operand));
      if (access != Access::Other)
        changed |= tiles.set(operand.get(), access == Access::Element ? TileLayout::Accumulator : TileLayout::Row);
    }
    return changed;
  }

  static bool demote(linalg::LinalgOp op, Tiles &tiles) {
    for (OpOperand &init : op.getDpsInitsMutable()) {
      TileLayout layout = tiles.layout(init.get());
      if (isFragment(layout) && (!hasFragmentForm(op) || !fits(layout, op.getMatchingIndexingMap(&init)))) {
        tiles.pin(init.get());
        return true;
      }
    }
    return false;
  }

  int64_t chooseWarps(Tiles &tiles) {
    int64_t most = 0;
    for (linalg::LinalgOp op : linalgOps())
      if (std::optional<MmaForm> form = matchMma(op);
          form && tiles.layout(op.getDpsInits()[0]) == TileLayout::Accumulator)
        most = std::max<int64_t>(most, llvm::divideCeil(form->m, kWarpRows));
    return most == 0 ? kMostWarps : std::min(most, kMostWarps);
  }

  /// The elementwise op that makes an operand B, through views that only its contraction reads.
  static linalg::GenericOp producerOf(Value operand) {
    while (operand.hasOneUse() &&
           isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(operand.getDefiningOp()))
      operand = operand.getDefiningOp()->getOperand(0);
    auto producer = operand.getDefiningOp<linalg::GenericOp>();
    if (!producer || !operand.hasOneUse() || producer->getNumResults() != 1 ||
        producer.getNumParallelLoops() != producer.getNumLoops() ||
        !producer.getMatchingIndexingMap(producer.getDpsInitOperand(0)).isIdentity() ||
        producer.payloadUsesValueFromOperand(producer.getDpsInitOperand(0)) ||
        !producer.getDpsInits()[0].getDefiningOp<bufferization::AllocTensorOp>())
      return nullptr;
    return producer;
  }

  static bool isGlobal(Value value, Tiles &tiles) {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<bufferization::ToTensorOp>(op))
        return true;
      if (!isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
        return false;
      value = op->getOperand(0);
    }
    return false;
  }

  void placeOperandsB(IRRewriter &rewriter, Tiles &tiles) {
    for (linalg::LinalgOp op : linalgOps()) {
      std::optional<MmaForm> form = matchMma(op);
      if (!form || tiles.layout(op.getDpsInits()[0]) != TileLayout::Accumulator)
        continue;
      OpOperand *operand = op.getDpsInputOperand(form->rhs);
      linalg::GenericOp producer = producerOf(operand->get());
      if (producer && warps == 1 && form->k * form->n / kWarpSize <= kMostOperandB) {
        tiles.set(producer.getDpsInits()[0], TileLayout::OperandB);
        // The views between them are the fragment's, too.
        for (Value view = operand->get(); view != producer.getResult(0); view = view.getDefiningOp()->getOperand(0))
          tiles.set(view, TileLayout::OperandB);
      } else if (warps > 1 && isGlobal(operand->get(), tiles)) {
        operand->set(copyToShared(rewriter, operand->get(), op));
      }
    }
  }

  /// `value` in a new buffer in shared memory, copied in front of `op`.
  Value copyToShared(IRRewriter &rewriter, Value value, Operation *op) {
    rewriter.setInsertionPoint(op);
    auto type = cast<RankedTensorType>(value.getType());
    Value buffer = bufferization::AllocTensorOp::create(rewriter, op->getLoc(), type, ValueRange());
    return copyInto(rewriter, op->getLoc(), value, buffer);
  }

  static Value copyInto(IRRewriter &rewriter, Location loc, Value value, Value destination) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               rewriter, loc, destination.getType(), value, destination, maps, iterators,
               [](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, args[0]); })
        .getResult(0);
  }

  /// Whether this use of a fragment takes it as it is.
  static bool readsFragment(OpOperand &use, Tiles &tiles) {
    Operation *op = use.getOwner();
    TileLayout layout = tiles.layout(use.get());
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      return isa<scf::ForOp, scf::YieldOp>(op) || isRowReshape(op);
    if (linalgOp.isDpsInit(&use))
      return true;
    AffineMap map = linalgOp.getMatchingIndexingMap(&use);
    if (std::optional<MmaForm> form = matchMma(linalgOp);
        form && tiles.layout(linalgOp.getDpsInits()[0]) == TileLayout::Accumulator)
      // Rows of A are rows of the accumulator, its columns the k of one reduction loop.
      return use.getOperandNumber() == form->lhs && layout == TileLayout::Accumulator &&
             form->kind == MmaForm::Kind::Tf32 && linalgOp.getNumLoops() == 3 &&
             map == AffineMap::get(3, 0, {getAffineDimExpr(0, map.getContext()), getAffineDimExpr(2, map.getContext())},
                                   map.getContext());
    return hasFragmentForm(linalgOp) && fits(layout, map);
  }

  void copyWhereMemoryIsWanted(IRRewriter &rewriter, Tiles &tiles) {
    SmallVector<Value> fragments;
    auto consider = [&](Value value) {
      if (isa<TensorType>(value.getType()) && isFragment(tiles.layout(value)))
        fragments.push_back(value);
    };
    getOperation().walk([&](Operation *op) {
      llvm::for_each(op->getResults(), consider);
      for (Region &region : op->getRegions())
        if (!isa<linalg::LinalgOp>(op))
          for (Block &block : region)
            llvm::for_each(block.getArguments(), consider);
    });
    for (Value fragment : fragments) {
      SmallVector<OpOperand *> readers;
      for (OpOperand &use : fragment.getUses())
        if (!readsFragment(use, tiles))
          readers.push_back(&use);
      if (readers.empty())
        continue;
      // An insertion takes the fragment straight to its place.
      SmallVector<OpOperand *> others;
      for (OpOperand *use : readers) {
        auto insert = dyn_cast<tensor::InsertSliceOp>(use->getOwner());
        if (!insert || use->getOperandNumber() != 0) {
          others.push_back(use);
          continue;
        }
        rewriter.setInsertionPoint(insert);
        Value place =
            tensor::ExtractSliceOp::create(rewriter, insert.getLoc(), insert.getSourceType(), insert.getDest(),
                                           insert.getMixedOffsets(), insert.getMixedSizes(), insert.getMixedStrides());
        use->set(copyInto(rewriter, insert.getLoc(), fragment, place));
      }
      if (others.empty())
        continue;
      // One copy serves all readers; it stands where the fragment's own block first reads it.
      Block *block = fragment.getParentBlock();
      Operation *first = nullptr;
      for (OpOperand *use : others) {
        Operation *op = block->findAncestorOpInBlock(*use->getOwner());
        if (!first || op->isBeforeInBlock(first))
          first = op;
      }
      Value copy = copyToShared(rewriter, fragment, first);
      for (OpOperand *use : others)
        use->set(copy);
    }
  }

  int64_t warps = 1;
};

} // namespace

std::unique_ptr<Pass> tilewright::createCudaStageTilesPass() { return std::make_unique<CudaStageTiles>(); }
