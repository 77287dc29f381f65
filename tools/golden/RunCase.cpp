// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/golden/RunCase.h"

#include "backends/reference/Compare.h"
#include "backends/reference/Interpreter.h"
#include "ir/interfaces/Interfaces.h"
#include "tools/functions/CompiledFunction.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace tilewright {

namespace {

using Outputs = FailureOr<std::vector<reference::Tensor>>;

/// What builders gave as weights.
class CaseWeights : public reference::WeightProvider {
public:
  explicit CaseWeights(const GoldenCase &golden) : golden(golden) {}
  llvm::Expected<ArrayRef<uint8_t>> bytes(ml_program::GlobalOp global) override {
    if (const std::vector<uint8_t> *bytes = golden.weightBytes(global.getSymName()))
      return ArrayRef<uint8_t>(*bytes);
    return llvm::createStringError("the case has no weight '" + global.getSymName() + "'");
  }

private:
  const GoldenCase &golden;
};

reference::Tensor tensorOf(const GoldenTensor &stored) {
  return {reference::Shape(stored.shape.begin(), stored.shape.end()), stored.isFloat, stored.reals, stored.integers};
}

std::vector<reference::Tensor> argumentsOf(const GoldenCase &golden) {
  std::vector<reference::Tensor> arguments;
  for (const std::string &name : golden.arguments())
    arguments.push_back(tensorOf(*golden.stored(name)));
  return arguments;
}

Outputs interpret(ModuleOp module, const GoldenCase &golden) {
  CaseWeights weights(golden);
  auto interpreter = reference::Interpreter::create(module, weights, reference::Precision::F64);
  if (failed(interpreter))
    return failure();
  std::vector<reference::Tensor> arguments = argumentsOf(golden);
  auto values = (*interpreter)->run("main", {arguments.begin(), arguments.end()});
  if (failed(values))
    return failure();
  std::vector<reference::Tensor> tensors;
  for (reference::RunValue &value : *values)
    tensors.push_back(std::get<reference::Tensor>(std::move(value)));
  return tensors;
}

Outputs compileAndRun(ModuleOp module, const GoldenCase &golden, const StageRegistry &stages, const GoldenRun &run) {
  CaseWeights weights(golden);
  FunctionOptions options;
  options.numerics = run.numerics;
  options.firstStage = "simplify";
  auto function = CompiledFunction::create(module, "main", stages, weights, options);
  return failed(function) ? Outputs(failure()) : (*function)->run(argumentsOf(golden));
}

/// Attention that stays unfused for this reason is as it should be: a kernel that holds no row of scores at once cannot
/// give them.
constexpr StringLiteral mayStayUnfused = "the weights themselves are asked for";

/// Why a compiled case has not done what it should; empty when it has. `receipts` are the case's own. That no op runs
/// in the interpreter needs no receipt: a program in which something is left beside dispatches does not run at all.
std::string fusionFault(ArrayRef<Receipt> receipts) {
  // A place may hold several ops, for a case's graph has no locations: each excuse is one op's.
  std::map<std::pair<StringRef, StringRef>, int64_t> excused; // by function and location
  auto isMissed = [](const Receipt &receipt) { return receipt.kind == "attention" && !receipt.done; };
  for (const Receipt &receipt : receipts)
    if (isMissed(receipt) && StringRef(receipt.reason).starts_with(mayStayUnfused))
      ++excused[{receipt.function, receipt.location}];
  // What has not become a fused kernel by then, whichever pass said so before.
  for (const Receipt &receipt : receipts)
    if (isMissed(receipt) && receipt.stage == "tile" && excused[{receipt.function, receipt.location}]-- <= 0)
      return "attention was not fused: " + receipt.reason;
  return {};
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
  double error = 0; ///< infinite for integers that differ
  int64_t index = 0;
};

Difference difference(const reference::Tensor &found, const GoldenTensor &wanted) {
  Difference largest;
  for (int64_t i = 0; i < found.size(); ++i) {
    double error = wanted.isFloat                            ? reference::distance(found.reals[i], wanted.reals[i])
                   : found.integers[i] == wanted.integers[i] ? 0.0
                                                             : HUGE_VAL;
    if (error > largest.error)
      largest = {error, i};
  }
  return largest;
}

template <typename Tensor> std::string valueText(const Tensor &tensor, int64_t i) {
  return tensor.isFloat ? llvm::formatv("{0:e6}", tensor.reals[i]).str() : std::to_string(tensor.integers[i]);
}

CaseResult compare(const StoredCase &stored, ArrayRef<std::string> names, ArrayRef<reference::Tensor> outputs,
                   const NumericsBound &contract) {
  std::string passed;
  for (auto [name, found] : llvm::zip_equal(names, outputs)) {
    const StoredCase::Output &output = stored.outputs.at(name);
    double limit = std::max(output.limit,
                            contract.absolute + contract.relative * reference::largestMagnitude(output.wanted.reals));
    if (found.shape != ArrayRef(output.wanted.shape) || found.isFloat != output.wanted.isFloat)
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

/// A case that is no graph.
CaseResult computeCase(const StoredCase &stored, const GoldenFunction &function) {
  GoldenHostCase golden(stored.contents);
  function(golden);
  std::vector<std::string> names;
  std::vector<reference::Tensor> outputs;
  for (const auto &[name, output] : stored.outputs) {
    const GoldenTensor *result = golden.result(name);
    if (!result) {
      golden.unsupported("output " + name);
      continue;
    }
    names.push_back(name);
    outputs.push_back(tensorOf(*result));
  }
  if (golden.whyUnsupported())
    return {Outcome::Unsupported, *golden.whyUnsupported()};
  if (golden.whyWrong())
    return {Outcome::Failed, *golden.whyWrong()};
  return compare(stored, names, outputs, NumericsBound());
}

} // namespace

CaseResult runCase(const StoredCase &stored, const GoldenRegistry &builders, const StageRegistry &stages,
                   MLIRContext *context, const GoldenRun &run) {
  if (stored.unsupported)
    return {Outcome::Unsupported, *stored.unsupported};
  if (const GoldenFunction *function = builders.findHost(stored.technique))
    return computeCase(stored, *function);
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
  GoldenCase golden(b, stored.contents);
  (*build)(golden);
  func::FuncOp main = golden.finish();
  if (golden.whyUnsupported())
    return {Outcome::Unsupported, *golden.whyUnsupported()};
  if (golden.whyWrong())
    return {Outcome::Failed, *golden.whyWrong()};
  if (!main || failed(verify(*module)))
    return {Outcome::Failed, "the graph is not valid: " + said};

  Outputs outputs = run.compiled ? compileAndRun(*module, golden, stages, run) : interpret(*module, golden);
  std::vector<Receipt> receipts;
  if (run.compiled && run.receipts)
    receipts = run.receipts->take();
  if (failed(outputs))
    return {Outcome::Failed, said.empty() ? std::string("no result") : said};
  if (std::string fault = fusionFault(receipts); !fault.empty())
    return {Outcome::Failed, fault};
  bool fast = run.compiled && run.numerics == "fast";
  return compare(stored, golden.results(), *outputs, fast ? contractOf(*module, "fast") : NumericsBound());
}

} // namespace tilewright
