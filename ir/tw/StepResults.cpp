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
  StepResults results;
  auto *logits = llvm::find_if(tensors, [&](unsigned i) {
    return resultName(step, i) == "logits" || (tensors.size() == 1 && resultName(step, i).empty());
  });
  if (logits != tensors.end()) {
    results.logits = *logits;
    tensors.erase(logits);
  }
  for (unsigned i : tensors)
    if (resultName(step, i).empty())
      return step.emitError("result ") << i << " of the step function has no name; wanted one for each output";
  results.outputs = std::move(tensors);
  return results;
}

} // namespace tilewright::tw
