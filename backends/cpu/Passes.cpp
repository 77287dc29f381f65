// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "ir/tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilewright {

void buildCpuBufferizePipeline(OpPassManager &pm, const CpuLevel &level) {
  OpPassManager &kernel = pm.nest<func::FuncOp>();
  kernel.addPass(createCpuScheduleTilesPass(&level));
  kernel.addPass(createCpuCheckSchedulePass(&level));
  kernel.addPass(createCpuBufferizePass());
  // Buffers in place leave copies of a buffer to itself, which these fold.
  kernel.addPass(createCSEPass());
  kernel.addPass(createCanonicalizer());
  kernel.addPass(createCpuCheckBuffersPass());
}

void buildCpuLowerPipeline(OpPassManager &pm, const CpuLevel &level) {
  OpPassManager &kernel = pm.nest<func::FuncOp>();
  kernel.addPass(createCpuBoolsToBytesPass());
  kernel.addPass(level.dotProductI8 ? createCpuContractToVpdpbusdPass(&level) : createCpuContractToPmaddPass());
  kernel.addPass(createCpuContractToBf16DotPass(&level));
  kernel.addPass(createCpuContractToFmaPass());
  kernel.addPass(createCpuExpandMathPass());
  kernel.addPass(createCpuFlattenVectorsPass(&level));
  kernel.addPass(createCpuLowerVectorsPass());
  kernel.addPass(createCpuCheckVectorsPass());
  kernel.addPass(createCpuReductionFastmathPass());
  kernel.addPass(createCpuRoundBf16Pass(&level));
  kernel.addPass(createCpuBf16AsBitsPass(&level));
  kernel.addPass(createCpuMoveHalvesAsIntegersPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCpuCheckIntrinsicsPass(&level));
  pm.addPass(createCpuKernelEntryPass());
  pm.addPass(createCpuLowerToLLVMPass());
}

void buildCpuPlainPipeline(OpPassManager &pm, const CpuLevel &level) {
  OpPassManager &kernel = pm.nest<func::FuncOp>();
  kernel.addPass(createCpuPlainLoopsPass());
  kernel.addPass(createCpuRoundBf16Pass(&level));
  pm.addPass(createCpuKernelEntryPass());
  pm.addPass(createCpuLowerToLLVMPass());
}

void buildCpuPipeline(OpPassManager &pm, const CpuLevel &level) {
  buildCpuBufferizePipeline(pm, level);
  buildCpuLowerPipeline(pm, level);
}

void registerCpuPasses() {
  registerPass([] { return createCpuScheduleTilesPass(); });
  registerPass([] { return createCpuCheckSchedulePass(); });
  registerPass([] { return createCpuBufferizePass(); });
  registerPass([] { return createCpuCheckBuffersPass(); });
  registerPass([] { return createCpuBoolsToBytesPass(); });
  registerPass([] { return createCpuExpandMathPass(); });
  registerPass([] { return createCpuRoundBf16Pass(); });
  registerPass([] { return createCpuBf16AsBitsPass(); });
  registerPass([] { return createCpuContractToVpdpbusdPass(); });
  registerPass([] { return createCpuContractToPmaddPass(); });
  registerPass([] { return createCpuContractToBf16DotPass(); });
  registerPass([] { return createCpuContractToFmaPass(); });
  registerPass([] { return createCpuReductionFastmathPass(); });
  registerPass([] { return createCpuFlattenVectorsPass(); });
  registerPass([] { return createCpuLowerVectorsPass(); });
  registerPass([] { return createCpuCheckVectorsPass(); });
  registerPass([] { return createCpuMoveHalvesAsIntegersPass(); });
  registerPass([] { return createCpuKernelEntryPass(); });
  registerPass([] { return createCpuLowerToLLVMPass(); });
  registerPass([] { return createCpuCheckIntrinsicsPass(); });
  registerPass([] { return createCpuPlainLoopsPass(); });
}

void registerCpuDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  registry.insert<tile::TileDialect>();
}

} // namespace tilewright
