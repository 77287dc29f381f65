// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright verify --bisect`: the pass that breaks the result.
//
// What stands behind each pass is run by something that later passes have no part in. Graphs, and programs that have no
// kernels yet, are interpreted in f64 and compared with what stood before the pass. Kernels are compiled by a plain
// lowering and held against the reference group by group, as --per-op does; so are, compiled by the backend, those
// behind its own passes and behind each that a plugin adds.
#include "tools/driver/Commands.h"
#include "tools/driver/Interpretation.h"
#include "tools/driver/StepCheck.h"
#include "tools/driver/VerifyPrompts.h"

#include "backends/cpu/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace json = llvm::json;
using namespace mlir;

namespace tilewright::driver {
namespace {

/// Of the largest value, for one meaning computed in f64 in two ways.
constexpr double kSame = 1e-6;
/// The same where activations are rounded to 8 bits.
constexpr double kQuantized = 5e-2;

/// An op whose kernel a plugin forms, and which plugin that is.
struct KernelForm {
  std::string op, plugin;
};

struct Verdict {
  std::string stage, pass, plugin;
  std::string result; ///< "unchanged", "same", "cannot run", "DIFFERS"
  std::optional<Gap> gap;
  std::vector<KernelForm> forms; ///< in what differs, where the pass has only asked plugins' ops for their kernels
};

class Bisection {
public:
  Bisection(Session &session, std::vector<int32_t> ids, PipelineOptions options, const CpuLevel *level, bool quiet)
      : session(session), ids(std::move(ids)), options(std::move(options)), level(level), quiet(quiet),
        entries(entriesOf(session.graph().graph())) {}

  /// Goes through all passes up to the first that breaks the result.
  llvm::Error run(ModuleOp module);

  const std::vector<Verdict> &verdicts() const { return all; }
  /// The pass that breaks the result, or null.
  const Verdict *culprit() const { return !all.empty() && all.back().gap ? &all.back() : nullptr; }

private:
  using KernelPasses = llvm::function_ref<void(OpPassManager &)>;

  llvm::Error graphStages(ModuleOp module);
  llvm::Error tileStage(ModuleOp module);
  llvm::Error kernelStages(ModuleOp module);
  /// Runs one pass; false where the options leave nothing to do.
  llvm::Expected<bool> runPass(const StagePass &pass, const PipelineOptions &own, ModuleOp module);
  /// Interprets `behind`, compares it with what `last` holds and lets it hold that.
  llvm::Error interpretBehind(Verdict &verdict, ModuleOp before, ModuleOp behind, Interpretation &last);
  /// Holds the programs, their kernels compiled by `build`, against the reference; the first value that is off.
  /// Where the pass has `formed` the kernels, it is the ops that are judged.
  llvm::Error checkKernels(Verdict verdict, ModuleOp module, KernelPasses build, Effort effort, bool formed = false);
  llvm::Expected<std::vector<const StagePass *>> passesOf(StringRef stage) {
    return orderStage(session.host().stages, stage);
  }
  /// Of the ops, "rms_norm.norm + tw.linear", those whose kernels plugins form.
  std::vector<KernelForm> formsOf(StringRef ops);
  static Verdict about(const StagePass &pass) { return {pass.stage, pass.name, pass.plugin, "unchanged", {}, {}}; }
  void note(Verdict verdict);

  Session &session;
  const std::vector<int32_t> ids;
  const PipelineOptions options;
  const CpuLevel *level;
  const bool quiet;
  const std::vector<std::string> entries;
  std::vector<ClassProgram> programs; ///< by shape class, as far as the tile stage has come
  std::vector<Verdict> all;
};

void Bisection::note(Verdict verdict) {
  if (!quiet)
    llvm::outs() << llvm::formatv("  {0,-14} {1,-36} {2,-24} {3}\n", verdict.stage, verdict.pass,
                                  verdict.plugin.empty() ? "core" : verdict.plugin, verdict.result);
  all.push_back(std::move(verdict));
}

llvm::Expected<bool> Bisection::runPass(const StagePass &pass, const PipelineOptions &own, ModuleOp module) {
  std::unique_ptr<Pass> made = pass.make(own);
  if (!made)
    return false;
  PassManager passes(module.getContext(), ModuleOp::getOperationName(), OpPassManager::Nesting::Implicit);
  passes.addPass(std::move(made));
  if (failed(passes.run(module)))
    return llvm::createStringError("pass '" + pass.name + "' of stage " + pass.stage + " failed (see above)");
  return true;
}

static int64_t quantizations(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](tw::QuantizeRowsOp) { ++count; });
  return count;
}

