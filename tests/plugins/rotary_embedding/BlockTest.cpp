// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block `rotary_embedding`: defaults, forms of its inputs, and what is said about wrong uses.
#include "frontend/api/Block.h"
#include "plugins/rotary_embedding/RotaryEmbedding.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "gmock/gmock.h"

using namespace mlir;
using namespace tilewright;
using testing::HasSubstr;

namespace {

class RotaryBlock : public testing::Test {
protected:
  RotaryBlock() {
    context.loadDialect<func::FuncDialect, tw::TwDialect, rotary_embedding::RotaryEmbeddingDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    rotary_embedding::registerBlocks(blocks);
  }

  /// The function, or what was said instead.
  std::string built(const std::map<std::string, BlockValue> &options, ArrayRef<StringRef> types) {
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { said += d.str(); });
    std::vector<std::pair<std::string, RankedTensorType>> inputs;
    for (StringRef type : types)
      inputs.emplace_back("x" + std::to_string(inputs.size()), cast<RankedTensorType>(parseType(type, &context)));
    auto function = buildBlockFunction(*module, "f", blocks, inputs, [&](BlockBuilder &b, ValueRange in) {
      return b.block("rotary_embedding", options, in);
    });
    if (failed(function))
      return said;
    std::string text;
    llvm::raw_string_ostream(text) << **function;
    function->erase();
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  BlockRegistry blocks;
};

TEST_F(RotaryBlock, QueriesAndKeysByOneTable) {
  std::string text = built({{"dim", 8}}, {"tensor<2x4x3x8xf32>", "tensor<2x1x3x8xf32>"});
  EXPECT_THAT(text, HasSubstr("-> (tensor<2x4x3x8xf32>, tensor<2x1x3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>)"));
  EXPECT_THAT(text, HasSubstr("tw.constant dense<[0, 1, 2]> : tensor<3xi32>"));
  // The defaults: base 10000, half-split.
  EXPECT_THAT(text, HasSubstr("rotary_embedding.tables %0 {dim = 8 : i64} : tensor<3xi32> -> tensor<3x8xf32>"));
  EXPECT_THAT(text, HasSubstr("rotary_embedding.apply %arg1, %cosine, %sine : tensor<2x1x3x8xf32>, tensor<3x8xf32>"));
}

TEST_F(RotaryBlock, GivenPositionsAndUnknownLengths) {
  std::string text =
      built({{"dim", 8}, {"base", 500000}, {"interleaved", true}}, {"tensor<2x4x?x8xf32>", "tensor<2x?xi32>"});
  EXPECT_THAT(
      text,
      HasSubstr(
          R"(rotary_embedding.tables %arg1 {base = 5.000000e+05 : f64, dim = 8 : i64, layout = "interleaved"} : tensor<2x?xi32> -> tensor<2x?x8xf32>)"));
  EXPECT_THAT(text, HasSubstr(R"(rotary_embedding.apply %arg0, %cosine, %sine {layout = "interleaved"})"));
  EXPECT_THAT(built({{"dim", 8}}, {"tensor<2x4x?x8xf32>"}), HasSubstr("tw.iota"));
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
