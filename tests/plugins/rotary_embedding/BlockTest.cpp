// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block `rotary_embedding`: defaults, forms of its inputs, and what is said about wrong uses.
#include "plugins/rotary_embedding/RotaryEmbedding.h"
#include "tests/unit/support/BuiltBlock.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

class RotaryBlock : public BlockFixture<rotary_embedding::RotaryEmbeddingDialect> {
protected:
  RotaryBlock() { rotary_embedding::registerBlocks(blocks); }

  std::string built(const GivenOptions &options, ArrayRef<StringRef> types) {
    return BlockFixture::built("rotary_embedding", options, parseTypes(context, types));
  }
};

TEST_F(RotaryBlock, QueriesAndKeysByOneTable) {
  std::string text = built({{"dim", 8}}, {"tensor<2x4x3x8xf32>", "tensor<2x1x3x8xf32>"});
  EXPECT_TRUE(hasText(text, "-> (tensor<2x4x3x8xf32>, tensor<2x1x3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>)"));
  EXPECT_TRUE(hasText(text, "tw.constant dense<[0, 1, 2]> : tensor<3xi32>"));
  // The defaults: base 10000, half-split.
  EXPECT_TRUE(hasText(text, "rotary_embedding.tables %0 {dim = 8 : i64} : tensor<3xi32> -> tensor<3x8xf32>"));
  EXPECT_TRUE(hasText(text, "rotary_embedding.apply %arg1, %cosine, %sine : tensor<2x1x3x8xf32>, tensor<3x8xf32>"));
}

TEST_F(RotaryBlock, GivenPositionsAndUnknownLengths) {
  std::string text =
      built({{"dim", 8}, {"base", 500000}, {"interleaved", true}}, {"tensor<2x4x?x8xf32>", "tensor<2x?xi32>"});
  EXPECT_TRUE(hasText(
      text,
      R"(rotary_embedding.tables %arg1 {base = 5.000000e+05 : f64, dim = 8 : i64, layout = "interleaved"} : tensor<2x?xi32> -> tensor<2x?x8xf32>)"));
  EXPECT_TRUE(hasText(text, R"(rotary_embedding.apply %arg0, %cosine, %sine {layout = "interleaved"})"));
  EXPECT_TRUE(hasText(built({{"dim", 8}}, {"tensor<2x4x?x8xf32>"}), "tw.iota"));
}

TEST_F(RotaryBlock, WrongUses) {
  EXPECT_EQ(built({}, {"tensor<2x4x3x8xf32>"}),
            "block 'rotary_embedding': option dim is missing, wanted a whole number");
  EXPECT_EQ(built({{"dim", 7}}, {"tensor<2x4x3x7xf32>"}), "block 'rotary_embedding': dim is 7, wanted an even number");
  EXPECT_EQ(built({{"dim", 8}, {"base", 0}}, {"tensor<2x4x3x8xf32>"}),
            "block 'rotary_embedding': base is 0.000000e+00, wanted a number above 0");
  EXPECT_EQ(built({{"dim", 6}}, {"tensor<2x4x3x8xf32>"}),
            "block 'rotary_embedding': x is 'tensor<2x4x3x8xf32>', wanted rank 4 and 6 elements in the last dimension");
  EXPECT_EQ(built({{"dim", 8}}, {"tensor<3xi32>"}),
            "block 'rotary_embedding': wants heads [B, H, T, 8], and behind them at most one tensor of positions");
}

} // namespace
