// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-schedule-tiles: linalg on tile-sized tensors becomes loops over vectors that fit the level's registers.
//
// The order is not free. Rows are tiled before contractions, so that fusing a contraction's init producer finds it
// whole; contractions are vectorised by hand, so that no canonicalisation can fold a unit loop before a contraction has
// formed; accumulators are hoisted out of innermost loops only, as hoisting from outer ones makes bufferisation copy.
#include "backends/cpu/Blocks.h"
#include "backends/cpu/LevelOption.h"
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"
#include "backends/cpu/SplitBlockLoops.h"
#include "backends/cpu/VectorizeTile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorTransforms.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace tilewright;

namespace {

SmallVector<OpFoldResult> asSizes(MLIRContext *context, ArrayRef<int64_t> sizes) {
  return getAsIndexOpFoldResult(context, sizes);
}

bool anyTiled(ArrayRef<int64_t> sizes) {
  return llvm::any_of(sizes, [](int64_t size) { return size != 0; });
}

class CpuScheduleTiles : public CpuLevelPass<CpuScheduleTiles> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuScheduleTiles)
  using CpuLevelPass::CpuLevelPass;
  StringRef getArgument() const override { return "cpu-schedule-tiles"; }
  StringRef getDescription() const override { return "Tile a kernel's ops to registers and vectorise them"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, bufferization::BufferizationDialect, arith::ArithDialect, scf::SCFDialect,
                    tensor::TensorDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(prepare(rewriter)))
      return signalPassFailure();
    splitBlockLoops(rewriter, getOperation(), *level);
    if (failed(pinBuffers(rewriter)) || failed(tileRows(rewriter)) || failed(tileContractions(rewriter)) ||
        failed(cleanTiles()) || failed(vectorize(rewriter)) || failed(foldSlices()))
      return signalPassFailure();
    keepCopies(rewriter);
    if (failed(cleanVectors()))
      return signalPassFailure();
    hoist(rewriter);
    if (failed(cleanVectors()))
      return signalPassFailure();
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }

