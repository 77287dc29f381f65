// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An op's kernel against its reference: shapes, masks, NaN, and the same bits from any number of threads.
#include "ir/interfaces/Interfaces.h"
#include "tools/conformance/Contract.h"
#include "tools/conformance/Environment.h"
#include "tools/conformance/Fallbacks.h"
#include "tools/conformance/Numbers.h"
#include "tools/conformance/Steps.h"
#include "tools/functions/CompiledFunction.h"

#include <map>

using namespace mlir;

namespace tilewright::conformance {

using reference::RunValue;
using reference::Tensor;

namespace {

std::vector<Tensor> tensorsOf(ArrayRef<RunValue> values) {
  std::vector<Tensor> tensors;
  for (const RunValue &value : values)
    tensors.push_back(std::get<Tensor>(value));
  return tensors;
}

/// A sample, compiled for the shapes that it is run with; its inputs lie between pages that nobody may touch.
class Kernel {
public:
  Kernel(const Environment &environment, const Program &program, unsigned threads, StringRef numerics = "precise")
      : numerics(numerics) {
    CapturedDiagnostics diagnostics(environment.context.get());
    FunctionOptions options;
    options.threads = threads;
    options.numerics = numerics.str();
    auto made = CompiledFunction::create(program.module(), program.name(), environment.host.stages, weights, options);
    if (succeeded(made))
      function = std::move(*made);
    else
      problem = diagnostics.error("no reason given");
  }

  /// `point` is that of the inputs.
  llvm::Expected<std::vector<RunValue>> run(const Environment &environment, const Point &point,
                                            ArrayRef<RunValue> inputs) {
    if (!function)
      return llvm::createStringError("does not compile: " + problem);
    CapturedDiagnostics diagnostics(environment.context.get());
    auto results = function->run(tensorsOf(inputs));
    fallbacks.note(environment, text(point)); // a static function's were written when it was made
    if (failed(results))
      return llvm::createStringError(diagnostics.error("does not run"));
    return std::vector<RunValue>(results->begin(), results->end());
  }

  /// Why `op` is compiled by its reference lowering at a point that has run; "" when it is not.
  std::string fallback(const Point &point, StringRef op) const { return fallbacks.reason(text(point), op); }

