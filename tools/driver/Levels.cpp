// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape classes and levels: programs of kernels, compiled once per class and level.
#include "tools/driver/Compiler.h"

#include "backends/cpu/Instructions.h"
#include "ir/tw/Tw.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "passes/api/CompileTrace.h"
#include "tools/driver/Manifest.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tilewright::driver {

llvm::Expected<std::vector<const CpuLevel *>> levelsOf(ArrayRef<std::string> targets) {
  llvm::SmallSetVector<const CpuLevel *, 4> wanted;
  auto host = hostCpuLevels();
  std::vector<std::string> fallback = {"cpu"};
  for (StringRef target : targets.empty() ? ArrayRef<std::string>(fallback) : targets) {
    if (target == "cpu") {
      if (host.empty())
        return llvm::createStringError("this CPU lacks the features of every level (the lowest is " +
                                       CpuLevel::all().front().name + "); name one: --target cpu:LEVEL");
      wanted.insert(host.front());
      wanted.insert(host.back());
    } else if (target == "cpu:portable") {
      for (const CpuLevel &level : CpuLevel::all())
        wanted.insert(&level);
    } else if (target.consume_front("cpu:")) {
      llvm::Expected<const CpuLevel *> level = CpuLevel::find(target);
      if (!level)
        return level.takeError();
      wanted.insert(*level);
    } else if (target == "cuda" || target.starts_with("cuda:")) {
      return llvm::createStringError("target '" + target +
                                     "' is not supported yet: kernels compile to PTX "
                                     "(tilewright-compiler ptx), but nothing launches them");
    } else {
      return llvm::createStringError("unknown target '" + target + "'; wanted cpu, cpu:portable or cpu:LEVEL");
    }
  }
  std::vector<const CpuLevel *> levels;
  for (const CpuLevel &level : CpuLevel::all())
    if (wanted.contains(&level))
      levels.push_back(&level);
  return levels;
}

llvm::Expected<const CpuLevel *> strongestOf(ArrayRef<std::string> targets) {
  auto levels = levelsOf(targets);
  if (!levels)
    return levels.takeError();
  for (const CpuLevel *level : llvm::reverse(*levels))
    if (level->runsHere())
      return level;
  return llvm::createStringError("this CPU runs none of the levels; the weakest of them is " + levels->front()->name);
}

LogicalResult runGraphStages(ModuleOp module, const StageRegistry &stages, const PipelineOptions &options,
                             StageObserver observer) {
  for (StringRef stage : stageNames()) {
    if (stage == "tile")
      break;
    CompileSpan span(stage);
    PassManager passes(module.getContext(), ModuleOp::getOperationName(), OpPassManager::Nesting::Implicit);
    if (llvm::Error error = buildStages(passes, stages, options, stage, stage))
      return module.emitError(llvm::toString(std::move(error)));
    if (failed(passes.run(module)))
      return failure();
    observer(stage, module);
  }
  return success();
}

FailureOr<ClassProgram> formProgram(ModuleOp module, const ShapeClass &shapeClass, const StageRegistry &stages,
                                    PipelineOptions options) {
  CompileSpan span("tile", (shapeClass.name + " " + options.kvType).str());
  ClassProgram program;
  program.shapeClass = &shapeClass;
  program.kvType = options.kvType;
  program.module = OwningOpRef<ModuleOp>(module.clone());
  options.shapeClass = shapeClass.name.str();
  PassManager passes(module.getContext(), ModuleOp::getOperationName(), OpPassManager::Nesting::Implicit);
  if (llvm::Error error = buildStages(passes, stages, options, "tile", "tile"))
    return module.emitError(llvm::toString(std::move(error)));
  if (failed(passes.run(*program.module)))
    return failure();
  FailureOr<ProgramPlan> plan = planProgram(*program.module);
  if (failed(plan))
    return failure();
  program.plan = std::move(*plan);
  return program;
}

std::vector<std::string> kvTypesOf(ModuleOp module, ArrayRef<std::string> entries, StringRef numerics) {
  bool anyState = llvm::any_of(entries, [&](const std::string &entry) {
    auto function = module.lookupSymbol<func::FuncOp>(entry);
    return function && llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<tw::StateType>);
  });
  if (anyState && numerics == "fast")
    return {"f32", "bf16"};
  return {"f32"};
}

namespace {

/// The code of one shape class. Kernels that are alike but for their names, and for what the program passes to them,
/// share it: layers of several kinds mostly differ in one or two of their kernels, programs of several K/V elements
/// too.
class SharedCode {
public:
  /// The symbol of the code that does what `kernel` does: that of one given before, else `symbol`.
  StringRef find(func::FuncOp kernel, StringRef symbol) {
    OwningOpRef<func::FuncOp> plain = kernel.clone();
    plain->setSymName("kernel");
    for (unsigned i = 0; i < plain->getNumArguments(); ++i)
      plain->removeArgAttr(i, "tw.source");
    auto &candidates = codes[kernel.getFunctionType()];
    for (const Code &code : candidates)
      if (OperationEquivalence::isEquivalentTo(*plain, *code.plain, OperationEquivalence::IgnoreLocations))
        return code.symbol;
    candidates.push_back({std::move(plain), symbol.str()});
    return symbol;
  }

private:
  struct Code {
    OwningOpRef<func::FuncOp> plain;
    std::string symbol;
  };
  DenseMap<Type, SmallVector<Code, 1>> codes;
};

/// A program's kernels at one level.
struct ProgramKernels {
  std::string suffix;                   ///< of its symbols
  OwningOpRef<ModuleOp> compiled;       ///< those whose code no kernel before them has, visible
  llvm::StringMap<std::string> symbols; ///< of the code, by the kernel's name
};

} // namespace

