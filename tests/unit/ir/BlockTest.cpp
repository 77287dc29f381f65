// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks by name: options over defaults, parameters under their blocks' names, and what is said about wrong options.
#include "tests/unit/support/BuiltBlock.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

BlockResults buildScaled(BlockBuilder &b, const BlockOptions &options, ValueRange inputs) {
  Value x = inputs[0];
  if (failed(b.expectInput(x, "x", 2, options.integer("dim"))))
    return failure();
  int64_t out = options.integer("dim_out", options.integer("dim"));
  Value y = b.linear("project", x, out, options.flag("bias"));
  if (!options.body)
    return SmallVector<Value>{y};
  return options.body(b, y);
}

class BlockTest : public BlockFixture<> {
protected:
  BlockTest() {
    blocks.add({"scaled",
                "x W^T + b",
                {BlockOption::integer("dim", std::nullopt).mustBeGiven(), BlockOption::integer("dim_out", std::nullopt),
                 BlockOption::flag("bias", true), BlockOption::number("rate", 0.5, 0.0),
                 BlockOption::text("kind", "layer", {"layer", "rms"})},
                buildScaled});
  }

  /// One block on x [2, 4].
  std::string built(const GivenOptions &options, StringRef name = "scaled", const BlockBody &body = {}) {
    return BlockFixture::built(name, options, {f32({2, 4})}, body);
  }
};

TEST_F(BlockTest, ParametersAreArgumentsWithNamesAndInitialValues) {
  std::string text = built({{"dim", 4}, {"dim_out", 3}});
  EXPECT_TRUE(hasText(
      text,
      R"(tensor<3x4xf32> {tw.name = "scaled.project.weight", tw.parameter = {initial = "uniform", values = [-5.000000e-01, 5.000000e-01]}})"));
  EXPECT_TRUE(hasText(text, R"(tensor<3xf32> {tw.name = "scaled.project.bias")"));
  EXPECT_TRUE(hasText(text, "-> tensor<2x3xf32>"));
  EXPECT_FALSE(hasText(built({{"dim", 4}, {"bias", false}}), "bias"));
}

TEST_F(BlockTest, ABlockInABlock) {
  std::string text = built({{"dim", 4}}, "scaled", [](BlockBuilder &b, ValueRange in) {
    return b.block("scaled", {{"dim", 4}, {"dim_out", 5}}, in, {}, "inner");
  });
  EXPECT_TRUE(hasText(text, "scaled.inner.project.weight"));
  EXPECT_EQ(
      built({{"dim", 4}}, "scaled", [](BlockBuilder &b, ValueRange in) { return b.block("scaled", {{"dim", 5}}, in); }),
      "block 'scaled': x is 'tensor<2x4xf32>', wanted rank 2 and 5 elements in the last dimension");
}

TEST_F(BlockTest, WrongOptions) {
  EXPECT_EQ(built({}, "scale"), "no block 'scale'; did you mean 'scaled'?");
  EXPECT_EQ(built({}, "attention"), "no block 'attention'; known: scaled");
  EXPECT_EQ(built({}), "block 'scaled': option dim is missing, wanted a whole number");
  EXPECT_EQ(built({{"dim", 0}}), "block 'scaled': option dim is 0, wanted at least 1");
  EXPECT_EQ(built({{"dim", 4.5}}), "block 'scaled': option dim is 4.5, wanted a whole number");
  EXPECT_EQ(built({{"dim", 4}, {"bias", 1}}), "block 'scaled': option bias is 1, wanted true or false");
  EXPECT_EQ(built({{"dim", 4}, {"rate", -1}}), "block 'scaled': option rate is -1, wanted at least 0");
  EXPECT_EQ(built({{"dim", 4}, {"rate", std::numeric_limits<double>::infinity()}}),
            "block 'scaled': option rate is inf, wanted a finite number");
  EXPECT_EQ(built({{"dim", 4}, {"kind", std::string("group")}}),
            "block 'scaled': option kind is 'group', wanted layer or rms");
  EXPECT_EQ(built({{"dim", 4}, {"dim_uot", 3}}), "block 'scaled': no option 'dim_uot'; did you mean 'dim_out'?");
}

TEST_F(BlockTest, ABlockThatIsAddedTwice) {
  blocks.add({"scaled", "another", {}, buildScaled});
  ASSERT_EQ(blocks.duplicates().size(), 1u);
  EXPECT_EQ(blocks.duplicates()[0], "scaled");
  EXPECT_EQ(blocks.find("scaled")->summary, "x W^T + b");
  EXPECT_EQ(signatureOf(*blocks.find("scaled")),
            "scaled(dim, dim_out = none, bias = true, rate = 0.5, kind = 'layer')");
}

} // namespace
