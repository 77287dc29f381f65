// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuda-fold-tile-loads: what reads packed weights becomes elementwise work on views of bytes.
//
// A field's place in its block moves into the op that reads it (slices of a packed tensor become index arithmetic),
// items of bits become an elementwise op on the bytes that hold them, and elementwise ops on such items are fused with
// it. So a lane can calculate any one number of a dequantised block from the weight's bytes alone, whatever layout asks
// for it.
#include "backends/cuda/Passes.h"

#include "backends/cuda/Layouts.h"
#include "ir/tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace {

class CudaFoldTileLoads : public PassWrapper<CudaFoldTileLoads, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CudaFoldTileLoads)
  StringRef getArgument() const override { return "cuda-fold-tile-loads"; }
  StringRef getDescription() const override { return "Turn reads of packed weights into elementwise work on bytes"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<tile::LoadBitsOp> bits;
    getOperation().walk([&](tile::LoadBitsOp op) { bits.push_back(op); });
    for (tile::LoadBitsOp op : bits) {
      rewriter.setInsertionPoint(op);
      linalg::GenericOp items = itemsOf(rewriter, op);
      rewriter.replaceOp(op, items.getResults());
      fuseIntoReaders(rewriter, items);
    }
    getOperation().walk([&](tile::LoadFieldOp op) {
      rewriter.setInsertionPoint(op);
      foldSlice(rewriter, op);
    });
  }

private:
  /// The items of a field of bits, as an elementwise op on its bytes.
  static linalg::GenericOp itemsOf(RewriterBase &rewriter, tile::LoadBitsOp op) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<AffineExpr> place;
    for (int64_t d = 0; d < type.getRank(); ++d)
      place.push_back(rewriter.getAffineDimExpr(d));
    // Parts are those of the outermost dimension, which they divide (C3).
    const int64_t width = op.getWidth(), count = op.getCount(), part = shape[0] /= count;
    if (count > 1)
      place[0] = place[0] % part;
    auto bytesType = RankedTensorType::get(shape, type.getElementType());
    Value bytes = tile::LoadFieldOp::create(rewriter, loc, bytesType, op.getPacked(), op.getIndices(), op.getOffset());
    Value init = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    AffineMap from = AffineMap::get(type.getRank(), 0, place, rewriter.getContext());
    SmallVector<AffineMap> maps{from, rewriter.getMultiDimIdentityMap(type.getRank())};
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    return linalg::GenericOp::create(
        rewriter, loc, type, bytes, init, maps, iterators, [&](OpBuilder &b, Location loc, ValueRange args) {
          auto constant = [&](int64_t value) -> Value {
            return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type.getElementType(), value));
          };
          auto itemAt = [&](int64_t number) -> Value {
            const int64_t shift = width * number;
            Value item = args[0];
            if (shift)
              item = arith::ShRUIOp::create(b, loc, item, constant(shift));
            return shift + width < 8 ? arith::AndIOp::create(b, loc, item, constant((1 << width) - 1)) : item;
          };
          Value item = itemAt(op.getFirst());
          for (int64_t number = 1; number < count; ++number) {
            Value index = linalg::IndexOp::create(b, loc, 0);
            Value limit = arith::ConstantIndexOp::create(b, loc, number * part);
            Value isBefore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, limit);
            item = arith::SelectOp::create(b, loc, isBefore, item, itemAt(op.getFirst() + number));
          }
          linalg::YieldOp::create(b, loc, item);
        });
  }

  static void fuseIntoReaders(RewriterBase &rewriter, linalg::GenericOp items) {
    for (bool changed = true; changed;) {
      changed = false;
      for (OpOperand &use : items->getUses()) {
        auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
        // A contraction stays one: it has its own way to an operand that is calculated in place.
        if (!reader || reader.getNumReductionLoops() > 0 || !linalg::areElementwiseOpsFusable(&use))
          continue;
        rewriter.setInsertionPoint(reader);
        FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, &use);
        if (failed(fused))
          continue;
        rewriter.replaceOp(reader, fused->fusedOp->getResults().take_back(reader->getNumResults()));
        changed = true;
        break;
      }
    }
    if (items->use_empty())
      rewriter.eraseOp(items);
  }

  /// Reads from the whole packed tensor instead of from a slice of it.
  static void foldSlice(RewriterBase &rewriter, tile::LoadFieldOp op) {
    while (auto slice = op.getPacked().getDefiningOp<tensor::ExtractSliceOp>()) {
      int64_t rank = slice.getSourceType().getRank();
      if (slice.getType().getRank() != rank || !slice.hasUnitStride() || !isZeroInteger(slice.getMixedOffsets().back()))
        return;
      SmallVector<Value> indices;
      for (auto [index, offset] : llvm::zip(op.getIndices(), slice.getMixedOffsets())) {
        Value start = getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), offset);
        indices.push_back(arith::AddIOp::create(rewriter, op.getLoc(), index, start));
      }
      op.getPackedMutable().assign(slice.getSource());
      op.getIndicesMutable().assign(indices);
    }
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCudaFoldTileLoadsPass() { return std::make_unique<CudaFoldTileLoads>(); }
