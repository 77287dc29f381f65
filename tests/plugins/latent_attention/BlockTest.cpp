// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block latent_attention: the article's names and defaults, its parameters, and what is said about wrong use.
#include "plugins/latent_attention/LatentAttention.h"
#include "tests/unit/support/BuiltBlock.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

class LatentAttentionBlock : public BlockFixture<latent_attention::LatentAttentionDialect> {
protected:
  LatentAttentionBlock() { latent_attention::registerBlocks(blocks); }

  /// The block on x and, unless empty, a mask.
  std::string built(const GivenOptions &options, ArrayRef<int64_t> x, ArrayRef<int64_t> mask = {}) {
    SmallVector<RankedTensorType> inputs = {f32(x)};
    if (!mask.empty())
      inputs.push_back(integers(mask, 1));
    return BlockFixture::built("latent_attention", options, inputs);
  }
};

void expectIn(StringRef part, StringRef text) { EXPECT_TRUE(hasText(text, part)); }

} // namespace

TEST_F(LatentAttentionBlock, DefaultsAreTheArticles) {
  std::string text = built({{"dim", 8}, {"num_heads", 2}}, {2, ShapedType::kDynamic, 8});
  expectIn(
      R"(tensor<1x64x8xf32> {tw.name = "latent_attention.latents", tw.parameter = {initial = "normal", values = [0.000000e+00, 1.000000e+00]}})",
      text);
  for (StringRef name : {"q_proj", "k_proj", "v_proj"}) {
    expectIn(("tensor<128x8xf32> {tw.name = \"latent_attention." + name + ".weight\"").str(), text);
    expectIn(("tensor<128xf32> {tw.name = \"latent_attention." + name + ".bias\"").str(), text);
  }
  expectIn("tensor<8x128xf32> {tw.name = \"latent_attention.o_proj.weight\"", text);
  expectIn("-> tensor<2x?x8xf32>", text);
  expectIn("tensor<2x2x64x64xf32>", text); // updated latents
}

TEST_F(LatentAttentionBlock, AMaskHidesInputs) {
  const GivenOptions options = {{"dim", 8}, {"num_heads", 2}, {"num_latents", 3}, {"head_dim", 5}};
  expectIn("tensor<2x1x7xi1>", built(options, {2, 7, 8}, {2, 1, 7}));
  expectIn("tensor<2x3x7xi1>", built(options, {2, 7, 8}, {2, 3, 7}));
  for (const SmallVector<int64_t> &mask : {SmallVector<int64_t>{2, 7}, {2, 2, 7}, {2, 1, 6}, {1, 1, 7}})
    expectIn("wanted integers or floats of shape [2, 1 or 3, length of x]", built(options, {2, 7, 8}, mask));
}

TEST_F(LatentAttentionBlock, Errors) {
  const GivenOptions options = {{"dim", 8}, {"num_heads", 2}};
  auto with = [&](const std::string &name, BlockValue value) {
    GivenOptions changed = options;
    changed[name] = value;
    return built(changed, {2, 7, 8});
  };
  expectIn("option dim is missing", built({{"num_heads", 2}}, {2, 7, 8}));
  expectIn("option num_latents is 0, wanted at least 1", with("num_latents", 0));
  expectIn("latent_attention.attention, attention of low rank, has both", with("causal", true));
  expectIn("latent_attention.attention, attention of low rank, has both", with("window", 4));
  expectIn("dropout is 0.1", with("dropout", 0.1));
  expectIn("option dropout is -1, wanted at least 0", with("dropout", -1));
  expectIn("wanted rank 3 and 8 elements in the last dimension", built(options, {2, 7, 9}));
  expectIn("wanted a static batch", built(options, {ShapedType::kDynamic, 7, 8}));
}
