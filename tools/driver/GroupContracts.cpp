// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/GroupContracts.h"

#include "ir/tw/Numerics.h"

#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

using namespace mlir;

namespace tilewright::driver {
namespace {

/// One rounding to f32, of the inputs as of the result.
constexpr double kRounding = 1e-6;

class Groups {
public:
  Groups(ModuleOp graph, const DispatchTrace &trace, StringRef numerics) : numerics(numerics) {
    for (const TracedDispatch &dispatch : trace.dispatches)
      for (std::optional<ValueTag> tag : dispatch.tags)
        if (tag)
          madeBy[*tag] = dispatch.op;
    graph.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (std::optional<ValueTag> tag = tagOf(result); tag && madeBy.contains(*tag))
          results[*tag] = describe(result, *tag);
    });
  }

  std::map<ValueTag, GroupResult> results;

private:
  /// The ops before `op` whose results are not boundaries of another dispatch than `group`, and `op`, in order.
  void collect(Operation *op, Operation *group, llvm::SetVector<Operation *> &ops) {
    if (ops.contains(op))
      return;
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || isa<func::CallOp, ml_program::GlobalLoadConstOp>(producer))
        continue;
      std::optional<ValueTag> tag = tagOf(operand);
      if (auto made = tag ? madeBy.find(*tag) : madeBy.end(); made != madeBy.end() && made->second != group)
        continue;
      collect(producer, group, ops);
    }
    ops.insert(op);
  }

  GroupResult describe(Value value, ValueTag tag) {
    llvm::SetVector<Operation *> ops;
    collect(value.getDefiningOp(), madeBy[tag], ops);
    GroupResult result{value, {0.0, kRounding}, {}};
    for (Operation *op : ops) {
      NumericsBound bound = numericsBoundOf(op, numerics);
      result.bound.absolute += bound.absolute;
      result.bound.relative += bound.relative;
      if ((bound.absolute == 0 && bound.relative == 0) && op != value.getDefiningOp())
        continue;
      result.ops += (result.ops.empty() ? "" : " + ") + op->getName().getStringRef().str();
    }
    return result;
  }

  StringRef numerics;
  std::map<ValueTag, Operation *> madeBy;
};

} // namespace

std::map<ValueTag, GroupResult> groupResults(ModuleOp graph, const DispatchTrace &trace, StringRef numerics) {
  return std::move(Groups(graph, trace, numerics).results);
}

} // namespace tilewright::driver
