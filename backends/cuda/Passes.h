// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes that bring a kernel (linalg on tile-sized tensors) to the NVVM dialect, and the pipeline made of them.
//
// A kernel is what backends/cpu/Passes.h describes: the very same functions. One block of the grid works on one chunk.
#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tilewright {

/// How f32 contractions are calculated by tensor cores, which take operands of 11 significant bits (tf32).
enum class CudaNumerics {
  Precise, ///< each operand as a sum of two, three products: about f32's error
  Fast,    ///< operands rounded to tf32
};

/// Items of packed weights become elementwise ops on bytes, which are fused into what reads them.
std::unique_ptr<mlir::Pass> createCudaFoldTileLoadsPass();
/// Decides where each tile lives (Layouts.h), and makes every change of place an explicit copy.
std::unique_ptr<mlir::Pass> createCudaStageTilesPass();
/// Tensors become memory: arguments in place, tile buffers in the memory space of their layout.
std::unique_ptr<mlir::Pass> createCudaBufferizePass();
/// Puts barriers between the ops of a block that write and those that read or write the same memory.
std::unique_ptr<mlir::Pass> createCudaPlaceBarriersPass();
/// Each op becomes what one lane of one warp does for it.
std::unique_ptr<mlir::Pass> createCudaLowerTilesPass(CudaNumerics numerics = CudaNumerics::Precise);
/// Shared memory of a block becomes one buffer, tiles that are never alive together in the same place.
std::unique_ptr<mlir::Pass> createCudaPlanSharedPass();
/// Functions of `math` become instructions and arithmetic, with a stated error.
std::unique_ptr<mlir::Pass> createCudaExpandMathPass();
/// Adds to each kernel the entry that a launch calls, on raw pointers.
std::unique_ptr<mlir::Pass> createCudaKernelEntryPass();
/// Everything becomes the LLVM and NVVM dialects.
std::unique_ptr<mlir::Pass> createCudaLowerToNvvmPass();

/// All of the above in order, on `builtin.module`s that hold kernels.
void buildCudaPipeline(mlir::OpPassManager &pm, CudaNumerics numerics);

/// Registers the passes by their flags.
void registerCudaPasses();
/// Registers how the ops of `tile` become memory (part of registerCudaDialects).
void registerCudaBufferization(mlir::DialectRegistry &registry);
/// Registers the dialects and interface models that the passes need besides those of the CPU backend.
void registerCudaDialects(mlir::DialectRegistry &registry);

} // namespace tilewright
