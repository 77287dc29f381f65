// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The op built from C++: its loops leave heads whole, its reference is made of core ops.
#include "DifferentialAttention.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>

using namespace tilewright;

TEST(Combine, LoopsAndReference) {
  mlir::MLIRContext context;
  context.loadDialect<differential_attention::DifferentialAttentionDialect, mlir::func::FuncDialect>();
  mlir::OpBuilder builder(&context);
  mlir::Location loc = builder.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto halves = mlir::RankedTensorType::get({2, 3, mlir::ShapedType::kDynamic, 8}, builder.getF32Type());
  auto lambda = mlir::RankedTensorType::get({3}, builder.getF32Type());
  auto function = mlir::func::FuncOp::create(builder, loc, "f", builder.getFunctionType({halves, halves, lambda}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto combine = differential_attention::CombineOp::create(
      builder, loc, halves, function.getArgument(0), function.getArgument(1), function.getArgument(2), mlir::Value(),
      builder.getF64FloatAttr(1e-5), builder.getF64FloatAttr(0.2));

  auto loops = combine.getLoopMap();
  ASSERT_TRUE(succeeded(loops));
  EXPECT_EQ(loops->loops, 2u); // B and T
  ASSERT_EQ(loops->results.front().size(), 4u);
  EXPECT_EQ(loops->results.front()[1].loop, LoopDim::kWhole);
  EXPECT_EQ(loops->results.front()[2].loop, 1);
  EXPECT_EQ(loops->results.front()[3].loop, LoopDim::kWhole);

  auto lowered = combine.lowerToReference(builder);
  ASSERT_TRUE(succeeded(lowered));
  EXPECT_EQ(lowered->front().getType(), combine.getType());
  function.walk([&](mlir::Operation *op) {
    if (op != function && op != combine)
      EXPECT_EQ(op->getName().getDialectNamespace(), "tw");
  });
}
