// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of norms, feed-forwards and attention: their defaults, their results' shapes, what is said about wrong uses,
// and that each compiles to what it means.
#include "tests/unit/kernels/BlockCase.h"

using namespace tilewright;
using namespace tilewright::test;

#define NEEDS(block)                                                                                                   \
  if (!blocks().find(block))                                                                                           \
  GTEST_SKIP() << "the plugin of block " << block << " is not built"

TEST(Blocks, RmsNorm) {
  NEEDS("rms_norm");
  std::string text = builtBlock("rms_norm", {{"dim", 8}}, {"tensor<2x?x8xf32>"});
  EXPECT_TRUE(hasText(text, "epsilon = 1.000000e-08 : f64"));
  EXPECT_TRUE(hasMatch(text, "tensor<8xf32> .tw.name = .[a-z_]+[.]weight., tw.parameter = .initial = .constant"));
  EXPECT_FALSE(
      hasText(builtBlock("rms_norm", {{"dim", 8}, {"elementwise_affine", false}}, {"tensor<3x8xf32>"}), "weight"));
  EXPECT_EQ(builtBlock("rms_norm", {{"dim", 8}, {"eps", -1}}, {"tensor<3x8xf32>"}),
            "block 'rms_norm': option eps is -1, wanted at least 0");
  EXPECT_EQ(builtBlock("rms_norm", {{"dim", 9}}, {"tensor<3x8xf32>"}),
            "block 'rms_norm': x is 'tensor<3x8xf32>', wanted 9 elements in the last dimension");
  expectBlockAgreement("rms_norm", {{"dim", 8}}, {"tensor<2x?x8xf32>"}, {{2, 5, 8}}, 1e-5);
}

TEST(Blocks, Swiglu) {
  NEEDS("swiglu");
  std::string text = builtBlock("swiglu", {{"dim_in", 8}}, {"tensor<2x?x8xf32>"});
  EXPECT_TRUE(hasMatch(text, "tensor<32x8xf32> .tw.name = .[a-z_]+[.]w1[.]weight\""));
  EXPECT_TRUE(hasMatch(text, "tensor<32xf32> .tw.name = .[a-z_]+[.]w2[.]bias\""));
  EXPECT_TRUE(hasMatch(text, "tensor<8x32xf32> .tw.name = .[a-z_]+[.]w3[.]weight\""));
  EXPECT_TRUE(hasText(text, "-> tensor<2x?x8xf32>"));
  text =
      builtBlock("swiglu", {{"dim_in", 8}, {"dim_hidden", 12}, {"dim_out", 3}, {"bias", false}}, {"tensor<?x8xf32>"});
  EXPECT_TRUE(hasText(text, "-> tensor<?x3xf32>"));
  EXPECT_FALSE(hasText(text, "bias"));
  EXPECT_EQ(builtBlock("swiglu", {}, {"tensor<?x8xf32>"}),
            "block 'swiglu': option dim_in is missing, wanted a whole number");
  expectBlockAgreement("swiglu", {{"dim_in", 8}, {"dim_out", 3}}, {"tensor<?x8xf32>"}, {{5, 8}}, 1e-5);
}

// Tables are made and applied, or folded into one rotation: the same.
TEST(Blocks, RotaryEmbedding) {
  NEEDS("rotary_embedding");
  for (bool interleaved : {false, true})
    expectBlockAgreement("rotary_embedding", {{"dim", 8}, {"interleaved", interleaved}},
                         {"tensor<2x3x?x8xf32>", "tensor<2x1x?x8xf32>"}, {{2, 3, 5, 8}, {2, 1, 5, 8}}, 1e-5);
}

