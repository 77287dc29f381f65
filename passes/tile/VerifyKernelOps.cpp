// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-verify-kernel-ops: kernels hold nothing but the closed kernel-level op set.
#include "passes/tile/Passes.h"

#include "ir/tile/Tile.h"
#include "passes/api/Receipts.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilewright {

namespace {

bool isKernelOp(Operation *op) {
  if (isa<arith::ArithDialect, math::MathDialect, tile::TileDialect>(op->getDialect()))
    return true;
  return isa<func::FuncOp, func::ReturnOp, scf::ForOp, scf::ForallOp, scf::IfOp, scf::YieldOp, scf::InParallelOp,
             affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp, linalg::GenericOp, linalg::FillOp,
             linalg::IndexOp, linalg::YieldOp, linalg::PackOp, linalg::UnPackOp, linalg::MatmulOp, tensor::EmptyOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ParallelInsertSliceOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp, tensor::CastOp, tensor::ExtractOp, memref::LoadOp, bufferization::AllocTensorOp,
             bufferization::ToTensorOp, bufferization::MaterializeInDestinationOp>(op);
}

/// A single number of a tensor may be read from index tables only.
bool readsIndexTable(tensor::ExtractOp op) { return op.getType().isInteger(32); }

class VerifyKernelOpsPass : public PassWrapper<VerifyKernelOpsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyKernelOpsPass)
  StringRef getArgument() const final { return "tile-verify-kernel-ops"; }
  StringRef getDescription() const final { return "checks that kernels hold only the closed kernel-level op set"; }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr("tw.kernel"))
        continue;
      bool holds = true;
      function.walk([&](Operation *op) {
        auto extract = dyn_cast<tensor::ExtractOp>(op);
        if (isKernelOp(op) && (!extract || readsIndexTable(extract)))
          return;
        holds = false;
        op->emitOpError("stands in kernel '")
            << function.getSymName() << "', but is not in the kernel-level op set (docs/design.md, section 4)";
        signalPassFailure();
      });
      if (holds)
        receipt::held(function, getArgument(), {"every op is of the kernel-level op set"});
    }
  }
};

} // namespace

std::unique_ptr<Pass> createTileVerifyKernelOpsPass() { return std::make_unique<VerifyKernelOpsPass>(); }

} // namespace tilewright
