// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Steps.h"

#include "ir/interfaces/KernelBuilder.h"
#include "ir/tw/Tw.h"
#include "tools/functions/SteppedFunction.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilewright::conformance {

using reference::RunValue;
using reference::StateHandle;
using reference::Tensor;

llvm::ArrayRef<Schedule> schedules() {
  static const Schedule all[] = {{2, {135, 2, 7, 64, 2}}, {1, {1, 66, 1, 5}}, {3, {2, 20}}};
  return all;
}

std::string stepText(const Program &program, const Schedule &schedule, size_t step) {
  std::string rows =
      llvm::join(llvm::map_range(schedule.rows, [](int64_t count) { return std::to_string(count); }), ", ");
  return "'" + program.name() + "', step " + std::to_string(step + 1) + " of " + rows + " rows in " +
         std::to_string(schedule.sequences) + (schedule.sequences == 1 ? " sequence" : " sequences");
}

namespace {
/// Calls `run(inputs, row starts)` for each step of a schedule; the sequences grow in between.
llvm::Error forSteps(const Program &program, const Schedule &schedule,
                     llvm::function_ref<llvm::Error(std::vector<RunValue>, ArrayRef<int64_t>)> run) {
  Fill fill;
  fill.mask = Fill::Mask::AllTrue;
  fill.past.resize(schedule.sequences);
  for (size_t step = 0; step < schedule.rows.size(); ++step) {
    fill.seed = static_cast<unsigned>(step + 1);
    auto inputs = program.inputs(program.pointOfStep(schedule.rows[step], schedule.sequences), fill);
    if (!inputs)
      return inputs.takeError();
    std::vector<int64_t> rowStart = std::get<Tensor>((*inputs)[*program.rowStarts()]).integers;
    if (llvm::Error error = run(std::move(*inputs), rowStart))
      return llvm::createStringError(stepText(program, schedule, step) + ": " + llvm::toString(std::move(error)));
    for (int64_t b = 0; b < schedule.sequences; ++b)
      fill.past[b] += rowStart[b + 1] - rowStart[b];
  }
  return llvm::Error::success();
}

/// The argument whose state `value`, a state, has grown from; none when it comes from elsewhere.
std::optional<unsigned> rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    value = Value();
    for (Value operand : op->getOperands())
      if (isa<tw::StateType>(operand.getType()))
        value = operand;
    if (!value)
      return std::nullopt;
  }
  return cast<BlockArgument>(value).getArgNumber();
}
} // namespace

llvm::Expected<StepResults> interpretSteps(const Program &program, const Schedule &schedule) {
  CapturedDiagnostics diagnostics(program.module().getContext());
  SampleWeights weights;
  auto interpreter = reference::Interpreter::create(program.module(), weights, reference::Precision::F64);
  if (failed(interpreter))
    return llvm::createStringError(diagnostics.error("has no reference"));
  std::map<unsigned, StateHandle> states; // by argument
  (*interpreter)->setTap([&](Operation *op, ArrayRef<RunValue> results) {
    auto function = op->getParentOfType<func::FuncOp>();
    if (function && function.getSymName() == program.name())
      for (auto [value, result] : llvm::zip(op->getResults(), results))
        if (const auto *state = std::get_if<StateHandle>(&result))
          if (std::optional<unsigned> root = rootOf(value))
            states[*root] = *state;
  });
  StepResults all;
  llvm::Error error = forSteps(program, schedule, [&](std::vector<RunValue> inputs, ArrayRef<int64_t>) -> llvm::Error {
    for (auto &[argument, state] : states)
      inputs[argument] = state;
    auto results = (*interpreter)->run(program.name(), std::move(inputs));
    if (failed(results))
      return llvm::createStringError(diagnostics.error("the interpreter failed"));
    all.push_back(std::move(*results));
    return llvm::Error::success();
  });
  if (error)
    return error;
  return all;
}

struct SteppedKernel::Compiled {
  SampleWeights weights;
  std::unique_ptr<SteppedFunction> step;
  std::string problem;
};

SteppedKernel::SteppedKernel(const Environment &environment, const Program &program, unsigned threads)
    : program(program), compiled(std::make_unique<Compiled>()) {
  CapturedDiagnostics diagnostics(environment.context.get());
  FunctionOptions options;
  options.threads = threads;
  constexpr int64_t kPages = 8;
  auto made = SteppedFunction::create(program.module(), program.name(), environment.host.stages, compiled->weights,
                                      kPages, options);
  if (succeeded(made))
    compiled->step = std::move(*made);
  else
    compiled->problem = diagnostics.error("no reason given");
}

SteppedKernel::~SteppedKernel() = default;

std::string SteppedKernel::fallback(int64_t rows, StringRef op) const {
  return fallbacks.reason(shapeClassOf(rows).name.str(), op);
}

llvm::Expected<StepResults> SteppedKernel::run(const Environment &environment, const Schedule &schedule) {
  if (!compiled->step)
    return llvm::createStringError("does not compile: " + compiled->problem);
  compiled->step->restart();
  StepResults all;
  llvm::Error error =
      forSteps(program, schedule, [&](std::vector<RunValue> inputs, ArrayRef<int64_t> rowStart) -> llvm::Error {
        announce(stepText(program, schedule, all.size()));
        CapturedDiagnostics diagnostics(environment.context.get());
        std::vector<Tensor> tensors;
        for (const RunValue &value : inputs) {
          const auto *tensor = std::get_if<Tensor>(&value);
          tensors.push_back(tensor ? *tensor : Tensor());
        }
        auto results = compiled->step->run(tensors, rowStart);
        fallbacks.note(environment, shapeClassOf(rowStart.back()).name.str());
        if (failed(results))
          return llvm::createStringError(diagnostics.error("does not run"));
        all.emplace_back();
        for (auto [tensor, type] : llvm::zip_equal(*results, program.function().getResultTypes()))
          all.back().push_back(isa<tw::StateType>(type) ? RunValue(StateHandle{}) : RunValue(std::move(tensor)));
        return llvm::Error::success();
      });
  if (error)
    return error;
  return all;
}

} // namespace tilewright::conformance
