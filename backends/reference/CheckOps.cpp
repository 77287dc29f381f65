// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/CheckOps.h"

#include "backends/reference/Compare.h"
#include "backends/reference/Ops.h"

using namespace mlir;

namespace tilewright::reference {

namespace {

std::string element(const Tensor &tensor, int64_t i) {
  return tensor.isFloat ? numberText(tensor.reals[i]) : std::to_string(tensor.integers[i]);
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
                                   << placeText(first, found.shape) << ", is " << element(found, first) << ", wanted "
                                   << element(wanted, first);
}

} // namespace

LogicalResult evaluateExpectation(check::ExpectEqOp op, const Tensor &found, const Tensor &wanted) {
  return expectAll(op, found, wanted, [&](int64_t i) {
    return found.isFloat ? distance(found.reals[i], wanted.reals[i]) == 0.0 : found.integers[i] == wanted.integers[i];
  });
}

LogicalResult evaluateExpectation(check::ExpectCloseOp op, const Tensor &found, const Tensor &wanted) {
  double bound =
      op.getAbsolute().convertToDouble() + op.getRelative().convertToDouble() * largestMagnitude(wanted.reals);
  return expectAll(op, found, wanted, [&](int64_t i) { return distance(found.reals[i], wanted.reals[i]) <= bound; });
}

} // namespace tilewright::reference
