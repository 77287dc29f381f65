// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/TableIds.h"

#include "ir/interfaces/Decompose.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

bool takesIds(ReferenceLowering op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) { return getElementTypeOrSelf(type).isInteger(32); });
}

class Tables {
public:
  explicit Tables(ModuleOp module) : module(module) {}

  const SmallVector<TableIds> &of(func::FuncOp function) {
    auto [known, isNew] = found.try_emplace(function);
    if (!isNew)
      return known->second;
    SmallVector<TableIds> tables;
    auto add = [&](Operation *user, Value ids, int64_t rows) {
      if (ShapedType::isDynamic(rows))
        return;
      while (isa_and_present<ReshapeOp, TransposeOp, BroadcastOp>(ids.getDefiningOp()))
        ids = ids.getDefiningOp()->getOperand(0);
      auto argument = dyn_cast<BlockArgument>(ids);
      if (argument && argument.getOwner() == &function.front())
        tables.push_back({argument.getArgNumber(), rows});
      else if (auto constant = ids.getDefiningOp<ConstantOp>())
        check(user, constant, rows);
    };
    function.walk([&](Operation *op) {
      if (auto gather = dyn_cast<GatherOp>(op)) {
        add(op, gather.getIds(), gather.getTable().getType().getDimSize(gather.getBatchDims()));
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        if (callee && !callee.isExternal())
          for (TableIds inner : of(callee))
            add(op, call.getOperand(inner.argument), inner.rows);
      }
    });
    return found[function] = std::move(tables);
  }

  bool constantsFit = true;

private:
  void check(Operation *user, ConstantOp ids, int64_t rows) {
    for (const APInt &id : ids.getValue().getValues<APInt>())
      if (id.isNegative() || id.getSExtValue() >= rows) {
        user->emitOpError("has the constant index ") << id.getSExtValue() << " into a table of " << rows << " rows";
        constantsFit = false;
        return;
      }
  }

  ModuleOp module;
  llvm::DenseMap<func::FuncOp, SmallVector<TableIds>> found;
};

} // namespace

FailureOr<OwningOpRef<ModuleOp>> withIdsInTheOpen(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(decomposeAll(*copy, takesIds)))
    return failure();
  return copy;
}

FailureOr<SmallVector<TableIds>> tableIds(ModuleOp module, StringRef name) {
  FailureOr<OwningOpRef<ModuleOp>> copy = withIdsInTheOpen(module);
  if (failed(copy))
    return failure();
  auto function = (*copy)->lookupSymbol<func::FuncOp>(name);
  if (!function || function.isExternal())
    return SmallVector<TableIds>();
  Tables tables(**copy);
  SmallVector<TableIds> ids = tables.of(function);
  if (!tables.constantsFit)
    return failure();
  return ids;
}

} // namespace tilewright::tw
