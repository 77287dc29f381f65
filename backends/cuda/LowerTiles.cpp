// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuda-lower-tiles: each op of a bufferised kernel becomes what one lane of one warp does for it, chosen by the layouts
// of its operands (Layouts.h).
#include "backends/cuda/Lanes.h"
#include "backends/cuda/Memory.h"
#include "backends/cuda/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace {

class CudaLowerTiles : public PassWrapper<CudaLowerTiles, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CudaLowerTiles)
  explicit CudaLowerTiles(CudaNumerics numerics) { isFast = numerics == CudaNumerics::Fast; }
  CudaLowerTiles(const CudaLowerTiles &other) : PassWrapper(other) { isFast = other.isFast.getValue(); }
  StringRef getArgument() const override { return "cuda-lower-tiles"; }
  StringRef getDescription() const override { return "Turn the ops of a kernel into the work of lanes"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect, gpu::GPUDialect, memref::MemRefDialect,
                    NVVM::NVVMDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttr);
    if (!warps || kernel.isExternal()) {
      kernel.emitError("has no attribute '") << kWarpsAttr << "': cuda-stage-tiles did not run";
      return signalPassFailure();
    }
    generalizeCopies(kernel);
    if (failed(check(kernel)))
      return signalPassFailure();
    Lanes lanes(kernel, warps.getInt());
    SmallVector<linalg::LinalgOp> ops;
    kernel.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      lanes.b.setInsertionPoint(op);
      lanes.loc = op.getLoc();
      lower(lanes, op);
    }
    for (linalg::LinalgOp op : ops)
      op->erase();
    eraseFragments(kernel);
  }

private:
  /// A copy is an elementwise op like any other.
  static void generalizeCopies(func::FuncOp kernel) {
    IRRewriter rewriter(kernel.getContext());
    SmallVector<memref::CopyOp> copies;
    kernel.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      rewriter.setInsertionPoint(copy);
      int64_t rank = cast<MemRefType>(copy.getSource().getType()).getRank();
      SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(rank));
      SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
      rewriter.replaceOpWithNewOp<linalg::GenericOp>(
          copy, copy.getSource(), copy.getTarget(), maps, iterators,
          [](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, args[0]); });
    }
  }

  static bool isFragment(Value operand) {
    TileLayout layout = layoutOf(operand);
    return layout == TileLayout::Accumulator || layout == TileLayout::Row;
  }

  static LogicalResult check(func::FuncOp kernel) {
    WalkResult result = kernel.walk([&](Operation *op) {
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op); linalgOp && linalgOp.hasDynamicShape()) {
        op->emitOpError("has a dynamic shape; tiles of a kernel are static");
        return WalkResult::interrupt();
      } else if (linalgOp && linalgOp.getNumLoops() > 2 && !matchMma(linalgOp) &&
                 llvm::any_of(op->getOperands(), isFragment)) {
        op->emitOpError("has a fragment among its operands, but loops over more than rows and columns");
        return WalkResult::interrupt();
      }
      for (Value result : op->getResults())
        if (isa<scf::ForOp, scf::IfOp>(op) && isa<MemRefType>(result.getType())) {
          op->emitOpError("carries a buffer: the kernel could not be calculated in place");
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  void lower(Lanes &lanes, linalg::LinalgOp op) {
    if (std::optional<MmaForm> form = matchMma(op); form && layoutOf(op.getDpsInits()[0]) == TileLayout::Accumulator)
      return lowerContraction(lanes, op, *form, !isFast);
    bool onFragments = false;
    for (Value operand : op->getOperands()) {
      TileLayout layout = layoutOf(operand);
      if (layout == TileLayout::OperandB) {
        linalg::LinalgOp contraction = contractionOf(bufferRoot(operand));
        return lowerOperandB(lanes, op, contraction, *matchMma(contraction));
      }
      onFragments |= layout != TileLayout::Memory;
    }
    onFragments ? lowerOnFragments(lanes, op) : lowerOnMemory(lanes, op);
  }

  /// The one contraction that reads an operand B, through views.
  static linalg::LinalgOp contractionOf(Value buffer) {
    for (Operation *user : buffer.getUsers()) {
      if (auto op = dyn_cast<linalg::LinalgOp>(user)) {
        if (matchMma(op))
          return op;
      } else if (linalg::LinalgOp found = contractionOf(user->getResult(0))) {
        return found;
      }
    }
    return nullptr;
  }

  static void eraseFragments(func::FuncOp kernel) {
    kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      bool isFragment = op->getNumResults() == 1 && layoutOf(op->getResult(0)) != TileLayout::Memory;
      if (isFragment && op->use_empty())
        op->erase();
    });
  }

  Option<bool> isFast{*this, "fast", llvm::cl::desc("Round operands of f32 contractions to tf32"),
                      llvm::cl::init(false)};
};

} // namespace

std::unique_ptr<Pass> tilewright::createCudaLowerTilesPass(CudaNumerics numerics) {
  return std::make_unique<CudaLowerTiles>(numerics);
}
