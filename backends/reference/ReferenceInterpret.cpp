// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Interpreter.h"
#include "backends/reference/Passes.h"
#include "ir/check/Check.h"
#include "ir/tw/Tw.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tilewright::reference {

namespace {

struct ReferenceInterpret : PassWrapper<ReferenceInterpret, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReferenceInterpret)

  ReferenceInterpret() = default;
  ReferenceInterpret(const ReferenceInterpret &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "reference-interpret"; }
  StringRef getDescription() const final {
    return "Run the functions named test... and check what they assert; states that they take are empty";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<check::CheckDialect, tw::TwDialect>();
  }

  void runOnOperation() final {
    NoWeights none;
    FailureOr<std::unique_ptr<Interpreter>> interpreter = Interpreter::create(getOperation(), none, precision);
    if (failed(interpreter))
      return signalPassFailure();
    unsigned ran = 0;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      ArrayRef<Type> arguments = function.getArgumentTypes();
      if (!function.getName().starts_with("test") || !llvm::all_of(arguments, llvm::IsaPred<tw::StateType>))
        continue;
      ++ran;
      if (failed((*interpreter)->run(function.getName(), std::vector<RunValue>(arguments.size(), StateHandle()))))
        signalPassFailure();
    }
    if (ran == 0) {
      getOperation()->emitError("there is no function whose name starts with 'test' and that takes nothing but states");
      signalPassFailure();
    }
    markAllAnalysesPreserved();
  }

  Option<Precision> precision{*this, "precision", llvm::cl::desc("What floats are computed in"),
                              llvm::cl::init(Precision::F64),
                              llvm::cl::values(clEnumValN(Precision::F32, "f32", "single precision"),
                                               clEnumValN(Precision::F64, "f64", "double precision"))};
};

} // namespace

std::unique_ptr<Pass> createReferenceInterpretPass() { return std::make_unique<ReferenceInterpret>(); }

void registerReferencePasses() {
  registerPass(createReferenceLowerPass);
  registerPass(createReferenceInterpretPass);
}

} // namespace tilewright::reference