llvm::Error Bisection::interpretBehind(Verdict &verdict, ModuleOp before, ModuleOp behind, Interpretation &last) {
  // A pass that makes activations 8 bits wide changes values; how far is its promise.
  const double tolerance = quantizations(behind) > quantizations(before) ? kQuantized : kSame;
  llvm::Expected<Interpretation> now = Interpretation::of(session, behind, ids);
  if (!now)
    return now.takeError();
  verdict.gap = last.gapTo(*now, tolerance);
  verdict.result = verdict.gap ? "DIFFERS" : llvm::formatv("same (within {0:e1})", last.distanceTo(*now)).str();
  if (verdict.gap) {
    auto value = firstDifferentValue(session, before, behind, ids, tolerance);
    if (!value)
      return value.takeError();
    if (*value)
      verdict.gap = **value;
  }
  last = std::move(*now);
  return llvm::Error::success();
}

llvm::Error Bisection::graphStages(ModuleOp module) {
  llvm::Expected<Interpretation> last = Interpretation::of(session, module, ids);
  if (!last)
    return last.takeError();
  for (StringRef stage : stageNames()) {
    if (stage == "tile")
      break;
    auto passes = passesOf(stage);
    if (!passes)
      return passes.takeError();
    for (const StagePass *pass : *passes) {
      tagValues(module);
      OwningOpRef<ModuleOp> before(module.clone());
      OperationFingerPrint print(module);
      llvm::Expected<bool> ran = runPass(*pass, options, module);
      if (!ran)
        return ran.takeError();
      if (!*ran)
        continue;
      Verdict verdict = about(*pass);
      if (!(OperationFingerPrint(module) == print))
        if (llvm::Error error = interpretBehind(verdict, *before, module, *last))
          return error;
      note(std::move(verdict));
      if (culprit())
        return llvm::Error::success();
    }
  }
  return llvm::Error::success();
}