static ProgramKernels kernelsOf(ModuleOp program, std::string suffix, SharedCode &shared) {
  ProgramKernels kernels{std::move(suffix), ModuleOp::create(program.getLoc()), {}};
  llvm::StringSet<> names;
  program.walk([&](tw::DispatchOp dispatch) { names.insert(dispatch.getKernel()); });
  for (auto function : program.getOps<func::FuncOp>())
    if (names.contains(function.getSymName())) {
      const std::string own = (function.getSymName() + kernels.suffix).str();
      const StringRef symbol = kernels.symbols[function.getSymName()] = shared.find(function, own);
      if (symbol != own)
        continue;
      auto copy = cast<func::FuncOp>(function->clone());
      copy.setPublic();
      kernels.compiled->push_back(copy);
    }
  return kernels;
}

/// Sizes of the tile that a kernel writes into its result for one chunk, as far as they are known.
static std::vector<uint32_t> tileOf(func::FuncOp kernel) {
  std::vector<uint32_t> tile;
  kernel.walk([&](tensor::InsertSliceOp insert) {
    if (insert.getDestType().hasStaticShape() || !tile.empty())
      return;
    for (int64_t size : insert.getStaticSizes())
      tile.push_back(ShapedType::isDynamic(size) ? 0 : static_cast<uint32_t>(size));
  });
  return tile;
}

/// Names of the packed layouts that a kernel reads: weights are rank-3 bytes, told apart by the bytes of their blocks.
static std::string layoutsOf(func::FuncOp kernel, const artifact::ManifestT &manifest) {
  llvm::SmallSetVector<StringRef, 2> names;
  for (Type type : kernel.getArgumentTypes()) {
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer || buffer.getRank() != 3 || !buffer.getElementType().isInteger(8))
      continue;
    for (const auto &weight : manifest.weights) {
      const artifact::LayoutT &layout = *manifest.layouts[weight->layout];
      if (weight->shape.size() == 2 && weight->length == static_cast<uint64_t>(buffer.getNumElements()) &&
          llvm::divideCeilSigned(weight->shape[1], layout.block_elements) == buffer.getDimSize(1))
        names.insert(layout.name);
    }
  }
  return llvm::join(names, "/");
}

/// What the code of kernels is made of, by its symbol.
using CodeSummaries = llvm::StringMap<InstructionSummary>;

static LogicalResult summarize(const ProgramKernels &kernels, ArrayRef<ObjectBytes> objects, CodeSummaries &summaries) {
  for (auto [function, object] : llvm::zip_equal(ModuleOp(*kernels.compiled).getOps<func::FuncOp>(), objects)) {
    llvm::Expected<InstructionSummary> instructions = summarizeInstructions(object);
    if (!instructions)
      return function.emitError("cannot read the compiled kernel: ") << llvm::toString(instructions.takeError());
    summaries[kernels.symbols.lookup(function.getSymName())] = std::move(*instructions);
  }
  return success();
}

/// Describes the kernels of `program` that those of `first`, the class's first program, do not stand for.
static void describeKernels(const ClassProgram &program, const ProgramKernels &kernels, const ProgramKernels &first,
                            const CodeSummaries &summaries, artifact::LevelT &level,
                            const artifact::ManifestT &manifest) {
  const bool isFirst = &kernels == &first;
  for (auto function : ModuleOp(*program.module).getOps<func::FuncOp>()) {
    auto symbol = kernels.symbols.find(function.getSymName());
    if (symbol == kernels.symbols.end() || (!isFirst && first.symbols.lookup(function.getSymName()) == symbol->second))
      continue;
    const InstructionSummary &instructions = summaries.find(symbol->second)->second;
    auto kernel = std::make_unique<artifact::KernelT>();
    kernel->name = function.getSymName().str();
    kernel->variant = program.shapeClass->name.str();
    kernel->kv_element = isFirst ? "" : program.kvType;
    kernel->instruction = instructions.main;
    kernel->fallback = instructions.fallback;
    kernel->tile = tileOf(function);
    kernel->layout = layoutsOf(function, manifest);
    level.kernels.push_back(std::move(kernel));
  }
}

