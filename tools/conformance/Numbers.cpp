// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Numbers.h"

#include "backends/reference/Compare.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace tilewright::conformance {

using reference::RunValue;
using reference::Tensor;

llvm::Expected<std::vector<RunValue>> interpret(ModuleOp module, StringRef function, std::vector<RunValue> inputs,
                                                reference::Precision precision) {
  CapturedDiagnostics diagnostics(module.getContext());
  SampleWeights weights;
  auto interpreter = reference::Interpreter::create(module, weights, precision);
  if (failed(interpreter))
    return llvm::createStringError(diagnostics.error("has no reference"));
  FailureOr<std::vector<RunValue>> results = (*interpreter)->run(function, std::move(inputs));
  if (failed(results))
    return llvm::createStringError(diagnostics.error("the interpreter failed"));
  return std::move(*results);
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t i) { return std::to_string(i); }), ", ") + "]";
}

std::string difference(ArrayRef<RunValue> found, ArrayRef<RunValue> wanted, NumericsBound bound) {
  if (found.size() != wanted.size())
    return llvm::formatv("found {0} results, wanted {1}", found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const auto *a = std::get_if<Tensor>(&found[i]), *b = std::get_if<Tensor>(&wanted[i]);
    if (!a || !b)
      continue;
    if (a->shape != b->shape || a->isFloat != b->isFloat)
      return llvm::formatv("result {0}: found shape {1}, wanted {2}", i, shapeText(a->shape), shapeText(b->shape));
    for (int64_t k = 0; k < static_cast<int64_t>(a->integers.size()); ++k)
      if (a->integers[k] != b->integers[k])
        return llvm::formatv("result {0} at {1}: found {2}, wanted {3}", i, reference::placeText(k, a->shape),
                             a->integers[k], b->integers[k]);
    double worst = bound.absolute + bound.relative * reference::largestMagnitude(b->reals);
    const double allowed = worst;
    int64_t worstAt = -1;
    for (int64_t k = 0; k < static_cast<int64_t>(a->reals.size()); ++k) {
      double error = reference::distance(a->reals[k], b->reals[k]);
      if (error > worst) {
        worst = error;
        worstAt = k;
      }
    }
    if (worstAt >= 0)
      return llvm::formatv("result {0} at {1}: found {2}, wanted {3} (allowed difference {4:e2})", i,
                           reference::placeText(worstAt, a->shape), reference::numberText(a->reals[worstAt]),
                           reference::numberText(b->reals[worstAt]), allowed);
  }
  return "";
}

bool hasNaN(ArrayRef<RunValue> values) {
  return llvm::any_of(values, [](const RunValue &value) {
    const auto *tensor = std::get_if<Tensor>(&value);
    return tensor && llvm::any_of(tensor->reals, [](double x) { return std::isnan(x); });
  });
}

} // namespace tilewright::conformance
