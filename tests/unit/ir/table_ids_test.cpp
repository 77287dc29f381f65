// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices into tables: decompositions that make what they are of (no walk over reference lowerings goes on for ever),
// and constants outside of their table.
#include "ir/tw/TableIds.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "tests/unit/support/Replaced.h"

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

TEST(TableIds, ConstantsOutsideOfTheirTableAreErrors) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, tw::TwDialect>();
  auto said = [&](const std::string &id) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(test::replaced(R"(
      func.func @row(%t: tensor<7x4xf32>, %i: tensor<3xi32>) -> tensor<3x4xf32> {
        %y = tw.gather %t, %i : tensor<7x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
        return %y : tensor<3x4xf32>
      }
      func.func @main(%t: tensor<7x4xf32>) -> (tensor<3x1x4xf32>, tensor<3x4xf32>) {
        %i = tw.constant dense<[0, ID, 3]> : tensor<3xi32>
        %r = tw.reshape %i : tensor<3xi32> -> tensor<3x1xi32>
        %y = tw.gather %t, %r : tensor<7x4xf32>, tensor<3x1xi32> -> tensor<3x1x4xf32>
        %z = func.call @row(%t, %i) : (tensor<7x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
        return %y, %z : tensor<3x1x4xf32>, tensor<3x4xf32>
      })",
                                                                              "ID", id),
                                                               &context);
    EXPECT_TRUE(module);
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { text += diagnostic.str() + "\n"; });
    EXPECT_EQ(succeeded(tw::tableIds(*module, "main")), text.empty());
    return text;
  };
  EXPECT_EQ(said("6"), "");
  for (const std::string id : {"7", "-1", "2147483647"}) {
    const std::string index = " op has the constant index " + id + " into a table of 7 rows\n";
    EXPECT_EQ(said(id), "'tw.gather'" + index + "'func.call'" + index);
  }
}

} // namespace
