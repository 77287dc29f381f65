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
  EXPECT_EQ(built({{"dim", 4.0}}), "block 'scaled': option dim is 4.0, wanted a whole number");
  EXPECT_EQ(built({{"dim", std::string("4")}}), "block 'scaled': option dim is '4', wanted a whole number");
  EXPECT_EQ(built({{"dim", true}}), "block 'scaled': option dim is true, wanted a whole number");
  EXPECT_EQ(built({{"dim", 4}, {"kind", 4}}), "block 'scaled': option kind is 4, wanted a text");
  EXPECT_EQ(built({{"dim", 4}, {"rate", std::string("4")}}), "block 'scaled': option rate is '4', wanted a number");
  EXPECT_EQ(built({{"dim", 4}, {"bias", 1}}), "block 'scaled': option bias is 1, wanted true or false");
  EXPECT_EQ(built({{"dim", 4}, {"rate", -1}}), "block 'scaled': option rate is -1, wanted at least 0");
  EXPECT_EQ(built({{"dim", 4}, {"rate", std::numeric_limits<double>::infinity()}}),
            "block 'scaled': option rate is inf, wanted a finite number");
  EXPECT_EQ(built({{"dim", 4}, {"kind", std::string("group")}}),
            "block 'scaled': option kind is 'group', wanted layer or rms");
  EXPECT_EQ(built({{"dim", 4}, {"dim_uot", 3}}), "block 'scaled': no option 'dim_uot'; did you mean 'dim_out'?");
}

TEST_F(BlockTest, NoneIsAsGoodAsNotGiven) {
  const BlockValue none;
  EXPECT_EQ(built({{"dim", 4}, {"dim_out", none}, {"bias", none}, {"rate", none}, {"kind", none}}),
            built({{"dim", 4}}));
  EXPECT_EQ(built({{"dim", none}}), "block 'scaled': option dim is missing, wanted a whole number");
}

TEST_F(BlockTest, ADefaultIsOfTheOptionsKind) {
  BlockOption count = BlockOption::integer("count", 1);
  count.fallback = 0.5;
  blocks.add({"halved", "x", {count}, buildScaled});
  EXPECT_EQ(built({}, "halved"), "block 'halved': option count is 0.5, wanted a whole number");
}

TEST_F(BlockTest, NumbersOfInputs) {
  auto first = [](BlockBuilder &, const BlockOptions &, ValueRange in) -> BlockResults {
    return SmallVector<Value>{in[0]};
  };
  blocks.add({"one", "x", {}, first});
  blocks.add({"two", "x and perhaps a mask", {}, first, {.optional = {"mask"}}});
  blocks.add({"four", "x, y and perhaps two others", {}, first, {{"x", "y"}, {"mask", "bias"}}});
  blocks.add({"any", "x and what else there is", {}, first, {.others = true}});
  auto of = [&](StringRef name, size_t inputs) {
    return BlockFixture::built(name, {}, std::vector<RankedTensorType>(inputs, f32({2, 4})));
  };
  for (auto [name, inputs] : {std::pair("one", 1), {"two", 1}, {"two", 2}, {"four", 2}, {"four", 4}, {"any", 7}})
    EXPECT_TRUE(hasText(of(name, inputs), "return %arg0"));
  EXPECT_EQ(of("one", 2), "block 'one': has 2 inputs, wanted 1: x");
  EXPECT_EQ(of("two", 3), "block 'two': has 3 inputs, wanted 1 or 2: x and perhaps mask");
  EXPECT_EQ(of("four", 1), "block 'four': has 1 inputs, wanted 2 to 4: x, y and perhaps mask, bias");
  EXPECT_EQ(of("four", 5), "block 'four': has 5 inputs, wanted 2 to 4: x, y and perhaps mask, bias");
  EXPECT_EQ(built({{"dim", 4}}, "scaled", [](BlockBuilder &b, ValueRange) { return b.block("any", {}, {}); }),
            "block 'any': has 0 inputs, wanted at least 1: x");
}

TEST_F(BlockTest, InputsAreTensors) {
  EXPECT_EQ(built({{"dim", 4}}, "scaled",
                  [](BlockBuilder &b, ValueRange) {
                    Value function = func::ConstantOp::create(b.b, b.b.getFunctionType({}, {}), "f");
                    return b.block("scaled", {{"dim", 4}}, function);
                  }),
            "block 'scaled': x is '() -> ()', wanted a ranked tensor");
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
