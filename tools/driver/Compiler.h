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

#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace tilewright::driver {

/// One shape class after the tile stage: a module of programs and kernels, planned.
struct ClassProgram {
  const ShapeClass *shapeClass = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ProgramPlan plan;
};

/// The CPU levels that `targets` name ("cpu": this machine's best and avx2; "cpu:portable": all; "cpu:LEVEL"), weakest
/// first, each once.
llvm::Expected<std::vector<const CpuLevel *>> levelsOf(llvm::ArrayRef<std::string> targets);

/// Fills the manifest's state table from the entry function's state arguments and returns where each begins.
mlir::FailureOr<ProgramTables> describeStates(mlir::ModuleOp module, llvm::StringRef entry,
                                              artifact::ManifestT &manifest);

/// Packs every weight of `module` (after the tile stage) into `path`, in the order of the manifest's table, which it
/// fills together with `tables`.
llvm::Error packWeights(mlir::ModuleOp module, const GraphFile &graph, const std::string &path,
                        artifact::ManifestT &manifest, ProgramTables &tables);

/// Runs the tile stage for one shape class on a copy of `module` (after fuse) and plans its memory.
mlir::FailureOr<ClassProgram> formProgram(mlir::ModuleOp module, const ShapeClass &shapeClass,
                                          const StageRegistry &stages, PipelineOptions options);

/// Compiles the classes for one level: objects are appended, names of the entries too, the manifest's level is
/// described.
mlir::LogicalResult compileLevel(llvm::MutableArrayRef<ClassProgram> classes, llvm::StringRef entry,
                                 const CpuLevel &level, const ProgramTables &tables, std::vector<ObjectBytes> &objects,
                                 std::vector<std::string> &entries, artifact::ManifestT &manifest);

} // namespace tilewright::driver
