// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-note-windows: how far back states are read, as long as the ops that read them are there to say it.
#include "passes/tile/Passes.h"

#include "ir/tw/StateReach.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tilewright {

namespace {

class NoteWindowsPass : public PassWrapper<NoteWindowsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NoteWindowsPass)
  StringRef getArgument() const final { return "tile-note-windows"; }
  StringRef getDescription() const final { return "marks states with how many of a sequence's last tokens are read"; }

  void runOnOperation() override {
    Builder b(&getContext());
    llvm::DenseSet<StringRef> called;
    getOperation().walk([&](func::CallOp call) { called.insert(call.getCallee()); });
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || called.contains(function.getSymName()))
        continue;
      for (BlockArgument argument : function.getArguments())
        if (auto state = dyn_cast<tw::StateType>(argument.getType()); state && !state.getGroup())
          // A state that nobody reads has no keys to keep; its own token is as good as none.
          if (std::optional<int64_t> reach = tw::stateReach(argument))
            function.setArgAttr(argument.getArgNumber(), "tw.window",
                                b.getI64IntegerAttr(std::max<int64_t>(*reach, 1)));
    }
  }
};

} // namespace

std::unique_ptr<Pass> createTileNoteWindowsPass() { return std::make_unique<NoteWindowsPass>(); }

} // namespace tilewright
