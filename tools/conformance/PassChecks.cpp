// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pass does to the samples: it ends, leaves valid IR, changes at least one, changes nothing the second time, and
// keeps every result.
#include "passes/Pipelines.h"
#include "tools/conformance/Environment.h"
#include "tools/conformance/Numbers.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tilewright::conformance {

namespace {

/// Both modes that a pass may be made for; one of them may have no use for it.
constexpr StringLiteral modes[] = {"precise", "fast"};

std::unique_ptr<Pass> make(const StagePass &pass, StringRef mode) {
  PipelineOptions options;
  options.numerics = mode.str();
  return pass.make(options);
}

std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

/// Calls `check` with the module before the pass and behind it, for each sample and mode; stops at the first failure,
/// which is named after its sample. A pass that fails is no failure here unless `endsToo`.
Finding forEachSample(const Environment &environment, const StagePass &pass, bool endsToo,
                      llvm::function_ref<std::string(const Program &, ModuleOp, ModuleOp, StringRef)> check) {
  unsigned runs = 0;
  for (const Program &program : environment.programs)
    for (StringRef mode : modes) {
      std::unique_ptr<Pass> made = make(pass, mode);
      if (!made)
        continue;
      CapturedDiagnostics diagnostics(environment.context.get());
      OwningOpRef<ModuleOp> module = program.module().clone();
      PassManager manager(environment.context.get());
      manager.enableVerifier(false); // verified apart, for a reason of its own
      manager.addPass(std::move(made));
      bool ended = succeeded(manager.run(*module));
      std::string where = "on '" + program.name() + "' (" + mode.str() + "): ";
      if (!ended && endsToo)
        return failed(where + "fails: " + diagnostics.error("without a diagnostic"));
      bool valid = ended && succeeded(verify(*module));
      if (ended && !valid && endsToo)
        return failed(where + "leaves invalid IR: " + diagnostics.error("the verifier fails"));
      if (!valid)
        return absent("the pass does not end well");
      ++runs;
      if (std::string problem = check(program, program.module(), *module, mode); !problem.empty())
        return failed(where + problem);
    }
  if (runs == 0)
    return environment.programs.empty() ? absent("no sample") : absent("made for neither precise nor fast numerics");
  return passed(std::to_string(runs) + (runs == 1 ? " run" : " runs"));
}

} // namespace

Finding checkPassEnds(const Environment &environment, const StagePass &pass) {
  return forEachSample(environment, pass, true,
                       [](const Program &program, ModuleOp, ModuleOp after, StringRef) -> std::string {
                         auto function = after.lookupSymbol<func::FuncOp>(program.name());
                         if (!function || function.getFunctionType() != program.function().getFunctionType())
                           return "changes the type of a function that others call";
                         return "";
                       });
}

Finding checkPassIdempotent(const Environment &environment, const StagePass &pass) {
  return forEachSample(environment, pass, false,
                       [&](const Program &, ModuleOp, ModuleOp after, StringRef mode) -> std::string {
                         OwningOpRef<ModuleOp> again = after.clone();
                         PassManager manager(environment.context.get());
                         manager.addPass(make(pass, mode));
                         if (failed(manager.run(*again)))
                           return "fails on its own result";
                         if (printed(*again) != printed(after))
                           return "changes its own result when it runs again";
                         return "";
                       });
}

Finding checkPassResults(const Environment &environment, const StagePass &pass) {
  // Both sides are computed in f64, so only the order of operations differs.
  constexpr NumericsBound bound = {1e-9, 1e-9};
  unsigned points = 0, refused = 0;
  Finding finding = forEachSample(
      environment, pass, false, [&](const Program &program, ModuleOp before, ModuleOp after, StringRef) -> std::string {
        for (const Point &point : program.lattice()) {
          auto inputs = program.inputs(point, Fill());
          if (!inputs) {
            llvm::consumeError(inputs.takeError());
            ++refused;
            continue;
          }
          auto wanted = interpret(before, program.name(), *inputs);
          if (!wanted) { // shapes that the sample does not take
            llvm::consumeError(wanted.takeError());
            ++refused;
            continue;
          }
          auto found = interpret(after, program.name(), *inputs);
          if (!found)
            return "with " + text(point) +
                   ": ran before the pass, and fails behind it: " + llvm::toString(found.takeError());
          if (std::string wrong = difference(*found, *wanted, bound); !wrong.empty())
            return "changes the result with " + text(point) + ": " + wrong;
          ++points;
        }
        return "";
      });
  if (finding.outcome != Outcome::Passed)
    return finding;
  if (points == 0)
    return failed("no sample runs in the interpreter");
  return passed(std::to_string(points) + " inputs" + (refused ? ", " + std::to_string(refused) + " refused" : ""));
}

Finding checkPassChanges(const Environment &environment, const StagePass &pass) {
  std::string changed;
  Finding finding = forEachSample(
      environment, pass, false, [&](const Program &program, ModuleOp before, ModuleOp after, StringRef) -> std::string {
        if (changed.empty() && printed(before) != printed(after))
          changed = program.name();
        return "";
      });
  if (finding.outcome != Outcome::Passed)
    return finding;
  if (changed.empty())
    return failed("changes none of the samples; add one that it should change");
  return passed("changes '" + changed + "'");
}

} // namespace tilewright::conformance
