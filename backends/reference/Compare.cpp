// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Compare.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

namespace tilewright::reference {

double distance(double found, double wanted) {
  if (found == wanted || (std::isnan(found) && std::isnan(wanted)))
    return 0.0;
  return std::isfinite(found) && std::isfinite(wanted) ? std::fabs(found - wanted) : HUGE_VAL;
}

double largestMagnitude(llvm::ArrayRef<double> values) {
  double largest = 0.0;
  for (double value : values)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  return largest;
}

std::string placeText(int64_t position, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; position /= shape[d])
    index[d] = position % shape[d];
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(index, os);
  os << ']';
  return text;
}

std::string numberText(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", number);
  return text;
}

} // namespace tilewright::reference
