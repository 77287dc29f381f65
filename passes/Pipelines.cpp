// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Pipelines.h"

#include "passes/differentiate/Differentiate.h"
#include "passes/simplify/Passes.h"
#include "passes/tile/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tilewright {

namespace {
using Make = std::unique_ptr<mlir::Pass> (*)(const PipelineOptions &);

struct CorePass {
  llvm::StringLiteral stage;
  llvm::StringLiteral flag;
  Make make;
};

// The table. Within a stage, core's passes run in this order, and plugins' passes after them unless they say otherwise.
constexpr CorePass corePasses[] = {
    {"simplify", "canonicalize", [](const PipelineOptions &) { return mlir::createCanonicalizerPass(); }},
    {"simplify", "cse", [](const PipelineOptions &) { return mlir::createCSEPass(); }},
    {"simplify", "simplify-raise-softmax", [](const PipelineOptions &) { return createSimplifyRaiseSoftmaxPass(); }},
    {"differentiate", "differentiate-functions",
     [](const PipelineOptions &) { return createDifferentiateFunctionsPass(); }},
    {"tile", "tile-note-windows", [](const PipelineOptions &) { return createTileNoteWindowsPass(); }},
    {"tile", "tile-lower-by-reference",
     [](const PipelineOptions &options) {
       return createTileLowerByReferencePass(options.shapeClass, options.numerics, options.kvType,
                                             options.withoutKernels);
     }},
    {"tile", "tile-pack-weights", [](const PipelineOptions &) { return createTilePackWeightsPass(); }},
    {"tile", "tile-quantize-activations",
     [](const PipelineOptions &options) -> std::unique_ptr<mlir::Pass> {
       return options.numerics == "fast" ? createTileQuantizeActivationsPass() : nullptr;
     }},
    {"tile", "tile-form-kernels",
     [](const PipelineOptions &options) {
       return createTileFormKernelsPass(options.shapeClass, options.numerics, options.kvType);
     }},
    {"tile", "tile-verify-kernel-ops", [](const PipelineOptions &) { return createTileVerifyKernelOpsPass(); }},
};

struct StagesOptions : mlir::PassPipelineOptions<StagesOptions> {
  Option<std::string> first{*this, "first", llvm::cl::desc("First stage"), llvm::cl::init("simplify")};
  Option<std::string> last{*this, "last", llvm::cl::desc("Last stage"), llvm::cl::init("fuse")};
  Option<std::string> numerics{*this, "numerics", llvm::cl::desc("precise or fast"), llvm::cl::init("fast")};
  Option<std::string> shapeClass{*this, "shape-class", llvm::cl::desc("decode, small or prefill"),
                                 llvm::cl::init("decode")};
  Option<std::string> kvType{*this, "kv-type", llvm::cl::desc("How states of f32 are kept: f32 or bf16"),
                             llvm::cl::init("f32")};
};
} // namespace

void registerCorePasses(StageRegistry &registry) {
  for (const CorePass &pass : corePasses)
    registry.add({pass.stage.str(), pass.flag.str(), {}, {}, {}, pass.make});
}

llvm::Error buildStages(mlir::OpPassManager &pipeline, const StageRegistry &registry, const PipelineOptions &options,
                        llvm::StringRef first, llvm::StringRef last) {
  llvm::ArrayRef<llvm::StringLiteral> names = stageNames();
  const auto *from = llvm::find(names, first), *to = llvm::find(names, last);
  for (auto [found, name] : {std::pair(from, first), std::pair(to, last)})
    if (found == names.end())
      return orderStage(registry, name).takeError();
  if (from > to)
    return llvm::createStringError("stage '" + first + "' comes after stage '" + last + "'");
  for (llvm::StringRef stage : llvm::make_range(from, to + 1)) {
    llvm::Expected<std::vector<const StagePass *>> passes = orderStage(registry, stage);
    if (!passes)
      return passes.takeError();
    for (const StagePass *pass : *passes)
      if (std::unique_ptr<mlir::Pass> made = pass->make(options))
        pipeline.addPass(std::move(made));
  }
  return llvm::Error::success();
}

void registerPassFlags(const StageRegistry &registry) {
  for (const StagePass &pass : registry.all()) {
    // The command line asks a pass for its flag by making one; the table's upstream passes are registered by upstream.
    std::unique_ptr<mlir::Pass> probe = pass.make(PipelineOptions());
    if (!probe || mlir::PassInfo::lookup(probe->getArgument()))
      continue;
    mlir::registerPass([make = pass.make] { return make(PipelineOptions()); });
  }
  mlir::PassPipelineRegistration<StagesOptions>(
      "tilewright-stages", "The passes of a range of stages, core's and plugins'",
      [&registry](mlir::OpPassManager &pipeline, const StagesOptions &options) {
        PipelineOptions pipelineOptions;
        pipelineOptions.numerics = options.numerics;
        pipelineOptions.shapeClass = options.shapeClass;
        pipelineOptions.kvType = options.kvType;
        if (llvm::Error error = buildStages(pipeline, registry, pipelineOptions, options.first, options.last)) {
          llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
          std::exit(2);
        }
      });
}

} // namespace tilewright
