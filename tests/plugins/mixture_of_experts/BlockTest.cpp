// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block mixture_of_experts: the article's names and defaults, shapes of its results, and what is said about wrong
// use.
#include "plugins/mixture_of_experts/MixtureOfExperts.h"
#include "tests/unit/support/BuiltBlock.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

class MixtureOfExpertsBlock : public BlockFixture<mixture_of_experts::MixtureOfExpertsDialect> {
protected:
  MixtureOfExpertsBlock() { mixture_of_experts::registerBlocks(blocks); }

  /// The block on x and, unless empty, noise.
  std::string built(GivenOptions options, ArrayRef<int64_t> x, ArrayRef<int64_t> noise = {}) {
    options.insert({{"input_dim", 6}, {"hidden_dim", 10}, {"output_dim", 5}});
    SmallVector<RankedTensorType> inputs = {f32(x)};
    if (!noise.empty())
      inputs.push_back(f32(noise));
    return BlockFixture::built("mixture_of_experts", options, inputs);
  }

  const int64_t any = ShapedType::kDynamic;
};

} // namespace

TEST_F(MixtureOfExpertsBlock, DefaultsAreTheArticles) {
  std::string text = built({}, {2, 3, 6});
  for (const char *part :
       {"tensor<4x6xf32> {tw.name = \"mixture_of_experts.router.weight\"",
        "tensor<4xf32> {tw.name = \"mixture_of_experts.router.bias\"",
        "tensor<4x10x6xf32> {tw.name = \"mixture_of_experts.experts.up.weight\"",
        "tensor<4x10xf32> {tw.name = \"mixture_of_experts.experts.up.bias\"",
        "tensor<4x5x10xf32> {tw.name = \"mixture_of_experts.experts.down.weight\"",
        "tensor<4x5xf32> {tw.name = \"mixture_of_experts.experts.down.bias\"", "gating = \"chosen_softmax\"",
        "top_k = 2", "activation = \"relu\"", "form = \"mean_weight\"", "-> (tensor<2x3x5xf32>, tensor<f32>)"})
    EXPECT_TRUE(hasText(text, part));
}

TEST_F(MixtureOfExpertsBlock, OptionsAndDynamicShapes) {
  std::string text = built({{"num_experts", 3}, {"top_k", 7}}, {2, any, 6});
  for (const char *part : {"tensor<3x10x6xf32>", "top_k = 3", "-> (tensor<2x?x5xf32>, tensor<f32>)"})
    EXPECT_TRUE(hasText(text, part));
}

TEST_F(MixtureOfExpertsBlock, NoiseOfTrainingGoesIntoTheLogits) {
  EXPECT_TRUE(hasText(built({}, {2, 3, 6}, {2, 3, 4}), "dense<1.000000e+00>"));
  EXPECT_TRUE(hasText(built({{"noise_std", 0.25}}, {2, 3, 6}, {2, 3, 4}), "dense<2.500000e-01>"));
  EXPECT_TRUE(hasText(built({}, {2, 3, 6}, {2, 3, 5}),
                      "noise is 'tensor<2x3x5xf32>', wanted rank 3 and 4 elements in the last dimension"));
  EXPECT_TRUE(hasText(built({}, {2, 3, 6}, {2, 2, 4}), "noise is 'tensor<2x2x4xf32>', wanted the tokens of x"));
}

TEST_F(MixtureOfExpertsBlock, Errors) {
  EXPECT_TRUE(hasText(built({{"top_k", 0}}, {2, 3, 6}), "option top_k is 0"));
  EXPECT_TRUE(hasText(built({{"num_experts", 0}}, {2, 3, 6}), "option num_experts is 0"));
  EXPECT_TRUE(hasText(built({{"noise_std", -1.0}}, {2, 3, 6}), "option noise_std is -1"));
  EXPECT_TRUE(
      hasText(built({}, {2, 3, 7}), "x is 'tensor<2x3x7xf32>', wanted rank 3 and 6 elements in the last dimension"));
  EXPECT_TRUE(hasText(built({}, {any, any, 6}), "x is 'tensor<?x?x6xf32>', wanted at most one dynamic dimension"));
  EXPECT_TRUE(hasText(built({{"noise", 1.0}}, {2, 3, 6}), "no option 'noise'"));
}
