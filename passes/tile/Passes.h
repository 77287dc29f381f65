// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `tile` stage: graph functions become kernels (linalg on tile-sized tensors) and programs that dispatch them.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tilewright {

/// States of functions that nobody calls are marked with how many of a sequence's last tokens are read of them.
std::unique_ptr<mlir::Pass> createTileNoteWindowsPass();
/// Technique ops without a kernel form, and those named in `withoutKernels`, become the core ops that define them.
std::unique_ptr<mlir::Pass> createTileLowerByReferencePass(llvm::StringRef shapeClass = "decode",
                                                           llvm::StringRef numerics = "precise",
                                                           llvm::StringRef kvType = "f32",
                                                           llvm::ArrayRef<std::string> withoutKernels = {});
/// Weights take their canonical packed layout; linear maps and gathers read it.
std::unique_ptr<mlir::Pass> createTilePackWeightsPass();
/// Inputs of packed linear maps become int8 where the weight's storage type has an integer form.
std::unique_ptr<mlir::Pass> createTileQuantizeActivationsPass();
/// Functions become programs of dispatches, groups of ops become kernels; `shapeClass` is a name of shapeClasses(),
/// `kvType` how states of f32 are kept ("f32" or "bf16").
std::unique_ptr<mlir::Pass> createTileFormKernelsPass(llvm::StringRef shapeClass = "decode",
                                                      llvm::StringRef numerics = "precise",
                                                      llvm::StringRef kvType = "f32");
/// Errors where a kernel holds an op outside of the closed kernel-level op set.
std::unique_ptr<mlir::Pass> createTileVerifyKernelOpsPass();

} // namespace tilewright
