// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/Passes.h"

#include "ir/tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilewright {

void buildCudaPipeline(OpPassManager &pm, CudaNumerics numerics) {
  OpPassManager &kernel = pm.nest<func::FuncOp>();
  kernel.addPass(createCudaFoldTileLoadsPass());
  kernel.addPass(createCudaStageTilesPass());
  kernel.addPass(createCudaBufferizePass());
  // Buffers in place leave loops that carry them and copies of a buffer to itself, which these fold.
  kernel.addPass(createCSEPass());
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCudaPlaceBarriersPass());
  kernel.addPass(createCudaExpandMathPass());
  kernel.addPass(createCudaLowerTilesPass(numerics));
  kernel.addPass(createCudaPlanSharedPass());
  pm.addPass(createCudaKernelEntryPass());
  pm.addPass(createCudaLowerToNvvmPass());
}

void registerCudaPasses() {
  registerPass([] { return createCudaFoldTileLoadsPass(); });
  registerPass([] { return createCudaStageTilesPass(); });
  registerPass([] { return createCudaBufferizePass(); });
  registerPass([] { return createCudaPlaceBarriersPass(); });
  registerPass([] { return createCudaExpandMathPass(); });
  registerPass([] { return createCudaLowerTilesPass(); });
  registerPass([] { return createCudaPlanSharedPass(); });
  registerPass([] { return createCudaKernelEntryPass(); });
  registerPass([] { return createCudaLowerToNvvmPass(); });
  PassPipelineRegistration<>("cuda-kernels", "Kernels to the NVVM dialect, precise",
                             [](OpPassManager &pm) { buildCudaPipeline(pm, CudaNumerics::Precise); });
}

void registerCudaDialects(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect, NVVM::NVVMDialect, tile::TileDialect>();
  registerNVVMDialectTranslation(registry);
  registerCudaBufferization(registry);
}

} // namespace tilewright
