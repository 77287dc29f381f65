// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps from a graph to an artifact, in the order in which compileModel calls them.
#pragma once

#include "backends/cpu/Compile.h"
#include "backends/cpu/Entry.h"
#include "frontend/graph/GraphFile.h"
#include "ir/interfaces/KernelBuilder.h"
#include "passes/api/ProgramPlan.h"
#include "passes/api/Stages.h"
#include "runtime/api/ArtifactFiles.h"
#include "runtime/api/artifact_generated.h"
#include "tools/driver/NanCounter.h"
#include "tools/driver/OutputFolder.h"
#include "tools/driver/Session.h"
#include "tools/driver/step/CompiledStep.h"
#include "tools/progress/Progress.h"

#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <vector>

namespace tilewright::driver {

/// One shape class and K/V element after the tile stage: a module of programs and kernels, planned.
struct ClassProgram {
  const ShapeClass *shapeClass = nullptr;
  std::string kvType; ///< "f32" or "bf16"
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ProgramPlan plan;
};

/// The functions of a graph that the runtime calls: the step, and what reads sources, if there is one.
std::vector<std::string> entriesOf(const graph::Graph &graph);

/// The CPU levels that `targets` name ("cpu": this machine's best and avx2; "cpu:portable": all; "cpu:LEVEL"), weakest
/// first, each once.
llvm::Expected<std::vector<const CpuLevel *>> levelsOf(llvm::ArrayRef<std::string> targets);
/// The strongest of them that runs here.
llvm::Expected<const CpuLevel *> strongestOf(llvm::ArrayRef<std::string> targets);

/// Fills the manifest's table of outputs from what the entry function returns. Fails with a diagnostic unless the
/// logits are as wide as the vocabulary (which is set where the graph does not say), and each result has one f32 row of
/// a static shape for each wanted row. `module` is behind the tile stage.
mlir::LogicalResult describeResults(mlir::ModuleOp module, llvm::StringRef entry, artifact::ManifestT &manifest);

/// Fills the manifest's tables of states and inputs from the entries' arguments and returns where each begins. Fails
/// with a diagnostic for states of groups that do not go together.
mlir::FailureOr<ProgramTables> describeStates(mlir::ModuleOp module, llvm::ArrayRef<std::string> entries,
                                              artifact::ManifestT &manifest);

/// Fails with a diagnostic when a table of `module` (behind the stage fuse) has fewer rows than the tokens or positions
/// that the runtime lets through can ask for: the vocabulary's, the context's. Further inputs may ask for no more than
/// their tables have: their limits go into the manifest.
llvm::LogicalResult checkTables(mlir::ModuleOp module, llvm::ArrayRef<std::string> entries,
                                artifact::ManifestT &manifest);

/// Fails with a diagnostic when a function that `entry` runs appends to its sequences' sources.
llvm::LogicalResult checkSourcesAreRead(mlir::ModuleOp module, llvm::StringRef entry);

/// Packs every weight of `module` (after the tile stage) into `path`, in the order of the manifest's table, which it
/// fills together with `tables`; `nans` looks at each. A step of `progress`.
llvm::Error packWeights(mlir::ModuleOp module, const GraphFile &graph, const std::string &path,
                        artifact::ManifestT &manifest, ProgramTables &tables, NanCounter &nans, Progress &progress);

/// Called behind each graph-level stage.
using StageObserver = llvm::function_ref<void(llvm::StringRef stage, mlir::ModuleOp module)>;

/// Runs the graph-level stages, simplify to fuse, on `module`. Fails with diagnostics.
mlir::LogicalResult runGraphStages(mlir::ModuleOp module, const StageRegistry &stages, const PipelineOptions &options,
                                   StageObserver observer);

/// Runs the tile stage for one shape class on a copy of `module` (after fuse) and plans its memory.
mlir::FailureOr<ClassProgram> formProgram(mlir::ModuleOp module, const ShapeClass &shapeClass,
                                          const StageRegistry &stages, PipelineOptions options);

/// What K/V caches of `module` may hold, the default first: numerics precise keeps f32, fast bf16 as well.
std::vector<std::string> kvTypesOf(mlir::ModuleOp module, llvm::ArrayRef<std::string> entries,
                                   llvm::StringRef numerics);

/// Compiles the kernels of one class for one level; objects in the order of the functions.
using KernelCompiler = std::function<mlir::FailureOr<std::vector<ObjectBytes>>(
    mlir::ModuleOp kernels, const CpuLevel &level, llvm::StringRef suffix, const ShapeClass &shapeClass)>;

/// Compiles the classes, those of the default K/V element first, for one level: objects are appended, names of the
/// entries too, the manifest's level is described. A step of `progress`, of kKernelStages for each kernel, which
/// `compile` tells it of.
mlir::LogicalResult compileLevel(llvm::MutableArrayRef<ClassProgram> classes, llvm::ArrayRef<std::string> entryPoints,
                                 const CpuLevel &level, const ProgramTables &tables, const KernelCompiler &compile,
                                 std::vector<ObjectBytes> &objects, std::vector<std::string> &entries,
                                 artifact::ManifestT &manifest, Progress &progress);

/// The kernel compiler of the compile command: compileKernels with what plugins add to the stages behind tile, and the
/// IR after `dumpAfter` on stdout.
KernelCompiler ordinaryCompiler(const StageRegistry &stages, const PipelineOptions &options, Progress &progress,
                                const std::string &dumpAfter = "");

/// What every manifest of this graph says: model, tokenizer, plugins, numerics. Fails for a runtime half beside a
/// plugin that is none.
llvm::Expected<artifact::ManifestT> describeModel(Session &session, llvm::StringRef numerics);

/// Warns of runtime halves that the model needs and that do not lie beside their plugins: without them it will not
/// load.
void warnOfMissingHalves(Session &session, const artifact::ManifestT &manifest);

/// Packs the weights, compiles the classes for each level and links: writes model.so and model.tww into `folder`.
/// `compiled` is called when all kernels are there and may complete the manifest. Reports its own errors; the exit
/// code.
int writeArtifact(Session &session, llvm::MutableArrayRef<ClassProgram> classes,
                  llvm::ArrayRef<const CpuLevel *> levels, const KernelCompiler &compile, artifact::ManifestT &manifest,
                  const OutputFolder &folder, Progress &progress, llvm::function_ref<int()> compiled = nullptr);

/// Compiles the classes for one level of this machine and loads the result, with room for `tokens` tokens; nothing
/// stays on disk.
llvm::Expected<std::unique_ptr<CompiledStep>> compileStep(Session &session, llvm::MutableArrayRef<ClassProgram> classes,
                                                          const CpuLevel *level, const KernelCompiler &compile,
                                                          llvm::StringRef numerics, int64_t tokens);

} // namespace tilewright::driver
