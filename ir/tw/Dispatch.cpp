// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::tw {

using namespace mlir;

LogicalResult DispatchOp::verify() {
  AffineMap chunks = getChunks();
  if (chunks.getNumDims() != 0 || chunks.getNumSymbols() != 4 || chunks.getNumResults() != 1) // (C2)
    return emitOpError("chunks has ") << chunks.getNumDims() << " dimensions, " << chunks.getNumSymbols()
                                      << " symbols and " << chunks.getNumResults() << " results, wanted 0, 4 and 1";
  return success();
}

// (C1)
LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("names kernel '") << getKernel() << "', which is no function of this module";
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    auto source = kernel.getArgAttrOfType<ArrayAttr>(i, "tw.source");
    if (!source)
      continue; // index arguments say "tw.symbol"
    auto fault = [&](const Twine &wanted) {
      return emitOpError("kernel '") << getKernel() << "' takes argument " << i << " from " << source << ", wanted "
                                     << wanted;
    };
    auto kind = source.empty() ? StringAttr() : dyn_cast<StringAttr>(source[0]);
    if (!kind)
      return fault("[kind, ...]");
    if (kind == "table") {
      auto table = source.size() == 2 ? dyn_cast<StringAttr>(source[1]) : StringAttr();
      StringRef name = table ? table.getValue() : StringRef();
      name.consume_front("source_");
      if (!llvm::is_contained({"tiles", "pages", "row_slots"}, name))
        return fault("a table: tiles, pages or row_slots, or source_ and one of these");
      continue;
    }
    bool isResult = kind == "result", isState = kind == "state";
    if (!isResult && !isState && kind != "operand")
      return fault("operand, result, state or table");
    auto number = source.size() == (isState ? 3u : 2u) ? dyn_cast<IntegerAttr>(source[1]) : IntegerAttr();
    int64_t count = isResult ? getOutputs().size() : getInputs().size();
    if (!number || number.getInt() < 0 || number.getInt() >= count)
      return fault("a number below " + Twine(count));
    if (!isState)
      continue;
    auto state = dyn_cast<StateType>(getInputs()[number.getInt()].getType());
    auto buffer = dyn_cast<IntegerAttr>(source[2]);
    if (!state || !buffer || buffer.getInt() < 0 || buffer.getInt() >= int64_t(state.getBuffers().size()))
      return fault("a buffer of a state operand");
  }
  return success();
}

} // namespace tilewright::tw
