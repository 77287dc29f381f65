// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The op built from C++: its shape rule gives the type, its reference is made of core ops.
#include "plugins/_template/MyTechnique.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>

using namespace tilewright;

TEST(Maxout, ReferenceIsMadeOfCoreOps) {
  mlir::MLIRContext context;
  context.loadDialect<my_technique::MyTechniqueDialect, mlir::func::FuncDialect>();
  mlir::OpBuilder builder(&context);
  mlir::Location loc = builder.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto input = mlir::RankedTensorType::get({mlir::ShapedType::kDynamic, 12}, builder.getF32Type());
  auto function = mlir::func::FuncOp::create(builder, loc, "f", builder.getFunctionType({input}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());

  auto maxout = my_technique::MaxoutOp::create(builder, loc, function.getArgument(0), /*pieces=*/3);
  EXPECT_EQ(maxout.getType().getShape(), llvm::ArrayRef<int64_t>({mlir::ShapedType::kDynamic, 4}));

  auto lowered = maxout.lowerToReference(builder);
  ASSERT_TRUE(succeeded(lowered));
  ASSERT_EQ(lowered->size(), 1u);
  EXPECT_EQ(lowered->front().getType(), maxout.getType());
  unsigned maxima = 0;
  function.walk([&](mlir::Operation *op) { maxima += mlir::isa<tw::MaximumOp>(op); });
  EXPECT_EQ(maxima, 2u);
}
