// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/AttentionForm.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright::tw {

AttentionOp coreAttention(Operation *op, TypeRange types, StringRef without) {
  OperationState state(op->getLoc(), AttentionOp::getOperationName());
  state.addOperands(op->getOperands());
  state.addTypes(types);
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != without)
      state.addAttribute(attribute.getName(), attribute.getValue());
  IRMapping mapping;
  for (Region &region : op->getRegions())
    region.cloneInto(state.addRegion(), mapping);
  return cast<AttentionOp>(Operation::create(state));
}

Operation *attentionAs(OpBuilder &builder, StringRef name, Operation *from, TypeRange types,
                       ArrayRef<NamedAttribute> more) {
  OperationState state(from->getLoc(), name);
  state.addOperands(from->getOperands());
  state.addTypes(types);
  state.addAttributes(from->getAttrDictionary().getValue());
  state.addAttributes(more);
  for (Region &region : from->getRegions())
    state.addRegion()->takeBody(region);
  return builder.create(state);
}

} // namespace tilewright::tw
