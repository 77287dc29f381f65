// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Contract.h"

#include "ir/tw/Numerics.h"
#include "tools/conformance/Numbers.h"

#include <cmath>
#include <cstdio>

using namespace mlir;

namespace tilewright::conformance {

using reference::RunValue;
using reference::Tensor;

namespace {

/// A larger relative bound hides a term that was left out. Integer products of 8 bits, the roughest arithmetic that
/// there is, stay within 0.08.
constexpr double kLargestRelative = 0.1;

std::string text(double number) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%g", number);
  return buffer;
}

std::string text(NumericsBound bound) {
  std::string relative = text(bound.relative) + " of the largest";
  return bound.absolute > 0 ? text(bound.absolute) + " and " + relative : relative;
}

void widen(NumericsBound &bound, NumericsBound by) {
  bound.absolute = std::max(bound.absolute, by.absolute);
  bound.relative = std::max(bound.relative, by.relative);
}

} // namespace

NumericsBound boundOf(const Program &program, StringRef numerics) {
  NumericsBound bound = {1e-7, 1e-6};
  program.function()->walk([&](Operation *op) { widen(bound, numericsBoundOf(op, numerics)); });
  return bound;
}

std::string boundText(const Environment &environment, StringRef op) {
  NumericsBound bound;
  for (const Program *program : environment.programsOf(op))
    widen(bound, boundOf(*program, "precise"));
  return text(bound);
}

std::string contractFault(const Environment &environment, StringRef op) {
  std::string fault;
  for (const Program *program : environment.programsOf(op))
    program->function()->walk([&](NumericsContract contract) {
      if (contract->getName().getStringRef() != op)
        return;
      for (StringRef mode : {"precise", "fast"}) {
        NumericsBound bound = contract.getNumericsBound(mode);
        auto isNone = [](double number) { return !std::isfinite(number) || number < 0; };
        if (!fault.empty())
          return;
        std::string where = "'" + program->name() + "': its NumericsContract (" + mode.str() + ") allows ";
        if (isNone(bound.absolute) || isNone(bound.relative))
          fault = where + text(bound.absolute) + " and " + text(bound.relative) +
                  " of the largest, wanted finite numbers that are not negative";
        else if (bound.relative > kLargestRelative)
          fault = where + text(bound) + " element, wanted at most " + text(kLargestRelative) +
                  ": a larger bound hides terms that were left out";
      }
    });
  return fault;
}

void ContractTrial::add(ArrayRef<RunValue> wanted, NumericsBound bound) {
  std::vector<RunValue> zeros(wanted.begin(), wanted.end());
  bool isChanged = false;
  for (RunValue &value : zeros)
    if (auto *tensor = std::get_if<Tensor>(&value))
      for (double &number : tensor->reals) {
        isChanged |= number != 0;
        number = 0;
      }
  if (!isChanged)
    return;
  ++tried;
  passed += difference(zeros, wanted, bound).empty();
}

} // namespace tilewright::conformance
