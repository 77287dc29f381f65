// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-lower-by-reference: technique ops without a kernel form become the core ops that define them.
#include "passes/tile/KernelFormPass.h"
#include "passes/tile/Passes.h"

#include "ir/interfaces/Decompose.h"
#include "passes/api/Receipts.h"

using namespace mlir;

namespace tilewright {

namespace {

class LowerByReferencePass : public KernelFormPass<LowerByReferencePass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerByReferencePass)
  LowerByReferencePass() = default;
  LowerByReferencePass(StringRef shapeClass, StringRef numerics, StringRef kvType, ArrayRef<std::string> ops)
      : KernelFormPass(shapeClass, numerics, kvType) {
    withoutKernels = ops;
  }
  LowerByReferencePass(const LowerByReferencePass &other) : KernelFormPass(other) {
    withoutKernels = ArrayRef<std::string>(other.withoutKernels);
  }

  StringRef getArgument() const final { return "tile-lower-by-reference"; }
  StringRef getDescription() const final {
    return "lowers technique ops that have no kernel form through their reference form";
  }

  void runOnOperation() override {
    FailureOr<KernelForm> form = wantedForm();
    if (failed(form))
      return signalPassFailure();
    for (unsigned round = 0;; ++round) {
      RowSymbols rows(getOperation());
      SmallVector<std::pair<ReferenceLowering, std::string>> ops;
      getOperation().walk([&](ReferenceLowering op) {
        std::string reason = reasonAgainstKernel(op, *form, rows);
        if (!reason.empty())
          ops.push_back({op, reason});
      });
      if (ops.empty())
        return;
      if (round == maxDecompositions) {
        ops.front().first->emitOpError("still stands after ")
            << maxDecompositions << " rounds of reference lowerings; they do not end in ops with kernel forms";
        return signalPassFailure();
      }
      for (auto &[op, reason] : ops) {
        StringRef name = op->getName().getStringRef();
        receipt::done(op, getArgument(), "reference_form", "compiled by its reference lowering: " + name + " " + reason,
                      {{"op", name.str()}});
        if (failed(decompose(op)))
          return signalPassFailure();
      }
    }
  }

private:
  /// Why `op` cannot be one of a kernel's ops; empty when it can. Builds its kernel in a module that is thrown away.
  std::string reasonAgainstKernel(Operation *op, const KernelForm &form, const RowSymbols &rows) {
    if (llvm::is_contained(withoutKernels, op->getName().getStringRef().str()))
      return "is not to use its kernel form";
    if (!isa<WholeKernel>(op) && !(isa<LoopMapped>(op) && isa<TileLowering>(op)))
      return "has no kernel form";
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(op->getLoc());
    OpBuilder b(scratch->getBodyRegion());
    auto function = func::FuncOp::create(b, op->getLoc(), "scratch",
                                         b.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
    b.setInsertionPointToStart(function.addEntryBlock());
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (StringRef name = rows.of(operand); !name.empty()) {
        SmallVector<Attribute> dims;
        for (int64_t extent : cast<RankedTensorType>(operand.getType()).getShape())
          dims.push_back(ShapedType::isDynamic(extent) ? Attribute(b.getStringAttr(name))
                                                       : b.getI64IntegerAttr(extent));
        function.setArgAttr(i, "tw.dims", b.getArrayAttr(dims));
      }
    IRMapping mapping;
    mapping.map(op->getOperands(), function.getArguments());
    func::ReturnOp::create(b, op->getLoc(), b.clone(*op, mapping)->getResults());

    std::string reason;
    ScopedDiagnosticHandler quiet(&getContext(), [&](Diagnostic &diagnostic) {
      if (reason.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
        reason = diagnostic.str();
      return success();
    });
    SymbolTable symbols(*scratch);
    RowSymbols own(*scratch);
    FailureOr<KernelGroups> groups = formKernelGroups(function, own);
    bool built = succeeded(groups);
    if (built)
      for (const auto &group : groups->groups) {
        KernelFunction kernel(symbols, own, op->getLoc(), "scratch_kernel");
        built &= succeeded(group->kind == KernelGroup::Kind::Whole
                               ? buildWholeKernel(group->ops.front(), form, kernel)
                               : buildGroupKernel(*group, *groups, form.shapeClass, kernel));
      }
    if (built)
      return {};
    StringRef text = reason;
    text.consume_front(("'" + op->getName().getStringRef() + "' op ").str());
    return text.empty() ? "has a kernel form that fails without a reason" : text.str();
  }

  ListOption<std::string> withoutKernels{*this, "without-kernels",
                                         llvm::cl::desc("Ops, by name, whose kernel forms are not used")};
};

} // namespace

std::unique_ptr<Pass> createTileLowerByReferencePass(StringRef shapeClass, StringRef numerics, StringRef kvType,
                                                     ArrayRef<std::string> withoutKernels) {
  return std::make_unique<LowerByReferencePass>(shapeClass, numerics, kvType, withoutKernels);
}

} // namespace tilewright
