// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/StepResults.h"

using namespace mlir;

namespace tilewright::tw {

StringRef resultName(func::FuncOp function, unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, "tw.name");
  return name ? name.getValue() : StringRef();
}

FailureOr<StepResults> stepResults(func::FuncOp step) {
  SmallVector<unsigned> tensors;
  for (auto [i, type] : llvm::enumerate(step.getResultTypes()))
    if (isa<RankedTensorType>(type))
      tensors.push_back(i);
  if (tensors.empty())
    return step.emitError("the step function returns no tensor; wanted logits [rows, vocabulary]");
  StepResults results;
  auto *logits = tensors.begin();
  if (tensors.size() > 1)
    logits = llvm::find_if(tensors, [&](unsigned i) { return resultName(step, i) == "logits"; });
  if (logits == tensors.end())
    return step.emitError("the step function returns ")
           << tensors.size() << " tensors, none of them named 'logits'; wanted one of that name";
  results.logits = *logits;
  tensors.erase(logits);
  for (unsigned i : tensors)
    if (resultName(step, i).empty())
      return step.emitError("result ") << i << " of the step function has no name; wanted one for each output";
  results.outputs = std::move(tensors);
  return results;
}

} // namespace tilewright::tw
