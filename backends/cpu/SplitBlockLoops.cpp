// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/SplitBlockLoops.h"

#include "backends/cpu/Blocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {

int64_t byteProductRows(const CpuLevel &level) { return level.vectorRegisters >= 32 ? 8 : 4; }

namespace {

/// Splits one loop. The accumulators' rows are their first dimension.
class Splitter {
public:
  Splitter(RewriterBase &rewriter, scf::ForOp loop, int64_t rows, int64_t block)
      : rewriter(rewriter), loop(loop), rows(rows), block(block) {}

  void run();

private:
  SmallVector<OpFoldResult> offsets(RankedTensorType type) {
    SmallVector<OpFoldResult> at(type.getRank(), rewriter.getIndexAttr(0));
    at[0] = row;
    return at;
  }
  SmallVector<OpFoldResult> sizes(RankedTensorType type) {
    SmallVector<OpFoldResult> of = getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
    of[0] = rewriter.getIndexAttr(block);
    return of;
  }
  SmallVector<OpFoldResult> ones(RankedTensorType type) {
    return SmallVector<OpFoldResult>(type.getRank(), rewriter.getIndexAttr(1));
  }
  Value slice(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return tensor::ExtractSliceOp::create(rewriter, loop.getLoc(), tensor, offsets(type), sizes(type), ones(type));
  }
  /// Pulls slices into their producers, down to the loop's own rows; false where a slice cuts them otherwise.
  bool fuse(SmallVector<tensor::ExtractSliceOp> slices);

  RewriterBase &rewriter;
  scf::ForOp loop;
  int64_t rows, block;
  Value row; ///< first row of the group
  scf::ForOp inner;
  llvm::SmallDenseMap<Operation *, Value> carried; ///< stand-ins for whole accumulators -> the rows in hand
};

bool Splitter::fuse(SmallVector<tensor::ExtractSliceOp> slices) {
  while (!slices.empty()) {
    tensor::ExtractSliceOp slice = slices.pop_back_val();
    auto producer = dyn_cast<OpResult>(slice.getSource());
    if (!producer || !inner->isProperAncestor(producer.getOwner()))
      continue;
    Operation *owner = producer.getOwner();
    rewriter.setInsertionPoint(slice);
    if (Value rowsInHand = carried.lookup(owner)) {
      auto type = cast<RankedTensorType>(producer.getType());
      if (!isEqualConstantIntOrValueArray(slice.getMixedOffsets(), offsets(type)) ||
          !isEqualConstantIntOrValueArray(slice.getMixedSizes(), sizes(type)))
        return false;
      rewriter.replaceOp(slice, rowsInHand);
      continue;
    }
    if (isa<tensor::EmptyOp, bufferization::AllocTensorOp>(owner)) {
      if (slice.getType().getRank() != cast<RankedTensorType>(producer.getType()).getRank())
        return false;
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(slice, slice.getType().getShape(), slice.getType().getElementType());
      continue;
    }
    if (!isa<TilingInterface>(owner))
      continue; // a view, or a field that is read whole
    FailureOr<TilingResult> tiled = tensor::replaceExtractSliceWithTiledProducer(rewriter, slice, producer);
    if (failed(tiled))
      return false;
    for (Operation *generated : tiled->generatedSlices)
      if (auto next = dyn_cast<tensor::ExtractSliceOp>(generated))
        slices.push_back(next);
    rewriter.replaceOp(slice, tiled->tiledValues[0]);
  }
  return true;
}

void Splitter::run() {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(rewriter, loc, value); };
  Value zero = constant(0), end = constant(rows), step = constant(block);
  auto outer = scf::ForOp::create(rewriter, loc, zero, end, step, loop.getInits());
  rewriter.setInsertionPointToStart(outer.getBody());
  row = outer.getInductionVar();

  SmallVector<Value> inits;
  for (Value whole : outer.getRegionIterArgs())
    inits.push_back(slice(whole));
  inner = scf::ForOp::create(rewriter, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  rewriter.setInsertionPointToStart(inner.getBody());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), inner.getInductionVar());
  for (auto [whole, part] : llvm::zip_equal(loop.getRegionIterArgs(), inner.getRegionIterArgs())) {
    auto standIn = UnrealizedConversionCastOp::create(rewriter, loc, whole.getType(), part);
    mapping.map(whole, standIn.getResult(0));
    carried[standIn] = part;
  }
  for (Operation &op : loop.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  SmallVector<Value> yields;
  SmallVector<tensor::ExtractSliceOp> slices;
  for (Value yielded : cast<scf::YieldOp>(loop.getBody()->getTerminator()).getOperands()) {
    yields.push_back(slice(mapping.lookupOrDefault(yielded)));
    slices.push_back(yields.back().getDefiningOp<tensor::ExtractSliceOp>());
  }
  scf::YieldOp::create(rewriter, loc, yields);
  bool done = fuse(slices);
  // What worked on all rows has no reader left.
  SmallVector<Operation *> body =
      llvm::map_to_vector(inner.getBody()->without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(body))
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
  done &= llvm::none_of(inner.getBody()->without_terminator(), llvm::IsaPred<UnrealizedConversionCastOp>);
  if (!done) {
    rewriter.eraseOp(outer);
    return;
  }
  rewriter.setInsertionPointToEnd(outer.getBody());
  SmallVector<Value> results;
  for (auto [whole, part] : llvm::zip_equal(outer.getRegionIterArgs(), inner.getResults())) {
    auto type = cast<RankedTensorType>(whole.getType());
    results.push_back(
        tensor::InsertSliceOp::create(rewriter, loc, part, whole, offsets(type), sizes(type), ones(type)));
  }
  scf::YieldOp::create(rewriter, loc, results);
  rewriter.replaceOp(loop, outer.getResults());
}

/// Rows of a loop's accumulators where it is a loop over blocks with byte products, else 0.
int64_t blockLoopRows(scf::ForOp loop) {
  bool innermost = true, product = false;
  int64_t rows = 0;
  loop.getBody()->walk([&](Operation *op) {
    innermost &= op->getNumRegions() == 0 || isa<linalg::LinalgOp>(op);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      if (std::optional<ContractionDims> dims = matchContraction(linalgOp))
        product |= dims->form == ContractionForm::I8x4;
  });
  if (!innermost || !product || loop.getInitArgs().empty())
    return 0;
  for (Value init : loop.getInitArgs()) {
    auto type = dyn_cast<RankedTensorType>(init.getType());
    if (!type || !type.hasStaticShape() || type.getRank() < 2 || (rows && type.getDimSize(0) != rows))
      return 0;
    rows = type.getDimSize(0);
  }
  return rows;
}

} // namespace

void splitBlockLoops(RewriterBase &rewriter, func::FuncOp kernel, const CpuLevel &level) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) {
    int64_t rows = blockLoopRows(loop), block = byteProductRows(level);
    while (block > 1 && rows % block)
      --block;
    if (rows > block)
      Splitter(rewriter, loop, rows, block).run();
  }
}

} // namespace tilewright
