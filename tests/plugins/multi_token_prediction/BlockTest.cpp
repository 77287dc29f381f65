// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block multi_token_prediction: the article's names and defaults, shapes of its results, and what is said about
// wrong use.
#include "frontend/api/Block.h"
#include "plugins/multi_token_prediction/MultiTokenPrediction.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;

namespace {

class MultiTokenPredictionBlock : public testing::Test {
protected:
  MultiTokenPredictionBlock() {
    context.loadDialect<func::FuncDialect, tw::TwDialect, multi_token_prediction::MultiTokenPredictionDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    multi_token_prediction::registerBlocks(blocks);
  }

  /// The block's function on x and, unless empty, labels: "argument types -> result types", or the diagnostic.
  std::string built(const std::map<std::string, BlockValue> &options, ArrayRef<int64_t> x,
                    ArrayRef<int64_t> labels = {}) {
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { said += d.str(); });
    std::vector<std::pair<std::string, RankedTensorType>> inputs = {
        {"x", RankedTensorType::get(x, Float32Type::get(&context))}};
    if (!labels.empty())
      inputs.push_back({"labels", RankedTensorType::get(labels, IntegerType::get(&context, 32))});
    auto function = buildBlockFunction(*module, "f", blocks, inputs, [&](BlockBuilder &b, ValueRange in) {
      return b.block("multi_token_prediction", options, in);
    });
    if (failed(function) || failed(verify(*module)))
      return said;
    std::string text;
    llvm::raw_string_ostream(text) << function->getFunctionType();
    function->erase();
    return said + text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  BlockRegistry blocks;
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
  const std::map<std::string, BlockValue> options = {{"hidden_dim", 8}, {"vocab_size", 30}};
  EXPECT_EQ(built(options, {any, 5, 8}),
            "(tensor<?x5x8xf32>, tensor<2x30x8xf32>, tensor<2x30xf32>) -> (tensor<?x1x30xf32>, tensor<?x2x30xf32>)");
  EXPECT_EQ(built(options, {2, any, 8}),
            "(tensor<2x?x8xf32>, tensor<2x30x8xf32>, tensor<2x30xf32>) -> (tensor<2x1x30xf32>, tensor<2x2x30xf32>)");
}

TEST_F(MultiTokenPredictionBlock, Errors) {
  const std::map<std::string, BlockValue> options = {{"hidden_dim", 8}, {"vocab_size", 30}};
  for (const SmallVector<int64_t> &shape : {SmallVector<int64_t>{2, 0, 8}, SmallVector<int64_t>{any, any, 8}})
    EXPECT_NE(built(options, shape).find("wanted [B, T, E] with a T of at least 1 and one dynamic dimension at most"),
              std::string::npos);
  EXPECT_NE(built(options, {2, 5, 7}).find("wanted rank 3 and 8 elements in the last dimension"), std::string::npos);
  EXPECT_NE(built({{"hidden_dim", 8}}, {2, 5, 8}).find("vocab_size"), std::string::npos);
  EXPECT_NE(built({{"hidden_dim", 8}, {"vocab_size", 30}, {"num_predicted_tokens", 0}}, {2, 5, 8})
                .find("num_predicted_tokens"),
            std::string::npos);
}
