// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block mixture_of_experts: the article's names and defaults, shapes of its results, and what is said about wrong
// use.
#include "frontend/api/Block.h"
#include "plugins/mixture_of_experts/MixtureOfExperts.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;

namespace {

class MixtureOfExpertsBlock : public testing::Test {
protected:
  MixtureOfExpertsBlock() {
    context.loadDialect<func::FuncDialect, tw::TwDialect, mixture_of_experts::MixtureOfExpertsDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    blocks.add(mixture_of_experts::block());
  }

  /// The block's function on x and, unless empty, noise; or the diagnostic.
  std::string built(std::map<std::string, BlockValue> options, ArrayRef<int64_t> x, ArrayRef<int64_t> noise = {}) {
    options.insert({{"input_dim", 6}, {"hidden_dim", 10}, {"output_dim", 5}});
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { said += d.str(); });
    Type f32 = Float32Type::get(&context);
    std::vector<std::pair<std::string, RankedTensorType>> inputs = {{"x", RankedTensorType::get(x, f32)}};
    if (!noise.empty())
      inputs.push_back({"noise", RankedTensorType::get(noise, f32)});
    auto function = buildBlockFunction(*module, "f", blocks, inputs, [&](BlockBuilder &b, ValueRange in) {
      return b.block("mixture_of_experts", options, in);
    });
    if (failed(function) || failed(verify(*module)))
      return said;
    std::string text;
    llvm::raw_string_ostream(text) << **function;
    function->erase();
    return said + text;
  }

  static bool has(const std::string &text, StringRef part) { return StringRef(text).contains(part); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  BlockRegistry blocks;
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
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
}

TEST_F(MixtureOfExpertsBlock, OptionsAndDynamicShapes) {
  std::string text = built({{"num_experts", 3}, {"top_k", 7}}, {2, any, 6});
  EXPECT_TRUE(has(text, "tensor<3x10x6xf32>") && has(text, "top_k = 3") &&
              has(text, "-> (tensor<2x?x5xf32>, tensor<f32>)"))
      << text;
}

TEST_F(MixtureOfExpertsBlock, NoiseOfTrainingGoesIntoTheLogits) {
  EXPECT_TRUE(has(built({}, {2, 3, 6}, {2, 3, 4}), "dense<1.000000e+00>"));
  EXPECT_TRUE(has(built({{"noise_std", 0.25}}, {2, 3, 6}, {2, 3, 4}), "dense<2.500000e-01>"));
  EXPECT_TRUE(has(built({}, {2, 3, 6}, {2, 3, 5}),
                  "noise is 'tensor<2x3x5xf32>', wanted rank 3 and 4 elements in the last dimension"));
  EXPECT_TRUE(has(built({}, {2, 3, 6}, {2, 2, 4}), "noise is 'tensor<2x2x4xf32>', wanted the tokens of x"));
}

TEST_F(MixtureOfExpertsBlock, Errors) {
  EXPECT_TRUE(has(built({{"top_k", 0}}, {2, 3, 6}), "option top_k is 0")) << built({{"top_k", 0}}, {2, 3, 6});
  EXPECT_TRUE(has(built({{"num_experts", 0}}, {2, 3, 6}), "option num_experts is 0"));
  EXPECT_TRUE(has(built({{"noise_std", -1.0}}, {2, 3, 6}), "option noise_std is -1"));
  EXPECT_TRUE(
      has(built({}, {2, 3, 7}), "x is 'tensor<2x3x7xf32>', wanted rank 3 and 6 elements in the last dimension"));
  EXPECT_TRUE(has(built({}, {any, any, 6}), "x is 'tensor<?x?x6xf32>', wanted at most one dynamic dimension"));
  EXPECT_TRUE(has(built({{"noise", 1.0}}, {2, 3, 6}), "no option 'noise'"));
}
