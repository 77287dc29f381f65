// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright verify --per-op`: every fused group of a compiled model against the reference, on the reference's inputs.
#include "tools/driver/Commands.h"
#include "tools/driver/Compiler.h"
#include "tools/driver/JsonNumber.h"
#include "tools/driver/StepCheck.h"
#include "tools/driver/VerifyPrompts.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace json = llvm::json;
using namespace mlir;

namespace tilewright::driver {
namespace {

/// That the artifact's kernels are those of these programs.
llvm::Error checkKernels(const CompiledStep &step, const std::vector<TracedClass> &classes,
                         const std::vector<TracedClass> &sources, const std::string &artifact) {
  std::set<std::pair<std::string, std::string>> has, wants;
  for (const CompiledKernel &kernel : step.kernels())
    has.insert({kernel.variant, kernel.name});
  for (const TracedClass &each : llvm::concat<const TracedClass>(classes, sources))
    for (func::FuncOp kernel : llvm::map_range(each.trace.dispatches, [](const auto &traced) { return traced.kernel; }))
      wants.insert({each.name, kernel.getSymName().str()});
  if (has == wants)
    return llvm::Error::success();
  for (const auto &[variant, name] : wants)
    if (!has.contains({variant, name}))
      return llvm::createStringError(artifact + ": has no kernel '" + name + "' for " + variant +
                                     " steps; it was not compiled from this graph by these plugins");
  return llvm::createStringError(artifact + ": has kernels that this graph's programs do not; it was not compiled from "
                                            "this graph by these plugins");
}

void printTable(const std::vector<ValueError> &errors) {
  size_t layer = 5, ops = 2, type = 5;
  for (const ValueError &error : errors) {
    layer = std::max(layer, error.layer.size());
    ops = std::max(ops, error.ops.size());
    type = std::max(type, error.type.size());
  }
  auto line = [&](llvm::StringRef a, llvm::StringRef b, llvm::StringRef c, llvm::StringRef d, llvm::StringRef e,
                  llvm::StringRef f, llvm::StringRef g) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << "  " << llvm::left_justify(a, layer) << "  " << llvm::left_justify(b, ops) << "  "
        << llvm::left_justify(c, type) << "  " << llvm::left_justify(d, 7) << "  " << llvm::left_justify(e, 8) << "  "
        << llvm::left_justify(f, 8) << "  " << g;
    llvm::outs() << llvm::StringRef(text).rtrim() << "\n";
  };
  line("layer", "op", "value", "class", "error", "allowed", "");
  for (const ValueError &error : errors) {
    std::string verdict = "ok";
    if (!error.holds())
      verdict = llvm::formatv("FAILED: [{0}] is {1}, wanted {2} (kernel {3})", error.at, error.found, error.wanted,
                              error.kernel);
    line(error.layer, error.ops, error.type, error.shapeClass, llvm::formatv("{0:e2}", error.error).str(),
         llvm::formatv("{0:e2}", error.allowed).str(), verdict);
  }
}

json::Value toJson(const ValueError &error) {
  return json::Object{
      {"layer", error.layer},
      {"op", error.ops},
      {"type", error.type},
      {"class", error.shapeClass},
      {"kernel", error.kernel},
      {"error", jsonNumber(error.error)},
      {"allowed", jsonNumber(error.allowed)},
      {"contract", json::Object{{"absolute", error.bound.absolute}, {"relative", error.bound.relative}}},
      {"index", error.at},
      {"found", jsonNumber(error.found)},
      {"wanted", jsonNumber(error.wanted)},
      {"holds", error.holds()}};
}

int finish(const StepCheck &check, const CompiledStep &step, size_t prompts, bool asJson) {
  const std::vector<ValueError> errors = check.errors();
  const size_t failed = llvm::count_if(errors, [](const ValueError &error) { return !error.holds(); });
  if (asJson) {
    json::Array values;
    for (const ValueError &error : errors)
      values.push_back(toJson(error));
    llvm::outs() << llvm::formatv("{0:2}\n", json::Value(json::Object{{"numerics", step.numerics()},
                                                                      {"level", step.level()},
                                                                      {"prompts", static_cast<int64_t>(prompts)},
                                                                      {"failed", static_cast<int64_t>(failed)},
                                                                      {"holds", failed == 0},
                                                                      {"values", std::move(values)}}));
  } else {
    printTable(errors);
    llvm::outs() << llvm::formatv("{0}, {1}: {2} values of {3} dispatches (of {4} that ran): {5}\n", step.numerics(),
                                  step.level(), errors.size(), check.compared(), check.dispatches(),
                                  failed ? llvm::formatv("{0} FAILED", failed).str() : "all within their contracts");
  }
  return failed ? CheckFailed : Success;
}

} // namespace

int verifyPerOp(const VerifyOptions &options) {
  Session session(options.plugins);
  ModuleOp module = session.open(options.input, options.weightsDir);
  if (!module)
    return session.status();
  llvm::Expected<std::vector<PromptIds>> prompts = promptIds(session, options.prompts, stepPrompts());
  if (!prompts)
    return report(prompts.takeError(), BadInput);
  int64_t longest = 0;
  for (const PromptIds &prompt : *prompts)
    longest = std::max(longest, static_cast<int64_t>(prompt.ids.size()));

  std::string message;
  std::unique_ptr<CompiledStep> step;
  if (!options.artifact.empty() && !(step = CompiledStep::open(options.artifact, longest, message)))
    return report(llvm::createStringError(message), BadInput);
  PipelineOptions pipeline;
  pipeline.numerics = step ? step->numerics() : options.numerics;

  if (failed(runGraphStages(module, session.host().stages, pipeline, [](StringRef, ModuleOp) {})))
    return WorkFailed;
  tagValues(module);
  const std::vector<std::string> entries = entriesOf(session.graph().graph());
  std::vector<ClassProgram> programs;
  std::vector<TracedClass> classes, sources;
  for (const ShapeClass &shapeClass : shapeClasses()) {
    FailureOr<ClassProgram> program = formProgram(module, shapeClass, session.host().stages, pipeline);
    if (failed(program))
      return WorkFailed;
    for (auto [number, entry] : llvm::enumerate(entries))
      (number == 0 ? classes : sources).push_back(traceClass(module, *program, entry, pipeline.numerics));
    programs.push_back(std::move(*program));
  }
  if (!step) {
    llvm::Expected<const CpuLevel *> level = strongestOf(options.targets);
    if (!level)
      return report(level.takeError(), Usage);
    Progress silent(/*quiet=*/true);
    auto compiled = compileStep(session, programs, *level, ordinaryCompiler(session.host().stages, pipeline, silent),
                                pipeline.numerics, longest);
    if (!compiled)
      return report(compiled.takeError(), WorkFailed);
    step = std::move(*compiled);
  }
  if (int code = report(checkKernels(*step, classes, sources, options.artifact), Incompatible))
    return code;

  auto truth = ReferenceModel::create(session, module, reference::Precision::F64);
  if (!truth)
    return report(truth.takeError(), WorkFailed);
  StepCheck check(*step, **truth, classes, sources);
  for (const PromptIds &prompt : *prompts)
    if (int code = report(check.runPrompt(prompt.ids), WorkFailed))
      return code;
  return finish(check, *step, prompts->size(), options.json);
}

} // namespace tilewright::driver