TEST(Blocks, GroupedQueryAttention) {
  NEEDS("grouped_query_attention");
  std::string text = builtBlock("grouped_query_attention", {{"dim", 12}, {"num_heads", 4}}, {"tensor<2x?x12xf32>"});
  EXPECT_TRUE(hasMatch(text, "tensor<256x12xf32> .tw.name = .[a-z_]+[.]q_proj[.]weight\""));
  EXPECT_TRUE(hasMatch(text, "key\\(%[0-9]+ : tensor<2x4x\\?x64xf32>")); // as many as there are queries
  EXPECT_TRUE(hasText(text, "-> tensor<2x?x12xf32>"));
  GivenOptions shared = {{"dim", 12}, {"num_heads", 4}, {"num_kv_heads", 2}, {"head_dim", 5}};
  EXPECT_TRUE(hasMatch(builtBlock("grouped_query_attention", shared, {"tensor<2x?x12xf32>"}),
                       "key\\(%[0-9]+ : tensor<2x2x\\?x5xf32>"));
  for (const BlockValue &asMany : {BlockValue(0), BlockValue()})
    EXPECT_EQ(builtBlock("grouped_query_attention", {{"dim", 12}, {"num_heads", 4}, {"num_kv_heads", asMany}},
                         {"tensor<2x?x12xf32>"}),
              text);
  auto heads = [](int64_t queries, int64_t keys) {
    return builtBlock("grouped_query_attention", {{"dim", 12}, {"num_heads", queries}, {"num_kv_heads", keys}},
                      {"tensor<2x3x12xf32>"});
  };
  EXPECT_EQ(heads(7, 2), "block 'grouped_query_attention': num_heads is 7, wanted a multiple of num_kv_heads, 2");
  EXPECT_EQ(heads(4, 8), "block 'grouped_query_attention': num_heads is 4, wanted a multiple of num_kv_heads, 8");
  EXPECT_EQ(heads(0, 1), "block 'grouped_query_attention': option num_heads is 0, wanted at least 1");
  EXPECT_EQ(heads(4, -2), "block 'grouped_query_attention': option num_kv_heads is -2, wanted at least 0");
  EXPECT_EQ(
      builtBlock("grouped_query_attention", {{"dim", 12}, {"num_heads", 4}, {"dropout", 0.1}}, {"tensor<2x3x12xf32>"}),
      "block 'grouped_query_attention': dropout is 0.1, wanted 0: there is none at inference");
  EXPECT_EQ(builtBlock("grouped_query_attention", {{"dim", 12}, {"num_heads", 4}}, {"tensor<?x?x12xf32>"}),
            "block 'grouped_query_attention': x is 'tensor<?x?x12xf32>', wanted a static batch or a static length");
  expectBlockAgreement("grouped_query_attention", shared, {"tensor<2x?x12xf32>"}, {{2, 7, 12}}, 1e-5);
}

TEST(Blocks, MasksOfAttention) {
  NEEDS("grouped_query_attention");
  GivenOptions options = {{"dim", 12}, {"num_heads", 4}, {"num_kv_heads", 2}, {"head_dim", 5}};
  for (llvm::StringRef mask : {"tensor<7x7xi1>", "tensor<1x7xi1>", "tensor<2x7x7xi1>", "tensor<2x1x7xi1>",
                               "tensor<1x7x7xi1>", "tensor<2x4x7x7xi1>", "tensor<1x4x1x7xi1>", "tensor<7x7xf32>",
                               "tensor<2x1x7xi32>", "tensor<2x1x7x7xi8>", "tensor<7x7xbf16>"}) {
    auto type = mlir::cast<mlir::RankedTensorType>(mlir::parseType(mask, &context()));
    expectBlockAgreement("grouped_query_attention", options, {"tensor<2x7x12xf32>", mask},
                         {{2, 7, 12}, type.getShape().vec()}, 1e-5);
  }
  EXPECT_TRUE(hasText(
      builtBlock("grouped_query_attention", options, {"tensor<2x7x12xf32>", "tensor<3x7x7xi1>"}),
      "the mask is 'tensor<3x7x7xi1>', wanted integers or floats of shape [T or 1, T], [B or 1, T or 1, T] or [B or 1, "
      "4 or 1, T or 1, T]"));
  for (llvm::StringRef mask : {"tensor<7x7xui8>", "tensor<7x7xindex>"})
    EXPECT_TRUE(hasText(builtBlock("grouped_query_attention", options, {"tensor<2x7x12xf32>", mask}),
                        ("the mask is '" + mask + "'").str()));
  expectBlockAgreement("grouped_query_attention", options, {"tensor<2x?x12xf32>", "tensor<2x1x?xi1>"},
                       {{2, 9, 12}, {2, 1, 9}}, 1e-5);
}

