// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/CheckOps.h"

#include "backends/reference/Ops.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace tilewright::reference {

namespace {

/// "[1, 2]" of a row-major position.
std::string place(int64_t position, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; position /= shape[d])
    index[d] = position % shape[d];
  std::string text = "[";
  for (auto [i, n] : llvm::enumerate(index))
    text += (i ? ", " : "") + std::to_string(n);
  return text + "]";
}

std::string element(const Tensor &tensor, int64_t i) {
  if (!tensor.isFloat)
    return std::to_string(tensor.integers[i]);
  constexpr int kDigits = 9; // tell two floats apart
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*g", kDigits, tensor.reals[i]);
  return text;
}

LogicalResult expectAll(Operation *op, const Tensor &found, const Tensor &wanted,
                        llvm::function_ref<bool(int64_t)> isRight) {
  if (found.shape != wanted.shape)
    return op->emitOpError("found shape ") << text(found.shape) << ", wanted " << text(wanted.shape);
  int64_t wrong = 0, first = 0;
  for (int64_t i = 0; i < found.size(); ++i) {
    if (isRight(i))
      continue;
    if (wrong++ == 0)
      first = i;
  }
  if (wrong == 0)
    return success();
  return op->emitOpError("found ") << wrong << " of " << found.size() << " elements wrong; the first, at "
                                   << place(first, found.shape) << ", is " << element(found, first) << ", wanted "
                                   << element(wanted, first);
}

bool isSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

} // namespace

LogicalResult evaluateExpectation(check::ExpectEqOp op, const Tensor &found, const Tensor &wanted) {
  return expectAll(op, found, wanted, [&](int64_t i) {
    return found.isFloat ? isSame(found.reals[i], wanted.reals[i]) : found.integers[i] == wanted.integers[i];
  });
}

LogicalResult evaluateExpectation(check::ExpectCloseOp op, const Tensor &found, const Tensor &wanted) {
  double largest = 0;
  for (double x : wanted.reals)
    if (std::isfinite(x))
      largest = std::fmax(largest, std::fabs(x));
  double bound = op.getAbsolute().convertToDouble() + op.getRelative().convertToDouble() * largest;
  return expectAll(op, found, wanted, [&](int64_t i) {
    return isSame(found.reals[i], wanted.reals[i]) || std::fabs(found.reals[i] - wanted.reals[i]) <= bound;
  });
}

} // namespace tilewright::reference
