// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/golden/RunCase.h"

#include "backends/reference/Interpreter.h"
#include "ir/interfaces/Interfaces.h"
#include "tools/functions/CompiledFunction.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace tilewright {

namespace {

using Outputs = FailureOr<std::vector<reference::Tensor>>;

Outputs interpret(ModuleOp module, const StoredCase &stored) {
  reference::NoWeights none;
  auto interpreter = reference::Interpreter::create(module, none, reference::Precision::F64);
  if (failed(interpreter))
    return failure();
  auto values = (*interpreter)->run("main", {stored.inputs.begin(), stored.inputs.end()});
  if (failed(values))
    return failure();
  std::vector<reference::Tensor> tensors;
  for (reference::RunValue &value : *values)
    tensors.push_back(std::get<reference::Tensor>(std::move(value)));
  return tensors;
}

Outputs compileAndRun(ModuleOp module, const StoredCase &stored, const StageRegistry &stages, const GoldenRun &run) {
  reference::NoWeights none;
  FunctionOptions options;
  options.numerics = run.numerics;
  options.firstStage = "simplify";
  auto function = CompiledFunction::create(module, "main", stages, none, options);
  return failed(function) ? Outputs(failure()) : (*function)->run(stored.inputs);
}

/// The widest contract of the ops in the graph: under `fast` it may add to what f32 allows.
NumericsBound contractOf(ModuleOp module, StringRef numerics) {
  NumericsBound widest;
  module.walk([&](NumericsContract op) {
    NumericsBound bound = op.getNumericsBound(numerics);
    widest.absolute = std::max(widest.absolute, bound.absolute);
    widest.relative = std::max(widest.relative, bound.relative);
  });
  return widest;
}

struct Difference {
  double error = 0; ///< infinite where one is NaN or infinite and the other something else
  int64_t index = 0;
};

Difference difference(const reference::Tensor &found, const reference::Tensor &wanted) {
  Difference largest;
  for (int64_t i = 0; i < wanted.size(); ++i) {
    double error;
    if (!wanted.isFloat)
      error = found.integers[i] == wanted.integers[i] ? 0 : HUGE_VAL;
    else if (std::isfinite(wanted.reals[i]) && std::isfinite(found.reals[i]))
      error = std::abs(found.reals[i] - wanted.reals[i]);
    else
      error = found.reals[i] == wanted.reals[i] || (std::isnan(found.reals[i]) && std::isnan(wanted.reals[i]))
                  ? 0
                  : HUGE_VAL;
    if (error > largest.error)
      largest = {error, i};
  }
  return largest;
}

std::string valueText(const reference::Tensor &tensor, int64_t i) {
  return tensor.isFloat ? llvm::formatv("{0:e6}", tensor.reals[i]).str() : std::to_string(tensor.integers[i]);
}

CaseResult compare(const StoredCase &stored, ArrayRef<std::string> names, ArrayRef<reference::Tensor> outputs,
                   const NumericsBound &contract) {
  std::string passed;
  for (auto [name, found] : llvm::zip_equal(names, outputs)) {
    const StoredCase::Output &output = stored.outputs.at(name);
    double limit = output.limit;
    if (contract.absolute > 0 || contract.relative > 0) {
      double largest = 0;
      for (double value : output.wanted.reals)
        if (std::isfinite(value))
          largest = std::max(largest, std::abs(value));
      limit = std::max(limit, contract.absolute + contract.relative * largest);
    }
    if (found.shape != output.wanted.shape || found.isFloat != output.wanted.isFloat)
      return {Outcome::Failed, llvm::formatv("{0} has another shape or kind than is stored", name).str()};
    Difference worst = difference(found, output.wanted);
    if (worst.error > limit)
      return {Outcome::Failed,
              llvm::formatv("{0}: element {1} is {2}, wanted {3}: error {4:e2}, limit {5:e2}", name, worst.index,
                            valueText(found, worst.index), valueText(output.wanted, worst.index), worst.error, limit)
                  .str()};
    passed += llvm::formatv("{0}{1} {2:e2} of {3:e2}", passed.empty() ? "" : ", ", name, worst.error, limit).str();
  }
  return {Outcome::Passed, passed};
}

} // namespace

CaseResult runCase(const StoredCase &stored, const GoldenRegistry &builders, const StageRegistry &stages,
                   MLIRContext *context, const GoldenRun &run) {
  if (stored.unsupported)
    return {Outcome::Unsupported, *stored.unsupported};
  const GoldenBuilder *build = builders.find(stored.technique);
  if (!build)
    return {Outcome::Unsupported, "no builder for technique " + stored.technique};

  std::string said;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (said.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      said = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  ImplicitLocOpBuilder b(UnknownLoc::get(context), OpBuilder::atBlockEnd(module->getBody()));
  GoldenCase golden(b, stored.name, stored.attributes, stored.inputTypes, stored.outputTypes);
  (*build)(golden);
  func::FuncOp main = golden.finish();
  if (golden.whyUnsupported())
    return {Outcome::Unsupported, *golden.whyUnsupported()};
  if (!main || failed(verify(*module)))
    return {Outcome::Failed, "the graph is not valid: " + said};

  Outputs outputs = run.compiled ? compileAndRun(*module, stored, stages, run) : interpret(*module, stored);
  if (failed(outputs))
    return {Outcome::Failed, said.empty() ? std::string("no result") : said};
  bool fast = run.compiled && run.numerics == "fast";
  return compare(stored, golden.results(), *outputs, fast ? contractOf(*module, "fast") : NumericsBound());
}

} // namespace tilewright
