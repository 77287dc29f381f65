// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An op's gradient against central differences, both in f64. Nothing is rounded to 16-bit types: their steps are wider
// than that of a difference.
#include "backends/reference/Compare.h"
#include "ir/interfaces/Interfaces.h"
#include "passes/differentiate/Differentiate.h"
#include "tools/conformance/Environment.h"
#include "tools/conformance/Numbers.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace tilewright::conformance {

using reference::RunValue;
using reference::Tensor;

namespace {

constexpr double kStep = 1e-5;
/// The error of a central difference is of the order of the step squared, and of rounding over the step.
constexpr double kRelative = 1e-5, kAbsolute = 1e-7;
constexpr int64_t kElements = 12; ///< tried of each argument

llvm::Expected<std::vector<RunValue>> unrounded(ModuleOp module, StringRef function, std::vector<RunValue> inputs) {
  return interpret(module, function, std::move(inputs), reference::Precision::Unrounded);
}

/// The sum of all float results, each element times its cotangent.
llvm::Expected<double> weighted(ModuleOp module, StringRef function, const std::vector<RunValue> &inputs,
                                ArrayRef<RunValue> cotangents) {
  auto results = unrounded(module, function, inputs);
  if (!results)
    return results.takeError();
  double sum = 0;
  size_t next = 0;
  for (const RunValue &result : *results) {
    const auto *tensor = std::get_if<Tensor>(&result);
    if (!tensor || !tensor->isFloat)
      continue;
    const auto &weights = std::get<Tensor>(cotangents[next++]).reals;
    for (size_t k = 0; k < weights.size(); ++k)
      sum += weights[k] * tensor->reals[k];
  }
  return sum;
}

/// The first wrong derivative, or nothing.
std::string check(const Program &program, const Point &point) {
  Fill fill;
  fill.isGeneric = true;
  auto inputs = program.inputs(point, fill);
  if (!inputs)
    return llvm::consumeError(inputs.takeError()), "";
  auto values = unrounded(program.module(), program.name(), *inputs);
  if (!values) // shapes that the sample does not take
    return llvm::consumeError(values.takeError()), "";

  OwningOpRef<ModuleOp> module = program.module().clone();
  auto function = module->lookupSymbol<func::FuncOp>(program.name());
  SmallVector<int64_t> wrt;
  for (auto [i, input] : llvm::enumerate(*inputs))
    if (const auto *tensor = std::get_if<Tensor>(&input); tensor && tensor->isFloat)
      wrt.push_back(i);
  std::vector<RunValue> cotangents;
  for (const RunValue &value : *values)
    if (const auto *tensor = std::get_if<Tensor>(&value); tensor && tensor->isFloat) {
      Tensor cotangent = Tensor::floats(tensor->shape);
      for (auto [k, weight] : llvm::enumerate(cotangent.reals))
        weight = std::cos(1.0 + 2.0 * k);
      cotangents.push_back(std::move(cotangent));
    }
  if (wrt.empty() || cotangents.empty())
    return "";

  std::string gradientName;
  {
    CapturedDiagnostics diagnostics(module->getContext());
    FailureOr<func::FuncOp> gradient = differentiate(function, wrt);
    if (failed(gradient))
      return "cannot be differentiated: " + diagnostics.error("no reason given");
    gradientName = gradient->getSymName().str();
  }
  std::vector<RunValue> arguments = *inputs;
  arguments.insert(arguments.end(), cotangents.begin(), cotangents.end());
  auto gradients = unrounded(*module, gradientName, arguments);
  if (!gradients)
    return "the gradient fails: " + llvm::toString(gradients.takeError());

  for (auto [position, argument] : llvm::enumerate(wrt)) {
    const auto &gradient = std::get<Tensor>((*gradients)[position]);
    auto &input = std::get<Tensor>((*inputs)[argument]);
    if (gradient.shape != input.shape)
      return llvm::formatv("the gradient of argument {0} has not its shape", argument);
    double largest = 0;
    for (double number : gradient.reals)
      largest = std::max(largest, std::fabs(number));
    int64_t stride = std::max<int64_t>(1, input.size() / kElements);
    for (int64_t k = 0; k < input.size(); k += stride) {
      double at = input.reals[k];
      input.reals[k] = at + kStep;
      auto above = weighted(program.module(), program.name(), *inputs, cotangents);
      input.reals[k] = at - kStep;
      auto below = weighted(program.module(), program.name(), *inputs, cotangents);
      input.reals[k] = at;
      if (!above || !below) {
        llvm::consumeError(above.takeError());
        llvm::consumeError(below.takeError());
        return "the reference fails near its inputs";
      }
      double wanted = (*above - *below) / (2 * kStep);
      double allowed = kAbsolute + kRelative * std::max(largest, std::fabs(wanted));
      if (!(std::fabs(gradient.reals[k] - wanted) <= allowed))
        return llvm::formatv("argument {0}, element {1}: the gradient is {2}, central differences give {3} (allowed "
                             "difference {4:e2})",
                             argument, k, reference::numberText(gradient.reals[k]), reference::numberText(wanted),
                             allowed);
    }
  }
  return "";
}

} // namespace

Finding checkGradient(const Environment &environment, StringRef op) {
  RegisteredOperationName name = *RegisteredOperationName::lookup(op, environment.context.get());
  if (!name.hasInterface<Gradient>())
    return absent("no gradient of its own; that of its reference serves");
  if (environment.programsOf(op).empty())
    return absent("no sample");
  unsigned count = 0;
  for (const Program *program : environment.programsOf(op)) {
    if (program->hasState())
      continue;
    for (const Point &point : program->lattice()) {
      // Small shapes: each element costs two runs.
      constexpr int64_t kLargest = 7;
      if (llvm::any_of(point, [](const auto &entry) { return entry.second < 1 || entry.second > kLargest; }))
        continue;
      std::string where = "'" + program->name() + "' with " + text(point) + ": ";
      announce(where);
      if (std::string wrong = check(*program, point); !wrong.empty())
        return failed(where + wrong);
      ++count;
    }
  }
  if (count == 0)
    return failed("no sample runs without a state, so that nothing shows the gradient to be right");
  return passed(std::to_string(count) + " shapes, by central differences");
}

} // namespace tilewright::conformance
