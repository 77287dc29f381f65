// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-form-kernels: the body of each function becomes a program that dispatches kernels.
#include "passes/tile/KernelFormPass.h"
#include "passes/tile/Passes.h"

using namespace mlir;

namespace tilewright {

namespace {

constexpr llvm::StringLiteral passFlag = "tile-form-kernels";

/// Rewrites one function: dispatches in place of groups, in an order that respects what they read.
class Program {
public:
  Program(func::FuncOp function, SymbolTable &symbols, RowSymbols &rows, const KernelForm &form)
      : function(function), symbols(symbols), rows(rows), form(form), builder(function.front().getTerminator()) {}

  LogicalResult run();

private:
  /// Emits what `op` belongs to, after everything that it reads.
  LogicalResult place(Operation *op);
  LogicalResult emit(const KernelGroup &group);
  /// An op that stays in the program.
  LogicalResult keep(Operation *op);
  /// The program's value for `value`; a view that only kernels recompute is cloned here for who else reads it.
  Value mapped(Value value);
  std::string kernelName(const KernelGroup &group);

  func::FuncOp function;
  SymbolTable &symbols;
  RowSymbols &rows;
  const KernelForm &form;
  OpBuilder builder;
  KernelGroups groups;
  llvm::DenseMap<Value, Value> values;
  llvm::SmallPtrSet<const void *, 32> placed;
  unsigned kernels = 0;
};

std::string Program::kernelName(const KernelGroup &group) {
  std::string name = (function.getSymName() + "_" + Twine(kernels++)).str();
  StringRef last;
  for (Operation *op : group.ops) {
    StringRef own = op->getName().stripDialect();
    if (own == last || isa<tw::ReshapeOp>(op))
      continue;
    name += "_" + own.str();
    last = own;
  }
  return name;
}

Value Program::mapped(Value value) {
  if (Value known = values.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || !isView(op, groups))
    return value;
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return mapped(operand); });
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  return values[value] = clone->getResult(cast<OpResult>(value).getResultNumber());
}

LogicalResult Program::emit(const KernelGroup &group) {
  KernelFunction kernel(symbols, rows, group.ops.front()->getLoc(), kernelName(group));
  if (failed(group.kind == KernelGroup::Kind::Whole ? buildWholeKernel(group.ops.front(), form, kernel)
                                                    : buildGroupKernel(group, groups, form.shapeClass, kernel)))
    return failure();
  Operation *dispatch = kernel.dispatch(builder, [&](Value value) { return mapped(value); });
  for (auto [value, result] : llvm::zip_equal(kernel.results(), dispatch->getResults()))
    values[value] = result;
  return success();
}

LogicalResult Program::place(Operation *root) {
  // One step of the way from `root` to what it reads. A group may read another that begins behind it, and so on: the
  // way can be as long as the function.
  struct Step {
    Operation *op;
    KernelGroup *group; // null: `op` stands alone
    SmallVector<Operation *> producers;
    size_t next = 0;
  };
  SmallVector<Step> way;
  auto enter = [&](Operation *op) {
    KernelGroup *group = groups.groupOf.lookup(op);
    if (!placed.insert(group ? static_cast<const void *>(group) : op).second)
      return;
    Step &step = way.emplace_back(Step{op, group, {}});
    for (Operation *user : group ? group->ops.getArrayRef() : ArrayRef(op))
      for (Value operand : user->getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && !(group && group->ops.contains(producer)))
          step.producers.push_back(producer);
  };
  enter(root);
  while (!way.empty()) {
    Step &step = way.back();
    if (step.next < step.producers.size()) {
      enter(step.producers[step.next++]);
      continue;
    }
    if (failed(step.group ? emit(*step.group) : keep(step.op)))
      return failure();
    way.pop_back();
  }
  return success();
}

LogicalResult Program::keep(Operation *op) {
  if (isView(op, groups))
    return success();
  if (!op->hasTrait<OpTrait::IsTerminator>())
    op->moveBefore(function.front().getTerminator());
  for (OpOperand &operand : op->getOpOperands())
    operand.set(mapped(operand.get()));
  return success();
}

LogicalResult Program::run() {
  FailureOr<KernelGroups> formed = formKernelGroups(function, rows);
  if (failed(formed))
    return failure();
  groups = std::move(*formed);
  writeFusionReceipts(groups, passFlag);
  SmallVector<Operation *> original = llvm::map_to_vector(function.front(), [](Operation &op) { return &op; });
  for (Operation *op : original)
    if (failed(place(op)))
      return failure();
  for (Operation *op : llvm::reverse(original))
    if (groups.groupOf.contains(op) || isView(op, groups))
      op->erase();
  function->setAttr("tw.shape_class", builder.getStringAttr(form.shapeClass.name));
  return success();
}

class FormKernelsPass : public KernelFormPass<FormKernelsPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormKernelsPass)
  using KernelFormPass::KernelFormPass;

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "turns functions into programs that dispatch kernels on tiles"; }

  void runOnOperation() override {
    FailureOr<KernelForm> form = wantedForm();
    if (failed(form))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    RowSymbols rows(getOperation());
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr("tw.kernel") && !function->hasAttr("tw.shape_class"))
        functions.push_back(function);
    for (func::FuncOp function : functions) {
      if (!function.getBody().hasOneBlock()) {
        function.emitOpError("has several blocks, wanted one");
        return signalPassFailure();
      }
      if (failed(Program(function, symbols, rows, *form).run()))
        return signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createTileFormKernelsPass(StringRef shapeClass, StringRef numerics, StringRef kvType) {
  return std::make_unique<FormKernelsPass>(shapeClass, numerics, kvType);
}

} // namespace tilewright
