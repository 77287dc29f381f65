// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiling by loop maps: what the ops of the graph level become on a tile.
#include "ir/interfaces/Tiling.h"

#include "ir/tw/Tw.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright;

namespace {

struct Tiling : testing::Test {
  Tiling() {
    DialectRegistry registry;
    registry.insert<affine::AffineDialect, arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                    tensor::TensorDialect, tw::TwDialect>();
    context.appendDialectRegistry(registry);
  }

  /// Parses a module and finds its op with TilingInterface.
  TilingInterface parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    TilingInterface found;
    if (module)
      module->walk([&](TilingInterface op) { found = op; });
    if (!found)
      ADD_FAILURE() << "no op to tile in " << text.str();
    return found;
  }
  SmallVector<OpFoldResult> fold(OpBuilder &b, ArrayRef<int64_t> values) {
    return llvm::map_to_vector(values, [&](int64_t v) -> OpFoldResult { return b.getIndexAttr(v); });
  }
  std::string text(Operation *op) {
    std::string out;
    llvm::raw_string_ostream(out) << *op;
    return out;
  }
  std::string types(Operation *op) {
    std::string out;
    llvm::raw_string_ostream stream(out);
    llvm::interleaveComma(op->getOperandTypes(), stream);
    stream << " -> ";
    llvm::interleaveComma(op->getResultTypes(), stream);
    return out;
  }
  /// Types of the op on the tile of result `number`, or "failed".
  std::string resultTile(TilingInterface op, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, unsigned number = 0) {
    OpBuilder b(op);
    auto tiled = op.generateResultTileValue(b, number, fold(b, offsets), fold(b, sizes));
    return failed(tiled) ? "failed" : types(tiled->tiledOps.front());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(Tiling, Elementwise) {
  TilingInterface op = parse("func.func @f(%x: tensor<?x64xf32>) { %0 = tw.add %x, %x : tensor<?x64xf32> return }");
  EXPECT_EQ(resultTile(op, {0, 32}, {16, 8}), "tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x8xf32>");
  OpBuilder b(op);
  auto domain = op.getIterationDomain(b);
  ASSERT_EQ(domain.size(), 2u);
  EXPECT_EQ(getConstantIntValue(domain[1].size), 64);
  EXPECT_EQ(op.getLoopIteratorTypes().size(), 2u);
  SmallVector<OpFoldResult> offsets, sizes;
  ASSERT_TRUE(succeeded(op.getIterationDomainTileFromOperandTiles(b, {0, 1}, {fold(b, {1, 2}), fold(b, {1, 2})},
                                                                  {fold(b, {3, 4}), fold(b, {3, 4})}, offsets, sizes)));
  EXPECT_EQ(getConstantIntValue(sizes[1]), 4);
  EXPECT_TRUE(failed(op.getIterationDomainTileFromOperandTiles(b, {0, 1}, {fold(b, {1, 2}), fold(b, {0, 2})},
                                                               {fold(b, {3, 4}), fold(b, {3, 4})}, offsets, sizes)));
}

TEST_F(Tiling, ReshapeSplits) {
  TilingInterface op = parse(
      "func.func @f(%x: tensor<?x576xf32>) { %0 = tw.reshape %x : tensor<?x576xf32> -> tensor<?x9x64xf32> return }");
  EXPECT_EQ(resultTile(op, {16, 3, 0}, {8, 3, 64}), "tensor<8x192xf32> -> tensor<8x3x64xf32>");
  EXPECT_EQ(resultTile(op, {16, 3, 0}, {8, 3, 32}), "failed") << "part of a head";
}

TEST_F(Tiling, ReshapeMerges) {
  TilingInterface op = parse(
      "func.func @f(%x: tensor<?x9x64xf32>) { %0 = tw.reshape %x : tensor<?x9x64xf32> -> tensor<?x576xf32> return }");
  EXPECT_EQ(resultTile(op, {16, 128}, {8, 64}), "tensor<8x1x64xf32> -> tensor<8x64xf32>");
  EXPECT_EQ(resultTile(op, {16, 32}, {8, 64}), "failed") << "not at a head";
}

TEST_F(Tiling, ReshapeThatMixesRows) {
  TilingInterface op =
      parse("func.func @f(%x: tensor<6x4xf32>) { %0 = tw.reshape %x : tensor<6x4xf32> -> tensor<4x6xf32> return }");
  EXPECT_EQ(resultTile(op, {0, 0}, {4, 6}), "failed");
  EXPECT_TRUE(op.getLoopIteratorTypes().empty());
}

TEST_F(Tiling, QuantizeRows) {
  TilingInterface op =
      parse("func.func @f(%x: tensor<?x64xf32>) { %0:3 = tw.quantize_rows %x block 32 : tensor<?x64xf32> -> "
            "tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xf32> return }");
  EXPECT_EQ(resultTile(op, {0, 32}, {16, 32}),
            "tensor<16x32xf32> -> tensor<16x32xi8>, tensor<16x1xf32>, tensor<16x1xf32>");
  EXPECT_EQ(resultTile(op, {0, 1}, {16, 1}, 1),
            "tensor<16x32xf32> -> tensor<16x32xi8>, tensor<16x1xf32>, tensor<16x1xf32>");
  EXPECT_EQ(resultTile(op, {0, 16}, {16, 32}), "failed") << "not at a block";
}

TEST_F(Tiling, PackedLinear) {
  TilingInterface op = parse("func.func @f(%x: tensor<?x64xf32>, %w: tensor<3x2x2048xi8>, %b: tensor<40xf32>) { "
                             "%0 = tw.packed_linear %x weight(%w : tensor<3x2x2048xi8>) bias(%b : tensor<40xf32>) "
                             "{element = f32} : tensor<?x64xf32> -> tensor<?x40xf32> return }");
  EXPECT_EQ(resultTile(op, {8, 16}, {4, 16}),
            "tensor<4x64xf32>, tensor<1x2x2048xi8>, tensor<16xf32> -> tensor<4x16xf32>");
  // The last group has 8 columns.
  EXPECT_EQ(resultTile(op, {8, 16}, {4, 24}),
            "tensor<4x64xf32>, tensor<2x2x2048xi8>, tensor<24xf32> -> tensor<4x24xf32>");
  EXPECT_EQ(resultTile(op, {8, 8}, {4, 16}), "failed");
  EXPECT_EQ(resultTile(op, {8, 16}, {4, 8}), "failed");
  OpBuilder b(op);
  EXPECT_EQ(getConstantIntValue(op.getIterationDomain(b)[1].size), 3);
}

/// Offsets of loops count as multiples when the loop's bounds and steps are.
TEST_F(Tiling, MultiplesOfLoops) {
  module = parseSourceString<ModuleOp>(R"(func.func @f(%n: index) {
    %c0 = arith.constant 0 : index
    %c48 = arith.constant 48 : index
    scf.for %i = %c0 to %n step %c48 {
      %a = affine.apply affine_map<(d0) -> (d0 + 32)>(%i)
      %b = affine.apply affine_map<(d0) -> (d0 + 8)>(%i)
      %s = affine.min affine_map<(d0) -> (48, 576 - d0)>(%i)
      %m = arith.muli %n, %c48 : index
      %d = arith.addi %m, %i : index
      "test.values"(%i, %a, %b, %s, %d, %n) : (index, index, index, index, index, index) -> ()
    }
    return
  })",
                                       ParserConfig([&] {
                                         context.allowUnregisteredDialects();
                                         return &context;
                                       }()));
  ASSERT_TRUE(bool(module));
  std::string found;
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() == "test.values")
      for (Value v : op->getOperands())
        found += isMultipleOf(OpFoldResult(v), 16) ? "y" : "n";
  });
  EXPECT_EQ(found, "yynyyn");
}

} // namespace
