// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decompositions that make what they are of: no walk over reference lowerings goes on for ever.
#include "ir/tw/TableIds.h"

#include "ir/interfaces/Interfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright;

namespace {

/// A sum of integers that is defined by itself.
struct Endless : ReferenceLowering::ExternalModel<Endless, arith::AddIOp> {
  FailureOr<SmallVector<Value>> lowerToReference(Operation *op, OpBuilder &builder) const {
    return SmallVector<Value>{builder.clone(*op)->getResult(0)};
  }
};

TEST(TableIds, AnOpThatIsDefinedByItselfIsAnError) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect>();
  arith::AddIOp::attachInterface<Endless>(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
      %y = arith.addi %x, %x : tensor<4xi32>
      return %y : tensor<4xi32>
    })",
                                                             &context);
  ASSERT_TRUE(module);
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { said += diagnostic.str(); });
  EXPECT_TRUE(failed(tw::tableIds(*module, "main")));
  EXPECT_EQ(said, "'arith.addi' op still stands after 16 rounds of reference lowerings; they do not end in core ops");
}

} // namespace
