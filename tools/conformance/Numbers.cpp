// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Numbers.h"

#include "llvm/Support/Format.h"
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

static std::string place(int64_t position, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; position /= shape[d])
    index[d] = position % shape[d];
  return "[" + llvm::join(llvm::map_range(index, [](int64_t i) { return std::to_string(i); }), ", ") + "]";
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t i) { return std::to_string(i); }), ", ") + "]";
}

/// Enough digits to tell two f32 apart.
static std::string digits(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", number);
  return text;
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
        return llvm::formatv("result {0} at {1}: found {2}, wanted {3}", i, place(k, a->shape), a->integers[k],
                             b->integers[k]);
    double largest = 0, worst = 0;
    int64_t worstAt = -1;
    for (double number : b->reals)
      if (std::isfinite(number))
        largest = std::max(largest, std::fabs(number));
    double allowed = bound.absolute + bound.relative * largest;
    for (int64_t k = 0; k < static_cast<int64_t>(a->reals.size()); ++k) {
      double x = a->reals[k], y = b->reals[k];
      if (x == y || (std::isnan(x) && std::isnan(y)))
        continue;
      double error = std::isfinite(x) && std::isfinite(y) ? std::fabs(x - y) : HUGE_VAL;
      if (error > allowed && error > worst) {
        worst = error;
        worstAt = k;
      }
    }
    if (worstAt >= 0)
      return llvm::formatv("result {0} at {1}: found {2}, wanted {3} (allowed difference {4:e2})", i,
                           place(worstAt, a->shape), digits(a->reals[worstAt]), digits(b->reals[worstAt]), allowed);
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
