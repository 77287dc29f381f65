// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The single table of core's passes per stage, and how a range of stages becomes a pass pipeline.
#pragma once

#include "passes/api/Stages.h"

#include "mlir/Pass/PassManager.h"

namespace tilewright {

/// Registers core's own passes, stage by stage. Call it before plugins are loaded, so that core's come first.
void registerCorePasses(StageRegistry &registry);

/// Appends the passes of the stages `first` to `last` (both included) to `pipeline`, which must be anchored on a module
/// and nest implicitly. An unknown stage, `first` behind `last` and a cycle among a stage's passes are errors.
llvm::Error buildStages(mlir::OpPassManager &pipeline, const StageRegistry &registry, const PipelineOptions &options,
                        llvm::StringRef first, llvm::StringRef last);

/// Makes the passes of `registry` known by their flags to a tool's command line, and the pipeline `tilewright-stages`
/// (options `first`, `last`, `numerics`). The registry must outlive the command line's use.
void registerPassFlags(const StageRegistry &registry);

} // namespace tilewright