private:
  SmallVector<linalg::LinalgOp> linalgOps() {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    return ops;
  }

  /// Fields become vectors, named ops generic ones, and shapes are checked.
  LogicalResult prepare(IRRewriter &rewriter) {
    getOperation().walk([&](Operation *op) {
      // Longer fields are read slice by slice, once their users are tiled.
      if (auto field = dyn_cast<tile::LoadFieldOp>(op); field && field.getFieldBytes() <= kWholeBytes)
        vectorizeLoadField(rewriter, field);
      else if (auto bits = dyn_cast<tile::LoadBitsOp>(op))
        vectorizeLoadBits(rewriter, bits);
    });
    for (linalg::LinalgOp op : linalgOps()) {
      if (op.hasDynamicShape())
        return op->emitOpError("has a dynamic shape; tiles of a kernel are static");
      if (!op.hasPureTensorSemantics())
        return op->emitOpError("works on memory; kernels work on tensors");
      if (isa<linalg::GenericOp, linalg::FillOp>(op))
        continue;
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op)))
        return op->emitOpError("has no generic form");
    }
    return success();
  }

  /// An empty tensor that ends up in a slice of another becomes that slice; each use of the others becomes a buffer of
  /// its own. As empty tensors, equal ones with equal contents would be merged, and bufferisation would have to copy.
  LogicalResult pinBuffers(IRRewriter &rewriter) {
    getOperation().walk([&](bufferization::AllocTensorOp op) {
      rewriter.setInsertionPoint(op);
      if (!op.getCopy() && op.getType().hasStaticShape())
        rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, op.getType().getShape(), op.getType().getElementType());
    });
    if (failed(bufferization::eliminateEmptyTensors(rewriter, getOperation())))
      return failure();
    SmallVector<tensor::EmptyOp> empties;
    getOperation().walk([&](tensor::EmptyOp op) { empties.push_back(op); });
    for (tensor::EmptyOp op : empties) {
      auto allocate = [&]() -> Value {
        return bufferization::AllocTensorOp::create(rewriter, op.getLoc(), op.getType(), op.getDynamicSizes());
      };
      Value pieced; // put together from slices: where they are taken and where they come back is one buffer
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
        auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
        if (isa<tensor::ExtractSliceOp>(use.getOwner()) || (insert && &use == &insert.getDestMutable())) {
          rewriter.setInsertionPoint(op);
          if (!pieced)
            pieced = allocate();
          use.set(pieced);
          continue;
        }
        rewriter.setInsertionPoint(use.getOwner());
        use.set(allocate());
      }
      rewriter.eraseOp(op);
    }
    return success();
  }

  /// The elementwise op that produces nothing but the init of this contraction.
  static linalg::LinalgOp initProducer(linalg::LinalgOp contraction) {
    auto producer = contraction.getDpsInits()[0].getDefiningOp<linalg::LinalgOp>();
    if (!producer || !producer->hasOneUse() || producer->getNumResults() != 1 ||
        producer.getNumParallelLoops() != producer.getNumLoops() || producer->getBlock() != contraction->getBlock())
      return nullptr;
    return producer;
  }

  LogicalResult tileRows(IRRewriter &rewriter) {
    DenseSet<Operation *> fused;
    SmallVector<linalg::LinalgOp> rows;
    for (linalg::LinalgOp op : linalgOps()) {
      std::optional<ContractionDims> dims = matchContraction(op);
      if (!dims) {
        rows.push_back(op);
        continue;
      }
      // Only a tiled contraction fuses; otherwise the producer is a row op like others.
      if (linalg::LinalgOp producer = initProducer(op);
          producer && anyTiled(chooseContractionBlock(op, *dims, *level).accumulator))
        fused.insert(producer);
    }
    for (linalg::LinalgOp op : rows)
      if (!fused.contains(op) && failed(tileRow(rewriter, op)))
        return failure();
    return success();
  }

  LogicalResult tileRow(IRRewriter &rewriter, linalg::LinalgOp op) {
    RowBlock block = chooseRowBlock(op, *level);
    // A result that keeps the reduced loop has no partial form: its row stays one vector.
    bool partial = block.partial != 0 && llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
                     return !op.getMatchingIndexingMap(&init).isFunctionOfDim(op.getNumLoops() - 1);
                   });
    Operation *target = op;
    if (anyTiled(block.sizes)) {
      scf::SCFTilingOptions options;
      options.setTileSizes(asSizes(&getContext(), block.sizes));
      rewriter.setInsertionPoint(op);
      FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(rewriter, cast<TilingInterface>(*op), options);
      if (failed(tiled))
        return op->emitOpError("cannot be tiled to rows");
      rewriter.replaceOp(op, tiled->replacements);
      target = tiled->tiledOps.back();
    }
    if (!partial)
      return success();
    auto reduction = cast<linalg::LinalgOp>(target);
    SmallVector<int64_t> sizes(reduction.getNumLoops(), 0);
    sizes.back() = block.partial;
    scf::SCFTilingOptions options;
    options.setTileSizes(asSizes(&getContext(), sizes));
    options.setReductionTilingStrategy(ReductionTilingStrategy::PartialReductionOuterReduction);
    options.setReductionDims({reduction.getNumLoops() - 1});
    rewriter.setInsertionPoint(target);
    FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(rewriter, cast<TilingInterface>(target), options);
    if (failed(tiled))
      return target->emitOpError("cannot be reduced in parts");
    rewriter.replaceOp(target, tiled->replacements);
    return success();
  }

  LogicalResult tileContractions(IRRewriter &rewriter) {
    for (linalg::LinalgOp op : linalgOps()) {
      std::optional<ContractionDims> dims = matchContraction(op);
      if (!dims)
        continue;
      ContractionBlock block = chooseContractionBlock(op, *dims, *level);
      Operation *target = op;
      if (anyTiled(block.accumulator)) {
        Operation *producer = initProducer(op);
        scf::SCFTileAndFuseOptions options;
        options.tilingOptions.setTileSizes(asSizes(&getContext(), block.accumulator));
        options.setFusionControlFn(
            [&](tensor::ExtractSliceOp, OpResult original,
                bool isDestination) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
              if (isDestination && original.getOwner() == producer)
                return scf::SCFTileAndFuseOptions::ControlFnResult{};
              return std::nullopt;
            });
        rewriter.setInsertionPoint(op);
        FailureOr<scf::SCFTileAndFuseResult> tiled =
            scf::tileConsumerAndFuseProducersUsingSCF(rewriter, cast<TilingInterface>(*op), options);
        if (failed(tiled))
          return op->emitOpError("cannot be tiled to register blocks");
        target = tiled->tiledAndFusedOps.front();
        rewriter.replaceOp(op, tiled->replacements.lookup(op->getResult(0)));
        if (producer && producer->use_empty())
          rewriter.eraseOp(producer);
      }
      if (!anyTiled(block.reduction))
        continue;
      scf::SCFTilingOptions options;
      options.setTileSizes(asSizes(&getContext(), block.reduction));
      rewriter.setInsertionPoint(target);
      FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(rewriter, cast<TilingInterface>(target), options);
      if (failed(tiled))
        return target->emitOpError("cannot be tiled along its reduction");
      rewriter.replaceOp(target, tiled->replacements);
    }
    return success();
  }

  LogicalResult cleanTiles() {
    RewritePatternSet patterns(&getContext());
    populateCanonicalization(patterns);
    scf::populateSCFForLoopCanonicalizationPatterns(patterns);
    return rewriteWithBudget(getOperation(), std::move(patterns), "cleaning up tiles");
  }

  LogicalResult vectorize(IRRewriter &rewriter) {
    SmallVector<tile::LoadFieldOp> fields;
    getOperation().walk([&](tile::LoadFieldOp op) { fields.push_back(op); });
    for (tile::LoadFieldOp op : fields)
      vectorizeSlicedField(rewriter, op, kWholeBytes);
    for (linalg::LinalgOp op : linalgOps()) {
      if (matchContraction(op)) {
        vectorizeContraction(rewriter, op);
        continue;
      }
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::VectorizationResult> result = linalg::vectorize(rewriter, op);
      if (failed(result))
        return op->emitOpError("cannot be vectorised");
      rewriter.replaceOp(op, result->replacements);
    }
    return success();
  }

  /// Slices become part of the transfers. Without folding, which takes a copy of a whole slice for its source and so
  /// leaves the copy to bufferisation.
  LogicalResult foldSlices() {
    RewritePatternSet patterns(&getContext());
    tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
    return rewriteWithBudget(getOperation(), std::move(patterns), "folding slices", /*fold=*/false);
  }

  /// What a loop carries, which becomes a vector where the loop sums up a contraction and is an innermost one; not what
  /// a loop puts together tile by tile (its counter selects what is written).
  static bool isAccumulator(Value value) {
    auto loop = value.getDefiningOp<scf::ForOp>();
    bool contracts = false;
    if (loop) {
      loop.getBody()->walk([&](vector::ContractionOp) { contracts = true; });
      loop.getBody()->walk([&](LoopLikeOpInterface) { contracts = false; });
      for (Operation &op : *loop.getBody()) {
        ValueRange places;
        if (auto write = dyn_cast<vector::TransferWriteOp>(op))
          places = write.getIndices();
        else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
          places = insert.getOffsets();
        contracts &= llvm::all_of(places, [&](Value index) { return loop.isDefinedOutsideOfLoop(index); });
      }
    }
    return isa<BlockArgument>(value) || contracts;
  }

  /// A copy of a whole tensor to another of its type stays one: folding would take its source for its result, and what
  /// is to be written would be read in its place. Read through a view of another type, it does not fold. What was
  /// written as a whole just before is taken as it is.
  void keepCopies(IRRewriter &rewriter) {
    llvm::SetVector<vector::TransferReadOp> whole;
    getOperation().walk([&](vector::TransferWriteOp write) {
      auto read = write.getVector().getDefiningOp<vector::TransferReadOp>();
      auto type = dyn_cast<RankedTensorType>(write.getBase().getType());
      if (read && type && type.hasStaticShape() && type.getRank() > 0 && read.getBase().getType() == type &&
          read.getVectorType().getNumElements() == type.getNumElements() && !isAccumulator(read.getBase()))
        whole.insert(read);
    });
    for (vector::TransferReadOp read : whole) {
      auto write = read.getBase().getDefiningOp<vector::TransferWriteOp>();
      if (write && write.getVectorType() == read.getVectorType() && write.getPermutationMap().isMinorIdentity() &&
          read.getPermutationMap().isMinorIdentity()) {
        rewriter.replaceOp(read, write.getVector());
        continue;
      }
      Location loc = read.getLoc();
      auto type = cast<RankedTensorType>(read.getBase().getType());
      SmallVector<int64_t> shape(type.getShape());
      shape.insert(shape.begin(), 1);
      SmallVector<ReassociationIndices> groups = {{0, 1}};
      for (int64_t dim = 1; dim < type.getRank(); ++dim)
        groups.push_back({dim + 1});
      rewriter.setInsertionPoint(read);
      Value view = tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape), read.getBase(), groups);
      SmallVector<Value> indices(read.getIndices());
      indices.insert(indices.begin(), arith::ConstantIndexOp::create(rewriter, loc, 0));
      AffineMap map = read.getPermutationMap().shiftDims(1);
      rewriter.replaceOpWithNewOp<vector::TransferReadOp>(read, read.getVectorType(), view, indices,
                                                          AffineMapAttr::get(map), read.getPadding(), read.getMask(),
                                                          read.getInBoundsAttr());
    }
  }

  LogicalResult cleanVectors() {
    RewritePatternSet patterns(&getContext());
    populateCanonicalization(patterns);
    vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
    return rewriteWithBudget(getOperation(), std::move(patterns), "cleaning up vectors");
  }

  /// Accumulators of innermost loops become loop-carried vectors.
  void hoist(IRRewriter &rewriter) {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      bool innermost = true;
      loop.getBody()->walk([&](LoopLikeOpInterface) { innermost = false; });
      if (innermost)
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      moveLoopInvariantCode(loop);
      hoistLoopInvariantSubsets(rewriter, loop);
    }
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuScheduleTilesPass(const CpuLevel *level) {
  return std::make_unique<CpuScheduleTiles>(level);
}