TEST(Blocks, InputsOfAttention) {
  for (llvm::StringRef name : {"grouped_query_attention", "flash_attention", "ring_attention", "latent_attention"}) {
    if (!blocks().find(name))
      continue;
    EXPECT_EQ(builtBlock(name, {{"dim", 12}, {"num_heads", 4}},
                         {"tensor<2x7x12xf32>", "tensor<2x1x7xi1>", "tensor<2x7x12xf32>"}),
              ("block '" + name + "': has 3 inputs, wanted 1 or 2: x and perhaps mask").str());
  }
}

TEST(Blocks, FlashAttention) {
  NEEDS("flash_attention");
  std::string text = builtBlock("flash_attention", {{"dim", 12}, {"num_heads", 3}}, {"tensor<2x?x12xf32>"});
  EXPECT_TRUE(hasMatch(text, "tensor<192x12xf32> .tw.name = .[a-z_]+[.]q_proj[.]weight\""));
  EXPECT_TRUE(hasText(text, "scale = 1.250000e-01 : f64"));
  EXPECT_EQ(builtBlock("flash_attention", {{"dim", 12}, {"num_heads", 3}, {"block_size", 0}}, {"tensor<2x?x12xf32>"}),
            "block 'flash_attention': option block_size is 0, wanted at least 1");
  EXPECT_EQ(
      builtBlock("flash_attention", {{"dim", 12}, {"num_heads", 3}, {"block_size", 1024}}, {"tensor<2x?x12xf32>"}),
      text);
  expectBlockAgreement("flash_attention", {{"dim", 12}, {"num_heads", 3}, {"head_dim", 8}}, {"tensor<2x?x12xf32>"},
                       {{2, 9, 12}}, 1e-5);
}

TEST(Blocks, FlashAttentionPacked) {
  NEEDS("flash_attention_packed");
  const std::string name = "flash_attention_packed", qkv = "tensor<2x7x3x4x16xf32>";
  std::string text = builtBlock(name, {}, {qkv});
  EXPECT_TRUE(hasText(text, "-> tensor<2x7x4x16xf32>"));
  EXPECT_TRUE(hasText(text, "scale = 2.500000e-01 : f64"));
  EXPECT_FALSE(hasText(text, "causal = \"end\""));
  EXPECT_EQ(builtBlock(name, {{"dropout_p", 0.0}, {"causal", false}, {"softmax_scale", BlockValue()}}, {qkv}), text);
  text = builtBlock(name, {{"causal", true}, {"softmax_scale", 0.5}}, {qkv});
  EXPECT_TRUE(hasText(text, "scale = 5.000000e-01 : f64"));
  EXPECT_TRUE(hasText(text, "causal = \"end\""));
  EXPECT_EQ(builtBlock(name, {{"dropout_p", 0.1}}, {qkv}),
            "block 'flash_attention_packed': dropout_p is 0.1, wanted 0: there is none at inference");
  for (llvm::StringRef wrong : {"tensor<2x7x3x64xf32>", "tensor<2x7x2x4x16xf32>", "tensor<2x7x3x4x?xf32>"})
    EXPECT_EQ(
        builtBlock(name, {}, {wrong}),
        ("block 'flash_attention_packed': qkv is '" + wrong + "', wanted [B, T, 3, H, D] with a static H and D").str());
  EXPECT_EQ(builtBlock(name, {}, {qkv, qkv}), "block 'flash_attention_packed': has 2 inputs, wanted 1: qkv");
  for (bool causal : {false, true})
    expectBlockAgreement(name, {{"causal", causal}, {"softmax_scale", 0.3}}, {"tensor<2x?x3x4x16xf32>"},
                         {{2, 9, 3, 4, 16}}, 1e-5);
}

