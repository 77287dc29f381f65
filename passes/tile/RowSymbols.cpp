// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/tile/RowSymbols.h"

#include "ir/tw/RowCount.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tilewright {

static constexpr StringLiteral kRows = "N";

RowSymbols::RowSymbols(ModuleOp module) : module(module) {
  module.walk([&](func::CallOp call) {
    if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
      firstCaller.try_emplace(callee, call);
  });
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      find(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          find(argument);
  });
}

StringRef RowSymbols::find(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() == 0 || !type.isDynamicDim(0))
    return {};
  if (auto it = known.find(value); it != known.end())
    return it->second;
  StringRef name = compute(value);
  known[value] = name;
  return name;
}

StringRef RowSymbols::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!function)
      return kRows;
    // Kernels name dimensions in tw.dims, functions of a graph in tw.symbols.
    for (StringRef attribute : {"tw.dims", "tw.symbols"})
      if (auto dims = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), attribute))
        if (!dims.empty())
          if (auto name = dyn_cast<StringAttr>(dims[0]))
            return name.getValue();
    if (Operation *call = firstCaller.lookup(function))
      return find(call->getOperand(argument.getArgNumber()));
    return kRows;
  }
  Operation *op = value.getDefiningOp();
  if (auto gather = dyn_cast<tw::GatherOp>(op))
    return find(gather.getIds());
  if (auto gather = dyn_cast<tw::PackedGatherOp>(op))
    return find(gather.getIds());
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return kRows;
    return find(callee.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
  }
  if (auto reshape = dyn_cast<tw::ReshapeOp>(op)) {
    // [N, 9, 64] has 9 rows of [N * 9, 64] for each of its own.
    auto rowElements = [](RankedTensorType type) {
      int64_t elements = type.getRank() > 0 && type.isDynamicDim(0) ? 1 : 0;
      for (int64_t extent : type.getShape().drop_front(std::min<int64_t>(1, type.getRank())))
        elements = ShapedType::isDynamic(extent) ? 0 : elements * extent;
      return elements;
    };
    tw::RowCount rows = tw::RowCount::parse(find(reshape.getInput()));
    int64_t from = rowElements(reshape.getInput().getType()), to = rowElements(reshape.getType());
    if (from > 0 && to > 0 && from != to && !rows.base.empty() && rows.factor * from % to == 0) {
      rows.factor = rows.factor * from / to;
      return StringAttr::get(value.getContext(), rows.name()).getValue();
    }
  }
  for (Value operand : op->getOperands())
    if (StringRef name = find(operand); !name.empty())
      return name;
  return kRows;
}

} // namespace tilewright