/// The stages behind tile as compileKernels runs them.
static KernelStages kernelStages(const StageRegistry &stages, const PipelineOptions &options,
                                 const std::string &dumpAfter, Progress &progress) {
  KernelStages behind;
  behind.advanced = [&progress](size_t kernels) { progress.advance(kernels); };
  behind.extend = [&stages, options](StringRef stage, OpPassManager &passes) {
    return buildStages(passes, stages, options, stage, stage);
  };
  behind.dumpAfter = dumpAfter;
  behind.dump = [dumpAfter](StringRef kernel, StringRef text) {
    Progress::interrupt();
    llvm::outs() << (dumpAfter == "emit" ? "; " : "// ") << kernel << " after " << dumpAfter << "\n" << text;
  };
  return behind;
}

KernelCompiler ordinaryCompiler(const StageRegistry &stages, const PipelineOptions &options, Progress &progress,
                                const std::string &dumpAfter) {
  return [&stages, &progress, options, dumpAfter](ModuleOp kernels, const CpuLevel &level, StringRef suffix,
                                                  const ShapeClass &shapeClass) {
    PipelineOptions own = options;
    own.shapeClass = shapeClass.name.str();
    return compileKernels(kernels, level, suffix, kernelStages(stages, own, dumpAfter, progress));
  };
}

LogicalResult compileLevel(MutableArrayRef<ClassProgram> classes, ArrayRef<std::string> entryPoints,
                           const CpuLevel &level, const ProgramTables &tables, const KernelCompiler &compile,
                           std::vector<ObjectBytes> &objects, std::vector<std::string> &entries,
                           artifact::ManifestT &manifest, Progress &progress) {
  CompileSpan span("level", level.name);
  auto described = std::make_unique<artifact::LevelT>();
  described->name = level.name.str();
  for (StringRef feature : level.cpuFeatures)
    described->features.push_back(feature.str());

  auto firstOf = [&](size_t index) {
    return llvm::find_if(classes, [&](ClassProgram &c) { return c.shapeClass == classes[index].shapeClass; }) -
           classes.begin();
  };
  SmallVector<ProgramKernels> kernelsOfPrograms;
  llvm::DenseMap<const ShapeClass *, SharedCode> codeOfClasses;
  size_t count = 0;
  for (auto [index, program] : llvm::enumerate(classes)) {
    std::string suffix = ("." + level.name + "." + program.shapeClass->name).str();
    if (firstOf(index) != static_cast<ptrdiff_t>(index))
      suffix += "." + program.kvType;
    kernelsOfPrograms.push_back(kernelsOf(*program.module, suffix, codeOfClasses[program.shapeClass]));
    count += llvm::range_size(kernelsOfPrograms.back().compiled->getOps<func::FuncOp>());
  }
  progress.step(("compiling for " + level.name).str(), kKernelStages * count);

  OwningOpRef<ModuleOp> steps = ModuleOp::create(UnknownLoc::get(classes.front().module->getContext()));
  CodeSummaries summaries;
  uint32_t minRows = 1;
  for (auto [index, program] : llvm::enumerate(classes)) {
    ModuleOp module = *program.module;
    const ShapeClass &shapeClass = *program.shapeClass;
    ProgramKernels &kernels = kernelsOfPrograms[index];
    FailureOr<std::vector<ObjectBytes>> compiled = compile(*kernels.compiled, level, kernels.suffix, shapeClass);
    if (failed(compiled) || failed(summarize(kernels, *compiled, summaries)))
      return failure();
    describeKernels(program, kernels, kernelsOfPrograms[firstOf(index)], summaries, *described, manifest);
    kernels.compiled = nullptr; // only the memory of the classes that are still to come
    std::move(compiled->begin(), compiled->end(), std::back_inserter(objects));

    auto kernelSymbol = [&](StringRef kernel) { return kernels.symbols.lookup(kernel); };
    if (index == 0 || classes[index - 1].kvType != program.kvType)
      minRows = 1;
    const bool last = index + 1 == classes.size() || classes[index + 1].kvType != program.kvType;
    const uint32_t maxRows = last ? 0 : static_cast<uint32_t>(shapeClass.rowMultiple);
    for (auto [number, entry] : llvm::enumerate(entryPoints)) {
      const StringRef name = number == 0 ? "step" : "encode";
      std::string symbol = ("tw." + name + kernels.suffix).str();
      if (failed(emitStepEntry(module, entry, program.plan, tables, symbol, kernelSymbol, *steps)))
        return failure();
      entries.push_back(symbol);

      auto variant = std::make_unique<artifact::StepVariantT>();
      variant->symbol = symbol;
      variant->kv_element = program.kvType;
      variant->entry = number == 0 ? "" : name.str();
      variant->min_rows = minRows;
      variant->max_rows = maxRows;
      variant->row_multiple = static_cast<uint32_t>(shapeClass.rowMultiple);
      variant->logit_row_multiple = static_cast<uint32_t>(shapeClass.logitRowMultiple);
      variant->query_tile = static_cast<uint32_t>(shapeClass.queryTile);
      describeArena(program.plan.find(module.lookupSymbol(entry))->second, *variant);
      described->steps.push_back(std::move(variant));
    }
    minRows = maxRows + 1;
  }
  FailureOr<ObjectBytes> object = emitObject(*steps, level);
  if (failed(object))
    return failure();
  objects.push_back(std::move(*object));
  manifest.levels.push_back(std::move(described));
  return success();
}

} // namespace tilewright::driver
