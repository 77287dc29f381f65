// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/Verify.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright {

LogicalResult verifyGiven(Operation *op, StringRef interface, ArrayRef<Value> values) {
  if (values.size() != op->getNumResults())
    return op->emitOpError("has a ") << interface << " that gives " << values.size()
                                     << " values, wanted one for each of its " << op->getNumResults() << " results";
  for (auto [i, value] : llvm::enumerate(values))
    if (!value)
      return op->emitOpError("has a ") << interface << " that gives no value for result #" << i;
  return success();
}

LogicalResult verifyGivenTypes(Operation *op, StringRef interface, ArrayRef<Value> values) {
  if (failed(verifyGiven(op, interface, values)))
    return failure();
  for (auto [i, value] : llvm::enumerate(values))
    if (value.getType() != op->getResult(i).getType())
      return op->emitOpError("has a ") << interface << " of type " << value.getType() << " for result #" << i
                                       << " of type " << op->getResult(i).getType();
  return success();
}

namespace {

/// Verifies the entries of a loop map one after the other, and what they say of the loops together.
class LoopMapVerifier {
public:
  LoopMapVerifier(Operation *op, const LoopMap &map) : op(op), map(map), loops(map.loops) {}

  LogicalResult run() {
    if (failed(verifyAll("operand", op->getOperandTypes(), map.operands)) ||
        failed(verifyAll("result", op->getResultTypes(), map.results)))
      return failure();
    for (auto [number, loop] : llvm::enumerate(loops))
      if (loop.follower.empty())
        return error() << "of " << map.loops << " loops, and no dimension follows loop " << number;
    return success();
  }

private:
  /// The first dimension that follows a loop, in words, and the steps that a static one gives it.
  struct Loop {
    std::string follower, counter;
    int64_t steps = 0;
  };

  InFlightDiagnostic error() { return op->emitOpError("has a loop map "); }

  LogicalResult verifyAll(StringRef kind, TypeRange types, ArrayRef<LoopDims> all) {
    if (all.size() != types.size())
      return error() << "of " << all.size() << " " << kind << "s, wanted one entry for each of its " << types.size();
    for (auto [i, entry] : llvm::enumerate(llvm::zip_equal(types, all))) {
      auto [type, dims] = entry;
      if (failed(verify((kind + " #" + Twine(i)).str(), dyn_cast<RankedTensorType>(type), dims, kind == "result")))
        return failure();
    }
    return success();
  }

  LogicalResult verify(const std::string &place, RankedTensorType type, const LoopDims &dims, bool isResult) {
    bool isCut = llvm::any_of(dims, [](LoopDim dim) { return dim.loop != LoopDim::kWhole; });
    if (!isCut && !isResult)
      return success();
    if (!type)
      return error() << "in which " << place << " has " << dims.size() << " dimensions, and it is no ranked tensor";
    if (static_cast<int64_t>(dims.size()) != type.getRank())
      return error() << "in which " << place << " has " << dims.size() << " dimensions, wanted the " << type.getRank()
                     << " of " << type;
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (dim.loop == LoopDim::kWhole)
        continue;
      std::string dimension = "dimension " + std::to_string(d) + " of " + place;
      if (dim.loop < 0 || dim.loop >= map.loops)
        return error() << "of " << map.loops << " loops, in which " << dimension << " follows loop " << dim.loop;
      if (dim.factor < 1)
        return error() << "in which " << dimension << " follows loop " << dim.loop << " with factor " << dim.factor;
      Loop &loop = loops[dim.loop];
      if (loop.follower.empty())
        loop.follower = dimension;
      if (type.isDynamicDim(d))
        continue;
      int64_t steps = llvm::divideCeilSigned(type.getDimSize(d), dim.factor);
      if (loop.counter.empty()) {
        loop.counter = dimension;
        loop.steps = steps;
      } else if (steps != loop.steps) {
        return error() << "in which loop " << dim.loop << " has " << loop.steps << " steps by " << loop.counter
                       << " and " << steps << " by " << dimension;
      }
    }
    return success();
  }

  Operation *op;
  const LoopMap &map;
  SmallVector<Loop> loops;
};

} // namespace

LogicalResult verifyLoopMap(Operation *op, const LoopMap &map) { return LoopMapVerifier(op, map).run(); }

} // namespace tilewright
