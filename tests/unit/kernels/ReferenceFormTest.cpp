// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each function of tests/e2e/Inputs/reference-forms.mlir, compiled, against the reference interpreter in f64.
#include "tests/unit/kernels/FunctionCase.h"
#include "tests/unit/kernels/Inputs.h"

using namespace tilewright;
using namespace tilewright::test;

TEST(ReferenceForm, AgreesWithTheReference) {
  std::string text = inputText("reference-forms.mlir");
  if (!hasDialects(text))
    GTEST_SKIP() << "a plugin of the functions is not built";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  ASSERT_TRUE(module);
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    SCOPED_TRACE(function.getSymName().str());
    FunctionOptions options;
    if (auto withheld = function->getAttrOfType<mlir::StringAttr>("test.without_kernel"))
      options.withoutKernels = {withheld.str()};
    Shapes shapes;
    bool narrow = false;
    for (mlir::Type type : function.getArgumentTypes()) {
      auto tensor = mlir::cast<mlir::RankedTensorType>(type);
      shapes.emplace_back(tensor.getShape().begin(), tensor.getShape().end());
      narrow |= tensor.getElementTypeBitWidth() < 32;
    }
    expectAgreement(*module, function.getSymName(), shapes, narrow ? 1e-2 : 1e-5, /*largestIndex=*/1000, options);
  }
}
