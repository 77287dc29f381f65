// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes that bring a kernel (linalg on tile-sized tensors) to the LLVM dialect, and the pipeline made of them.
//
// A kernel is a `func.func` whose arguments are memrefs with identity layout, index and scalar values, and whose last
// two arguments are the range of chunks [begin, end). It has no results; what it computes it writes through
// `bufferization.materialize_in_destination`.
#pragma once

#include "backends/cpu/Level.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tilewright {

/// Tiles each op of a kernel to register blocks or rows by its structure, vectorises it and keeps accumulators of
/// reduction loops in registers.
std::unique_ptr<mlir::Pass> createCpuScheduleTilesPass(const CpuLevel *level = nullptr);
/// Errors unless the schedule left only vectors on tensors, with nothing but contractions in reduction loops.
std::unique_ptr<mlir::Pass> createCpuCheckSchedulePass(const CpuLevel *level = nullptr);
/// Tensors become memory: arguments in place, tile buffers on the stack.
std::unique_ptr<mlir::Pass> createCpuBufferizePass();
/// Errors unless there is no heap allocation, no copy, no allocation in a loop, and the stack stays below `cap` bytes.
std::unique_ptr<mlir::Pass> createCpuCheckBuffersPass(int64_t cap = 0);
/// Memory of i1 becomes memory of i8.
std::unique_ptr<mlir::Pass> createCpuBoolsToBytesPass();
/// Functions of `math` become arithmetic, with a stated error.
std::unique_ptr<mlir::Pass> createCpuExpandMathPass();
/// Rounding f32 to bf16 becomes integer arithmetic, where the level has no instruction for it.
std::unique_ptr<mlir::Pass> createCpuRoundBf16Pass(const CpuLevel *level = nullptr);
/// Numbers of bf16 are kept in 16-bit integers, where the level has no instructions for them.
std::unique_ptr<mlir::Pass> createCpuBf16AsBitsPass(const CpuLevel *level = nullptr);
/// i8 contractions become `vpdpbusd`.
std::unique_ptr<mlir::Pass> createCpuContractToVpdpbusdPass(const CpuLevel *level = nullptr);
/// i8 contractions become `vpmaddubsw` and `vpmaddwd` where products cannot saturate, else `vpmaddwd` on i16.
std::unique_ptr<mlir::Pass> createCpuContractToPmaddPass();
/// bf16 contractions become `vdpbf16ps`, or f32 where the level lacks it.
std::unique_ptr<mlir::Pass> createCpuContractToBf16DotPass(const CpuLevel *level = nullptr);
/// f32 contractions become fused multiply-adds.
std::unique_ptr<mlir::Pass> createCpuContractToFmaPass();
/// Floating-point reductions inside a register become trees that keep NaN as the reduction's kind promises.
std::unique_ptr<mlir::Pass> createCpuReductionFastmathPass();
/// Elementwise work on vectors whose rows are narrower than a register becomes work on flat vectors.
std::unique_ptr<mlir::Pass> createCpuFlattenVectorsPass(const CpuLevel *level = nullptr);
/// The remaining vector ops become 1-D ones that LLVM has.
std::unique_ptr<mlir::Pass> createCpuLowerVectorsPass();
/// Errors where a transfer, contraction or multi-dimensional reduction is left.
std::unique_ptr<mlir::Pass> createCpuCheckVectorsPass();
/// Adds to each kernel the entry `void NAME(void *const *args, int64_t begin, int64_t end)`.
std::unique_ptr<mlir::Pass> createCpuKernelEntryPass();
/// 16-bit floats that are only moved become i16.
std::unique_ptr<mlir::Pass> createCpuMoveHalvesAsIntegersPass();
/// Everything becomes the LLVM dialect.
std::unique_ptr<mlir::Pass> createCpuLowerToLLVMPass();
/// Errors where an intrinsic needs a feature that the level lacks (LLVM would end the process).
std::unique_ptr<mlir::Pass> createCpuCheckIntrinsicsPass(const CpuLevel *level = nullptr);

/// A kernel becomes loops over single numbers in memory, by upstream's generic lowerings.
std::unique_ptr<mlir::Pass> createCpuPlainLoopsPass();

/// The backend's passes of stage `bufferize`, on `builtin.module`s that hold kernels: vectors in memory.
void buildCpuBufferizePipeline(mlir::OpPassManager &pm, const CpuLevel &level);
/// The backend's passes of stage `lower`: the LLVM dialect.
void buildCpuLowerPipeline(mlir::OpPassManager &pm, const CpuLevel &level);
/// In place of both: a slow lowering that leaves schedule and vectors out (createCpuPlainLoopsPass).
void buildCpuPlainPipeline(mlir::OpPassManager &pm, const CpuLevel &level);
/// The backend's stages in order.
void buildCpuPipeline(mlir::OpPassManager &pm, const CpuLevel &level);

/// Registers the passes by their flags.
void registerCpuPasses();
/// Registers the dialects and interface models that the passes need.
void registerCpuDialects(mlir::DialectRegistry &registry);

} // namespace tilewright
