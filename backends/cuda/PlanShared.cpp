// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuda-plan-shared: shared memory of a block becomes one buffer, whose size the launch gives.
//
// Places follow the nesting of the ops: a buffer lies behind those of the blocks around its own, and buffers of regions
// that stand one after another lie in the same place. Barriers at both ends of loops (cuda-place-barriers) keep them
// apart.
#include "backends/cuda/Layouts.h"
#include "backends/cuda/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// Alignment of a buffer in bytes: that of the widest access.
constexpr int64_t kAlignment = 16;
/// What a block of an sm_80 may have at most (CUDA programming guide, compute capabilities).
constexpr int64_t kMostSharedBytes = 163 * 1024;

class CudaPlanShared : public PassWrapper<CudaPlanShared, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CudaPlanShared)
  StringRef getArgument() const override { return "cuda-plan-shared"; }
  StringRef getDescription() const override { return "Place a kernel's shared buffers in one"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, gpu::GPUDialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (kernel.isExternal())
      return;
    int64_t bytes = place(kernel.getBody().front(), 0);
    kernel->setAttr(kSharedBytesAttr, Builder(&getContext()).getI64IntegerAttr(bytes));
    if (places.empty())
      return;
    if (bytes > kMostSharedBytes) {
      kernel.emitError("needs ") << bytes << " bytes of shared memory, a block has at most " << kMostSharedBytes;
      return signalPassFailure();
    }
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Attribute space = layoutSpace(&getContext(), TileLayout::Memory);
    auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type(), MemRefLayoutAttrInterface(), space);
    Value shared = gpu::DynamicSharedMemoryOp::create(builder, kernel.getLoc(), type);
    for (auto [alloc, offset] : places) {
      builder.setInsertionPoint(alloc);
      Value start = arith::ConstantIndexOp::create(builder, alloc.getLoc(), offset);
      Value view = memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), shared, start, ValueRange());
      alloc.replaceAllUsesWith(view);
      alloc.erase();
    }
  }

private:
  /// Places the buffers of `block` from `start` on; returns the end of all of them, inner ones too.
  int64_t place(Block &block, int64_t start) {
    for (auto alloc : block.getOps<memref::AllocOp>())
      if (alloc.getType().getMemorySpace() == layoutSpace(&getContext(), TileLayout::Memory)) {
        places.push_back({alloc, start});
        int64_t size = alloc.getType().getNumElements() * llvm::divideCeil(alloc.getType().getElementTypeBitWidth(), 8);
        start = llvm::alignTo(start + size, kAlignment);
      }
    int64_t end = start;
    for (Operation &op : block)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          end = std::max(end, place(inner, start));
    return end;
  }

  SmallVector<std::pair<memref::AllocOp, int64_t>> places;
};

} // namespace

std::unique_ptr<Pass> tilewright::createCudaPlanSharedPass() { return std::make_unique<CudaPlanShared>(); }
