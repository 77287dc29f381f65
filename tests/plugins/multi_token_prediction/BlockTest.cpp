// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block multi_token_prediction: the article's names and defaults, shapes of its results, and what is said about
// wrong use.
#include "plugins/multi_token_prediction/MultiTokenPrediction.h"
#include "tests/unit/support/BuiltBlock.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

class MultiTokenPredictionBlock : public BlockFixture<multi_token_prediction::MultiTokenPredictionDialect> {
protected:
  MultiTokenPredictionBlock() { multi_token_prediction::registerBlocks(blocks); }

  /// The block's function on x and, unless empty, labels: "argument types -> result types", or the diagnostic.
  std::string built(const GivenOptions &options, ArrayRef<int64_t> x, ArrayRef<int64_t> labels = {}) {
    SmallVector<RankedTensorType> inputs = {f32(x)};
    if (!labels.empty())
      inputs.push_back(integers(labels, 32));
    BuiltBlock block = buildBlock(context, blocks, "multi_token_prediction", options, inputs);
    std::string text = block.said;
    if (block.module)
      llvm::raw_string_ostream(text) << block.function().getFunctionType();
    return text;
  }

  const int64_t any = ShapedType::kDynamic;
};

} // namespace

TEST_F(MultiTokenPredictionBlock, DefaultsAreTheArticles) {
  EXPECT_EQ(built({{"hidden_dim", 8}, {"vocab_size", 30}}, {2, 5, 8}),
            "(tensor<2x5x8xf32>, tensor<2x30x8xf32>, tensor<2x30xf32>) -> (tensor<2x1x30xf32>, tensor<2x2x30xf32>)");
  EXPECT_EQ(
      built({{"hidden_dim", 8}, {"vocab_size", 30}, {"num_predicted_tokens", 3}, {"shared_prediction_head", true}},
            {2, 5, 8}),
      "(tensor<2x5x8xf32>, tensor<30x8xf32>, tensor<30xf32>, tensor<2x8x8xf32>, tensor<2x8xf32>) -> "
      "(tensor<2x1x30xf32>, tensor<2x3x30xf32>)");
}

TEST_F(MultiTokenPredictionBlock, LabelsGiveTheLoss) {
  EXPECT_EQ(built({{"hidden_dim", 8}, {"vocab_size", 30}}, {2, 5, 8}, {2, 5}),
            "(tensor<2x5x8xf32>, tensor<2x5xi32>, tensor<2x30x8xf32>, tensor<2x30xf32>) -> (tensor<2x1x30xf32>, "
            "tensor<2x2x30xf32>, tensor<f32>)");
  EXPECT_EQ(built({{"hidden_dim", 8}, {"vocab_size", 30}}, {2, 5, 8}, {2, 4}),
            "block 'multi_token_prediction': labels are 'tensor<2x4xi32>', wanted i32 of x's shape without the last "
            "dimension, "
            "'tensor<2x5x8xf32>'");
}

TEST_F(MultiTokenPredictionBlock, DynamicBatchOrLength) {
  const GivenOptions options = {{"hidden_dim", 8}, {"vocab_size", 30}};
  EXPECT_EQ(built(options, {any, 5, 8}),
            "(tensor<?x5x8xf32>, tensor<2x30x8xf32>, tensor<2x30xf32>) -> (tensor<?x1x30xf32>, tensor<?x2x30xf32>)");
  EXPECT_EQ(built(options, {2, any, 8}),
            "(tensor<2x?x8xf32>, tensor<2x30x8xf32>, tensor<2x30xf32>) -> (tensor<2x1x30xf32>, tensor<2x2x30xf32>)");
}

TEST_F(MultiTokenPredictionBlock, Errors) {
  const GivenOptions options = {{"hidden_dim", 8}, {"vocab_size", 30}};
  for (const SmallVector<int64_t> &shape : {SmallVector<int64_t>{2, 0, 8}, SmallVector<int64_t>{any, any, 8}})
    EXPECT_TRUE(
        hasText(built(options, shape), "wanted [B, T, E] with a T of at least 1 and one dynamic dimension at most"));
  EXPECT_TRUE(hasText(built(options, {2, 5, 7}), "wanted rank 3 and 8 elements in the last dimension"));
  EXPECT_TRUE(hasText(built({{"hidden_dim", 8}}, {2, 5, 8}), "vocab_size"));
  EXPECT_TRUE(hasText(built({{"hidden_dim", 8}, {"vocab_size", 30}, {"num_predicted_tokens", 0}}, {2, 5, 8}),
                      "num_predicted_tokens"));
}