static bool hasKernels(ModuleOp module) {
  return module.walk([](tw::DispatchOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

llvm::Error Bisection::tileStage(ModuleOp module) {
  auto passes = passesOf("tile");
  if (!passes)
    return passes.takeError();
  llvm::Expected<Interpretation> start = Interpretation::of(session, module, ids);
  if (!start)
    return start.takeError();
  std::vector<Interpretation> last;
  for (const ShapeClass &shapeClass : shapeClasses()) {
    ClassProgram &program = programs.emplace_back();
    program.shapeClass = &shapeClass;
    program.kvType = options.kvType;
    program.module = OwningOpRef<ModuleOp>(module.clone());
    last.push_back(*start);
  }
  for (const StagePass *pass : *passes) {
    Verdict verdict = about(*pass);
    bool changedKernels = false, formed = false;
    for (size_t i = 0; i < programs.size() && !verdict.gap; ++i) {
      ModuleOp own = *programs[i].module;
      OwningOpRef<ModuleOp> before(own.clone());
      OperationFingerPrint print(own);
      PipelineOptions ownOptions = options;
      ownOptions.shapeClass = programs[i].shapeClass->name.str();
      llvm::Expected<bool> ran = runPass(*pass, ownOptions, own);
      if (!ran)
        return ran.takeError();
      if (!*ran || OperationFingerPrint(own) == print)
        continue;
      if (hasKernels(own)) {
        changedKernels = true;
        formed |= !hasKernels(*before);
      } else if (i > 0 && OperationEquivalence::isEquivalentTo(own, *programs[i - 1].module,
                                                               OperationEquivalence::IgnoreLocations)) {
        last[i] = last[i - 1];
      } else if (llvm::Error error = interpretBehind(verdict, *before, own, last[i])) {
        return error;
      }
    }
    if (!changedKernels)
      note(std::move(verdict));
    else if (llvm::Error error = checkKernels(
                 std::move(verdict), module, [&](OpPassManager &kernel) { buildCpuPlainPipeline(kernel, *level); },
                 Effort::Low, formed))
      return error;
    if (culprit())
      return llvm::Error::success();
  }
  return llvm::Error::success();
}

std::vector<KernelForm> Bisection::formsOf(StringRef ops) {
  std::vector<KernelForm> forms;
  for (StringRef name : llvm::split(ops, " + ")) {
    const OperationName op(name, &session.context());
    if (!op.hasInterface<TileLowering>() && !op.hasInterface<WholeKernel>())
      continue;
    for (const LoadedPlugin &plugin : session.host().plugins.loaded())
      if (llvm::is_contained(plugin.dialects, op.getDialectNamespace()) &&
          llvm::none_of(forms, [&](const KernelForm &known) { return known.op == name; }))
        forms.push_back({name.str(), plugin.note.name});
  }
  return forms;
}

llvm::Error Bisection::checkKernels(Verdict verdict, ModuleOp module, KernelPasses build, Effort effort, bool formed) {
  std::vector<TracedClass> classes, sources;
  for (ClassProgram &program : programs) {
    FailureOr<ProgramPlan> plan = planProgram(*program.module);
    if (failed(plan))
      return llvm::createStringError("behind pass '" + verdict.pass + "' the program cannot be planned (see above)");
    program.plan = std::move(*plan);
    for (auto [number, entry] : llvm::enumerate(entries))
      (number == 0 ? classes : sources).push_back(traceClass(module, program, entry, options.numerics));
  }
  auto compile = [&](ModuleOp kernels, const CpuLevel &own, StringRef suffix, const ShapeClass &) {
    return compileKernelsBy(build, kernels, own, suffix, effort);
  };
  auto step = compileStep(session, programs, level, compile, options.numerics, static_cast<int64_t>(ids.size()));
  if (!step) {
    // Said above; a pass behind it may be one that can be judged.
    verdict.result = "cannot run: " + llvm::toString(step.takeError());
    note(std::move(verdict));
    return llvm::Error::success();
  }
  auto truth = ReferenceModel::create(session, module, reference::Precision::F64);
  if (!truth)
    return truth.takeError();
  StepCheck check(**step, **truth, classes, sources);
  if (llvm::Error error = check.runPrompt(ids))
    return error;
  std::vector<ValueError> errors = check.errors();
  const auto wrong = llvm::find_if(errors, [](const ValueError &error) { return !error.holds(); });
  verdict.result =
      wrong == errors.end() ? llvm::formatv("within contracts ({0} values)", errors.size()).str() : "DIFFERS";
  if (wrong != errors.end()) {
    verdict.gap = Gap{llvm::formatv("{0}, {1} ({2} step, kernel {3}), element [{4}]", wrong->layer, wrong->ops,
                                    wrong->shapeClass, wrong->kernel, wrong->at),
                      wrong->wanted, wrong->found, wrong->error};
    if (formed)
      verdict.forms = formsOf(wrong->ops);
  }
  note(std::move(verdict));
  return llvm::Error::success();
}

llvm::Error Bisection::kernelStages(ModuleOp module) {
  std::vector<const StagePass *> added; // by plugins, both stages
  for (StringRef stage : {"bufferize", "lower"}) {
    auto passes = passesOf(stage);
    if (!passes)
      return passes.takeError();
    llvm::append_range(added, *passes);
  }
  // The backend alone, then with one pass more each time.
  for (size_t count = 0; count <= added.size(); ++count) {
    auto addFrom = [&](OpPassManager &kernel, StringRef stage) {
      for (const StagePass *pass : llvm::ArrayRef(added).take_front(count))
        if (pass->stage == stage)
          if (std::unique_ptr<Pass> made = pass->make(options))
            kernel.addPass(std::move(made));
    };
    Verdict verdict =
        count ? about(*added[count - 1]) : Verdict{"lower", "all passes of bufferize and lower", {}, {}, {}, {}};
    if (llvm::Error error = checkKernels(
            std::move(verdict), module,
            [&](OpPassManager &kernel) {
              buildCpuBufferizePipeline(kernel, *level);
              addFrom(kernel, "bufferize");
              buildCpuLowerPipeline(kernel, *level);
              addFrom(kernel, "lower");
            },
            Effort::Full))
      return error;
    if (culprit())
      return llvm::Error::success();
  }
  return llvm::Error::success();
}

llvm::Error Bisection::run(ModuleOp module) {
  if (llvm::Error error = graphStages(module))
    return error;
  if (culprit())
    return llvm::Error::success();
  tagValues(module);
  if (llvm::Error error = tileStage(module))
    return error;
  return culprit() ? llvm::Error::success() : kernelStages(module);
}

json::Value toJson(const Verdict &verdict) {
  auto number = [](double value) { return std::isfinite(value) ? json::Value(value) : json::Value(nullptr); };
  json::Object object{{"stage", verdict.stage},
                      {"pass", verdict.pass},
                      {"plugin", verdict.plugin.empty() ? "core" : verdict.plugin},
                      {"result", verdict.result}};
  json::Array forms;
  for (const KernelForm &form : verdict.forms)
    forms.push_back(json::Object{{"op", form.op}, {"plugin", form.plugin}});
  object["kernel_forms"] = std::move(forms);
  if (verdict.gap) {
    object["place"] = verdict.gap->place;
    object["before"] = number(verdict.gap->before);
    object["behind"] = number(verdict.gap->behind);
    object["largest_difference"] = number(verdict.gap->largest);
  }
  return object;
}

/// "core", "plugin swiglu", or, where the pass asked ops for their kernels, "core, with the kernel form of swiglu.glu
/// of plugin swiglu".
std::string whoseFault(const Verdict &verdict) {
  std::string who = verdict.plugin.empty() ? "core" : "plugin " + verdict.plugin;
  for (const KernelForm &form : verdict.forms)
    who += ", with the kernel form of " + form.op + " of plugin " + form.plugin;
  return who;
}

int finish(const Bisection &bisection, bool asJson) {
  const Verdict *culprit = bisection.culprit();
  if (asJson) {
    json::Array passes;
    for (const Verdict &verdict : bisection.verdicts())
      passes.push_back(toJson(verdict));
    llvm::outs() << llvm::formatv(
        "{0:2}\n", json::Value(json::Object{{"holds", !culprit},
                                            {"culprit", culprit ? toJson(*culprit) : json::Value(nullptr)},
                                            {"passes", std::move(passes)}}));
  } else if (!culprit) {
    llvm::outs() << "no pass breaks the result\n";
  } else {
    llvm::outs() << llvm::formatv("'{0}' (stage {1}, {2}) breaks the result\n  {3}: {4} before, {5} behind it; the "
                                  "largest difference is {6}\n",
                                  culprit->pass, culprit->stage, whoseFault(*culprit), culprit->gap->place,
                                  llvm::formatv("{0:f6}", culprit->gap->before).str(),
                                  llvm::formatv("{0:f6}", culprit->gap->behind).str(),
                                  llvm::formatv("{0:f6}", culprit->gap->largest).str());
    // A pass behind which nothing could be run may be meant as well.
    const auto &all = bisection.verdicts();
    for (size_t i = all.size() - 1; i > 0 && llvm::StringRef(all[i - 1].result).starts_with("cannot run"); --i)
      llvm::outs() << "  or '" << all[i - 1].pass << "', behind which nothing could be run\n";
  }
  return culprit ? CheckFailed : Success;
}

} // namespace

int verifyByBisection(const VerifyOptions &options) {
  Session session(options.plugins);
  ModuleOp module = session.open(options.input, options.weightsDir);
  if (!module)
    return session.status();
  llvm::Expected<std::vector<PromptIds>> prompts = promptIds(session, options.prompts, stepPrompts());
  if (!prompts)
    return report(prompts.takeError(), BadInput);
  if (prompts->size() != 1)
    return report(llvm::createStringError("--bisect takes one prompt, not " + llvm::Twine(prompts->size())), Usage);
  llvm::Expected<const CpuLevel *> level = strongestOf(options.targets);
  if (!level)
    return report(level.takeError(), Usage);
  PipelineOptions pipeline;
  pipeline.numerics = options.numerics;
  Bisection bisection(session, prompts->front().ids, pipeline, *level, options.json);
  if (int code = report(bisection.run(module), WorkFailed))
    return code;
  return finish(bisection, options.json);
}

} // namespace tilewright::driver
