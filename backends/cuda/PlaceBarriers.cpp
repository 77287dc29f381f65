// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuda-place-barriers: ops of a kernel are done by all threads of a block together; a barrier stands in front of an op
// that reads what another wrote since the last barrier, or writes what another read or wrote.
//
// Tracked are shared memory and arguments that the kernel writes. A round of a loop may follow any other and a loop may
// follow anything that shares its place in shared memory (cuda-plan-shared), so at both ends of a loop everything
// counts as read and written. Bounds of loops and conditions are the same for all threads of a block, so each thread
// arrives.
#include "backends/cuda/Layouts.h"
#include "backends/cuda/Memory.h"
#include "backends/cuda/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace tilewright;

namespace {

struct Pending {
  bool everything = false;
  llvm::SmallPtrSet<Value, 8> reads, writes;

  bool conflicts(const MemoryAccess &access) const {
    return everything || (access.reads && writes.contains(access.root)) ||
           (access.writes && (reads.contains(access.root) || writes.contains(access.root)));
  }
  void add(const MemoryAccess &access) {
    if (access.reads)
      reads.insert(access.root);
    if (access.writes)
      writes.insert(access.root);
  }
};

class CudaPlaceBarriers : public PassWrapper<CudaPlaceBarriers, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CudaPlaceBarriers)
  StringRef getArgument() const override { return "cuda-place-barriers"; }
  StringRef getDescription() const override { return "Put barriers between ops that share memory"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<gpu::GPUDialect>(); }

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      for (const MemoryAccess &access : accessesOf(op))
        if (access.writes && isa<BlockArgument>(access.root))
          written.insert(access.root);
    });
    Pending pending;
    if (!getOperation().isExternal())
      visit(getOperation().getBody().front(), pending);
  }

private:
  bool isTracked(Value root) {
    if (isa<BlockArgument>(root))
      return written.contains(root);
    auto type = cast<MemRefType>(root.getType());
    return type.getMemorySpace() == layoutSpace(&getContext(), TileLayout::Memory);
  }

  bool touchesTracked(Operation *op) {
    return op
        ->walk([&](Operation *inner) {
          for (const MemoryAccess &access : accessesOf(inner))
            if (isTracked(access.root))
              return WalkResult::interrupt();
          return WalkResult::advance();
        })
        .wasInterrupted();
  }

  void visit(Block &block, Pending &pending) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      SmallVector<MemoryAccess> accesses = accessesOf(&op);
      if (accesses.empty() && op.getNumRegions() > 0 && touchesTracked(&op)) {
        for (Region &region : op.getRegions())
          for (Block &inner : region) {
            Pending inside;
            inside.everything = true;
            visit(inner, inside);
          }
        pending.everything = true;
        continue;
      }
      llvm::erase_if(accesses, [&](const MemoryAccess &access) { return !isTracked(access.root); });
      if (llvm::any_of(accesses, [&](const MemoryAccess &access) { return pending.conflicts(access); })) {
        OpBuilder builder(&op);
        gpu::BarrierOp::create(builder, op.getLoc());
        pending = Pending();
      }
      for (const MemoryAccess &access : accesses)
        pending.add(access);
    }
  }

  DenseSet<Value> written;
};

} // namespace

std::unique_ptr<Pass> tilewright::createCudaPlaceBarriersPass() { return std::make_unique<CudaPlaceBarriers>(); }