  StringRef numerics; ///< "precise" or "fast"

private:
  Fallbacks fallbacks;
  SampleWeights weights;
  std::unique_ptr<CompiledFunction> function;
  std::string problem;
};

/// The kernel of a program for one thread: several checks run it, with the same shapes.
Kernel &kernelOf(const Environment &environment, const Program &program) {
  static std::map<const Program *, std::unique_ptr<Kernel>> kernels; // of the one environment of this process
  std::unique_ptr<Kernel> &kernel = kernels[&program];
  if (!kernel)
    kernel = std::make_unique<Kernel>(environment, program, 1);
  return *kernel;
}

/// The same for a program over states.
SteppedKernel &steppedKernelOf(const Environment &environment, const Program &program) {
  static std::map<const Program *, std::unique_ptr<SteppedKernel>> kernels;
  std::unique_ptr<SteppedKernel> &kernel = kernels[&program];
  if (!kernel)
    kernel = std::make_unique<SteppedKernel>(environment, program, 1);
  return *kernel;
}

/// Ops that say how they are computed by themselves; others are compiled as their reference.
bool hasKernel(const Environment &environment, StringRef op) {
  if (op.starts_with("!"))
    return true; // a storage type's loads are part of every kernel that reads it
  RegisteredOperationName name = *RegisteredOperationName::lookup(op, environment.context.get());
  return name.hasInterface<TileLowering>() || name.hasInterface<WholeKernel>();
}

/// The programs of an op that are compiled for the shapes of their inputs.
std::vector<const Program *> compilable(const Environment &environment, StringRef op) {
  std::vector<const Program *> programs;
  for (const Program *program : environment.programsOf(op))
    if (!program->hasState())
      programs.push_back(program);
  return programs;
}

/// The programs of an op that are run step by step.
std::vector<const Program *> stepped(const Environment &environment, StringRef op) {
  std::vector<const Program *> programs;
  for (const Program *program : environment.programsOf(op))
    if (program->hasState() && program->rowStarts())
      programs.push_back(program);
  return programs;
}

std::optional<Finding> nothingToCompile(const Environment &environment, StringRef op) {
  if (!hasKernel(environment, op))
    return absent("no kernel of its own; compiled as its reference");
  if (environment.programsOf(op).empty())
    return absent("no sample");
  if (compilable(environment, op).empty() && stepped(environment, op).empty())
    return absent("every sample has a state, and none an argument with check.input = \"offsets N\"");
  return std::nullopt;
}

/// As nothingToCompile, for checks that programs over states take no part in.
std::optional<Finding> nothingPlain(const Environment &environment, StringRef op) {
  if (std::optional<Finding> nothing = nothingToCompile(environment, op))
    return nothing;
  if (compilable(environment, op).empty())
    return absent("every sample has a state");
  return std::nullopt;
}

std::string counted(unsigned number, const char *what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// What was run of an op, a type or a pass, and agreed with the reference.
struct Runs {
  std::string op; ///< empty: none in particular
  unsigned plain = 0, steps = 0;
  unsigned byKernel = 0;    ///< of them, those with results that the op's kernel form had a part in
  unsigned byReference = 0; ///< those in which it had none, because it gave nothing
  std::string fallback;     ///< the reason of the first of these
  ContractTrial contract;

  unsigned all() const { return plain + steps; }
  std::string text() const {
    std::string total = counted(plain, "run");
    if (steps)
      total += " and " + counted(steps, "step") + " over states";
    if (byReference)
      total += ", " + std::to_string(byReference) + " of them without the kernel form (" + fallback + ")";
    return total;
  }
  /// Of a run: what it made, within which bound, and why its op was compiled by its reference lowering ("": it was
  /// not).
  void note(ArrayRef<RunValue> wanted, NumericsBound bound, const std::string &reason) {
    contract.add(wanted, bound);
    auto isThere = [](const RunValue &value) {
      const auto *tensor = std::get_if<Tensor>(&value);
      return tensor && tensor->size() > 0;
    };
    if (reason.empty()) {
      byKernel += llvm::any_of(wanted, isThere);
      return;
    }
    ++byReference;
    if (fallback.empty())
      fallback = reason;
  }
};

/// Runs the steps of a schedule and compares each with the reference. "": they agree. A schedule that the program does
/// not take is passed over (`ran` stays as it is).
std::string compareSteps(const Environment &environment, const Program &program, SteppedKernel &kernel,
                         const Schedule &schedule, Runs &ran) {
  auto wanted = interpretSteps(program, schedule);
  if (!wanted)
    return llvm::consumeError(wanted.takeError()), "";
  auto found = kernel.run(environment, schedule);
  if (!found)
    return llvm::toString(found.takeError());
  const NumericsBound bound = boundOf(program, "precise");
  for (size_t step = 0; step < wanted->size(); ++step) {
    if (std::string wrong = difference((*found)[step], (*wanted)[step], bound); !wrong.empty())
      return stepText(program, schedule, step) + ": " + wrong;
    ++ran.steps;
    ran.note((*wanted)[step], bound, kernel.fallback(schedule.rows[step], ran.op));
  }
  return "";
}

/// Every schedule, or the first few, of a program over states; a reason when something is wrong.
std::string checkSteps(const Environment &environment, const Program &program, ArrayRef<Schedule> wanted, Runs &ran) {
  SteppedKernel &kernel = steppedKernelOf(environment, program);
  for (const Schedule &schedule : wanted)
    if (std::string wrong = compareSteps(environment, program, kernel, schedule, ran); !wrong.empty())
      return wrong;
  return "";
}

/// Runs the kernel at a point and compares it with the reference. "": they agree. Points that the sample does not take
/// are passed over (`ran` stays as it is).
std::string compare(const Environment &environment, const Program &program, Kernel &kernel, const Point &point,
                    const Fill &fill, Runs &ran) {
  auto inputs = program.inputs(point, fill);
  if (!inputs)
    return llvm::consumeError(inputs.takeError()), "";
  auto wanted = interpret(program.module(), program.name(), *inputs);
  if (!wanted)
    return llvm::consumeError(wanted.takeError()), "";
  auto found = kernel.run(environment, point, *inputs);
  if (!found)
    return llvm::toString(found.takeError());
  const NumericsBound bound = boundOf(program, kernel.numerics);
  ++ran.plain;
  ran.note(*wanted, bound, kernel.fallback(point, ran.op));
  return difference(*found, *wanted, bound);
}

/// Compiling costs more than interpreting: of the lattice the empty, the single, an odd and a large size for all
/// symbols, and one where each symbol has another.
std::vector<Point> compiledPoints(const Program &program) {
  std::vector<Point> points;
  bool isMixedIn = false;
  for (const Point &point : program.lattice()) {
    bool isUniform = llvm::all_of(point, [&](const auto &entry) { return entry.second == point.begin()->second; });
    int64_t size = point.empty() ? 1 : point.begin()->second;
    constexpr int64_t sizes[] = {0, 1, 7, 33};
    if (isUniform ? llvm::is_contained(sizes, size) : !isMixedIn) {
      isMixedIn |= !isUniform;
      points.push_back(point);
    }
  }
  return points;
}

/// A point at which every symbol has `size`.
Point pointAt(const Program &program, int64_t size) {
  Point point;
  for (const std::string &symbol : program.symbols())
    point[symbol] = size;
  return point;
}

} // namespace

Finding checkKernel(const Environment &environment, StringRef op) {
  if (std::optional<Finding> nothing = nothingToCompile(environment, op))
    return *nothing;
  if (std::string fault = contractFault(environment, op); !fault.empty())
    return failed(fault);
  Runs runs;
  runs.op = op.str();
  Fill fill;
  fill.mask = Fill::Mask::AllTrue; // masks are a check of their own
  for (const Program *program : compilable(environment, op)) {
    Kernel &kernel = kernelOf(environment, *program);
    for (const Point &point : compiledPoints(*program)) {
      std::string where = "'" + program->name() + "' with " + text(point);
      announce(where);
      if (std::string wrong = compare(environment, *program, kernel, point, fill, runs); !wrong.empty())
        return failed(where + ": " + wrong);
    }
  }
  for (const Program *program : stepped(environment, op))
    if (std::string wrong = checkSteps(environment, *program, schedules(), runs); !wrong.empty())
      return failed(wrong);
  if (runs.all() == 0)
    return failed("no sample runs with any of the shapes tried");
  if (runs.byReference > 0 && runs.byKernel == 0)
    return failed("its kernel form has no part in any of " + counted(runs.byReference, "run") + ": " + runs.fallback);
  if (runs.contract.isEmpty())
    return failed("results of zeros would pass too: the bound of " + boundText(environment, op) +
                  " element is as wide as the results of the samples are large");
  return passed(runs.text() + ": what the reference computes, within " + boundText(environment, op));
}

Finding checkFastKernel(const Environment &environment, StringRef type) {
  Runs runs;
  for (const Program *program : compilable(environment, type)) {
    Kernel kernel(environment, *program, 1, "fast");
    constexpr int64_t kSize = 7;
    std::string where = "'" + program->name() + "'";
    announce(where);
    if (std::string wrong = compare(environment, *program, kernel, pointAt(*program, kSize), Fill(), runs);
        !wrong.empty())
      return failed(where + ": " + wrong);
  }
  return runs.all() ? passed(runs.text() + ": what the reference computes") : absent("no sample runs");
}

Finding checkCompiled(const Environment &environment) {
  Runs runs;
  for (const Program &program : environment.programs) {
    if (program.hasState()) {
      if (!program.rowStarts())
        continue;
      if (std::string wrong = checkSteps(environment, program, schedules().take_front(1), runs); !wrong.empty())
        return failed(wrong);
      continue;
    }
    constexpr int64_t kSize = 7;
    std::string where = "'" + program.name() + "'";
    announce(where);
    if (std::string wrong =
            compare(environment, program, kernelOf(environment, program), pointAt(program, kSize), Fill(), runs);
        !wrong.empty())
      return failed(where + ": " + wrong);
  }
  return runs.all() ? passed(runs.text() + ": what the reference computes") : absent("no sample runs");
}

Finding checkMasks(const Environment &environment, StringRef op) {
  if (std::optional<Finding> nothing = nothingPlain(environment, op))
    return *nothing;
  using Mask = Fill::Mask;
  constexpr std::pair<Mask, StringLiteral> masks[] = {
      {Mask::Random, "a random mask"}, {Mask::FirstOnly, "only the first shown"}, {Mask::AllFalse, "all hidden"}};
  Runs runs;
  for (const Program *program : compilable(environment, op)) {
    if (!program->hasMask())
      continue;
    Kernel &kernel = kernelOf(environment, *program);
    constexpr int64_t kSize = 7;
    for (auto [mask, name] : masks) {
      std::string where = "'" + program->name() + "' with " + name.str();
      announce(where);
      Fill fill;
      fill.mask = mask;
      if (std::string wrong = compare(environment, *program, kernel, pointAt(*program, kSize), fill, runs);
          !wrong.empty())
        return failed(where + ": " + wrong);
    }
  }
  return runs.all() ? passed(runs.text() + ": what the reference computes") : absent("no sample has a mask");
}

Finding checkNaN(const Environment &environment, StringRef op) {
  if (std::optional<Finding> nothing = nothingPlain(environment, op))
    return *nothing;
  Runs runs;
  for (const Program *program : compilable(environment, op)) {
    Kernel &kernel = kernelOf(environment, *program);
    constexpr int64_t kSize = 7;
    for (auto [i, type] : llvm::enumerate(program->function().getArgumentTypes())) {
      if (!isa<FloatType>(cast<RankedTensorType>(type).getElementType()))
        continue;
      std::string where = "'" + program->name() + "' with NaN in argument " + std::to_string(i);
      announce(where);
      Fill fill;
      fill.mask = Fill::Mask::AllTrue;
      fill.nanArgument = i;
      if (std::string wrong = compare(environment, *program, kernel, pointAt(*program, kSize), fill, runs);
          !wrong.empty())
        return failed(where + ": " + wrong);
    }
  }
  return runs.all() ? passed(runs.text() + ": NaN where the reference has it") : absent("no float argument");
}

Finding checkThreads(const Environment &environment, StringRef op) {
  if (std::optional<Finding> nothing = nothingToCompile(environment, op))
    return *nothing;
  constexpr int64_t kSize = 33;
  constexpr NumericsBound same = {0.0, 0.0};
  unsigned compared = 0;
  for (const Program *program : compilable(environment, op)) {
    const Point point = pointAt(*program, kSize);
    auto inputs = program->inputs(point, Fill());
    if (!inputs) {
      llvm::consumeError(inputs.takeError());
      continue;
    }
    std::vector<RunValue> first;
    // Compiled anew for each number of threads, so that code which differs shows as well.
    for (unsigned threads : {1, 4}) {
      std::string where = "'" + program->name() + "' on " + std::to_string(threads) + " threads";
      announce(where);
      std::optional<Kernel> fresh;
      Kernel &kernel = threads == 1 ? kernelOf(environment, *program) : fresh.emplace(environment, *program, threads);
      for (bool again : {false, true}) {
        auto found = kernel.run(environment, point, *inputs);
        if (!found)
          return failed(where + ": " + llvm::toString(found.takeError()));
        if (first.empty())
          first = *found;
        else if (std::string wrong = difference(*found, first, same); !wrong.empty())
          return failed(where + (again ? ", run again" : "") + ": other bits than before: " + wrong);
      }
    }
    ++compared;
  }
  for (const Program *program : stepped(environment, op)) {
    const Schedule &schedule = schedules().front();
    std::optional<StepResults> first;
    for (unsigned threads : {1, 4}) {
      std::string where = "'" + program->name() + "' on " + std::to_string(threads) + " threads";
      std::optional<SteppedKernel> fresh;
      SteppedKernel &kernel =
          threads == 1 ? steppedKernelOf(environment, *program) : fresh.emplace(environment, *program, threads);
      for (bool again : {false, true}) {
        auto found = kernel.run(environment, schedule);
        if (!found)
          return failed(where + ": " + llvm::toString(found.takeError()));
        for (size_t step = 0; first && step < found->size(); ++step)
          if (std::string wrong = difference((*found)[step], (*first)[step], same); !wrong.empty())
            return failed(where + (again ? ", run again" : "") +
                          ": other bits than before: " + stepText(*program, schedule, step) + ": " + wrong);
        first = std::move(*found);
      }
    }
    ++compared;
  }
  return compared ? passed("the same bits on 1 and 4 threads") : absent("no sample runs");
}

} // namespace tilewright::conformance