TEST(Blocks, RingAttention) {
  NEEDS("ring_attention");
  const GivenOptions options = {{"dim", 12}, {"num_heads", 3}, {"head_dim", 8}, {"num_shards", 3}};
  EXPECT_TRUE(hasText(builtBlock("ring_attention", options, {"tensor<2x7x12xf32>"}), "num_shards = 3 : i64"));
  for (llvm::StringRef mask : {"tensor<2x1x7xi1>", "tensor<2x1x7xf32>"})
    expectBlockAgreement("ring_attention", options, {"tensor<2x7x12xf32>", mask}, {{2, 7, 12}, {2, 1, 7}}, 1e-5);
  EXPECT_EQ(builtBlock("ring_attention", options, {"tensor<2x?x12xf32>"}),
            "block 'ring_attention': x is 'tensor<2x?x12xf32>', wanted a static shape for 3 shards");
  EXPECT_EQ(builtBlock("ring_attention", {{"dim", 12}, {"num_heads", 3}, {"num_shards", 0}}, {"tensor<2x7x12xf32>"}),
            "block 'ring_attention': option num_shards is 0, wanted at least 1");
}

TEST(Blocks, PreNorm) {
  NEEDS("pre_norm");
  // Two results: the second, which by-passes the residual, is what fn was given besides x.
  BlockBody fn = [](BlockBuilder &b, mlir::ValueRange in) -> BlockResults {
    return llvm::SmallVector<mlir::Value>{b.linear("fn", in[0], 8), in.back()};
  };
  const std::vector<llvm::StringRef> types = {"tensor<?x8xf32>", "tensor<?x3xi1>"};
  std::string text = builtBlock("pre_norm", {{"dim", 8}}, types, fn);
  EXPECT_TRUE(hasText(text, ".norm.bias\""));
  EXPECT_TRUE(hasText(text, "-> (tensor<?x8xf32>, tensor<?x3xi1>)"));
  EXPECT_TRUE(hasText(text, "%arg1 : tensor<?x8xf32>, tensor<?x3xi1>"));
  EXPECT_FALSE(
      hasText(builtBlock("pre_norm", {{"dim", 8}, {"norm_type", std::string("rms")}}, types, fn), "norm.bias"));
  EXPECT_EQ(builtBlock("pre_norm", {{"dim", 8}, {"norm_type", std::string("batch")}}, types, fn),
            "block 'pre_norm': option norm_type is 'batch', wanted layer or rms");
  EXPECT_EQ(builtBlock("pre_norm", {{"dim", 8}}, types),
            "block 'pre_norm': has no function fn, wanted one that takes norm(x)");
  EXPECT_EQ(builtBlock("pre_norm", {{"dim", 8}}, types,
                       [](BlockBuilder &b, mlir::ValueRange in) -> BlockResults {
                         return llvm::SmallVector<mlir::Value>{b.linear("fn", in[0], 5)};
                       }),
            "block 'pre_norm': fn gives 'tensor<?x5xf32>', wanted x's type, 'tensor<?x8xf32>'");
  for (const char *norm : {"layer", "rms"})
    expectBlockAgreement("pre_norm", {{"dim", 8}, {"norm_type", std::string(norm)}}, types, {{5, 8}, {5, 3}}, 1e-5, fn);
}

TEST(Blocks, LatentAttention) {
  NEEDS("latent_attention"); // defaults and errors: the plugin's own test
  const GivenOptions options = {{"dim", 8}, {"num_heads", 2}, {"num_latents", 3}, {"head_dim", 5}};
  for (int64_t length : {1, 5, 70})
    expectBlockAgreement("latent_attention", options, {"tensor<2x?x8xf32>"}, {{2, length, 8}}, 1e-5);
  for (auto [masks, type] : {std::pair(1, "tensor<2x1x?xi1>"), {3, "tensor<2x3x?xi1>"}, {3, "tensor<2x3x?xi32>"}})
    expectBlockAgreement("latent_attention", options, {"tensor<2x?x8xf32>", type}, {{2, 9, 8}, {2, masks, 9}}, 1e-5);
}
