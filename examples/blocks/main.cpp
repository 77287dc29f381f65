// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of the techniques, each written in a few lines, as graphs:
//
//   blocks [--plugin FILE|NAME]... [NAME...]
//
// prints a module with one function for each name (all, if none): x is its first argument, then come the parameters
// with their names and initial values. Plugins are found as every Tilewright program finds them (docs/plugins.md).
#include "frontend/api/Block.h"
#include "ir/tw/Build.h"
#include "ir/tw/Layers.h"
#include "passes/api/Stages.h"
#include "plugins/api/Loader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilewright;

namespace {

/// x of every example: two sequences of twelve tokens.
constexpr int64_t batch = 2, tokens = 12, dim = 64;

struct Example {
  llvm::StringRef name;
  BlockResults (*build)(BlockBuilder &b, mlir::ValueRange in);
};

const Example examples[] = {
    // Eight query heads of 64 share two key/value heads.
    {"grouped_query_attention",
     [](BlockBuilder &b, mlir::ValueRange in) {
       return b.block("grouped_query_attention", {{"dim", dim}, {"num_heads", 8}, {"num_kv_heads", 2}}, in);
     }},
    // 64 latents between the tokens.
    {"latent_attention",
     [](BlockBuilder &b, mlir::ValueRange in) {
       return b.block("latent_attention", {{"dim", dim}, {"num_heads", 4}}, in);
     }},
    {"flash_attention",
     [](BlockBuilder &b, mlir::ValueRange in) {
       return b.block("flash_attention", {{"dim", dim}, {"num_heads", 4}}, in);
     }},
    // Queries, keys and values of four heads in one tensor: attention without projections of its own.
    {"flash_attention_packed",
     [](BlockBuilder &b, mlir::ValueRange in) {
       mlir::Value packed = b.linear("qkv", in[0], 3 * dim);
       return b.block("flash_attention_packed", {{"causal", true}},
                      tw::reshape(b.b, packed, {batch, tokens, 3, 4, dim / 4}));
     }},
    // Three shards of the sequence, whose keys and values go round.
    {"ring_attention",
     [](BlockBuilder &b, mlir::ValueRange in) {
       return b.block("ring_attention", {{"dim", dim}, {"num_heads", 4}, {"num_shards", 3}}, in);
     }},
    // x + f(norm(x)): a gated feed-forward block behind a norm.
    {"pre_norm",
     [](BlockBuilder &b, mlir::ValueRange in) {
       return b.block("pre_norm", {{"dim", dim}, {"norm_type", std::string("rms")}}, in,
                      [](BlockBuilder &b, mlir::ValueRange in) { return b.block("swiglu", {{"dim_in", dim}}, in); });
     }},
    {"rms_norm", [](BlockBuilder &b, mlir::ValueRange in) { return b.block("rms_norm", {{"dim", dim}}, in); }},
    {"swiglu", [](BlockBuilder &b,
                  mlir::ValueRange in) { return b.block("swiglu", {{"dim_in", dim}, {"dim_hidden", 172}}, in); }},
    // Queries of four heads turned by their positions; the tables of cosines and sines are further results.
    {"rotary_embedding",
     [](BlockBuilder &b, mlir::ValueRange in) {
       return b.block("rotary_embedding", {{"dim", dim / 4}}, tw::splitHeads(b.b, in[0], 4));
     }},
    // Two of eight experts for each token; the second result is the balance loss.
    {"mixture_of_experts",
     [](BlockBuilder &b, mlir::ValueRange in) {
       return b.block("mixture_of_experts",
                      {{"input_dim", dim}, {"hidden_dim", 128}, {"output_dim", dim}, {"num_experts", 8}}, in);
     }},
    // The next token and the three behind it.
    {"multi_token_prediction",
     [](BlockBuilder &b, mlir::ValueRange in) {
       return b.block("multi_token_prediction",
                      {{"hidden_dim", dim}, {"vocab_size", 1000}, {"num_predicted_tokens", 4}}, in);
     }},
};

int fail(const llvm::Twine &message, int code) {
  llvm::errs() << "blocks: error: " << message << "\n";
  return code;
}

} // namespace

int main(int argc, char **argv) {
  std::string program = llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&fail));
  llvm::Expected<PluginSearch> search = PluginSearch::fromEnvironment(program);
  if (!search)
    return fail(llvm::toString(search.takeError()), 1);
  std::vector<llvm::StringRef> names;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument == "--plugin" && i + 1 < argc)
      search->explicitPlugins.push_back(argv[++i]);
    else if (argument.starts_with("-"))
      return fail("unknown option '" + argument + "', wanted --plugin FILE|NAME", 2);
    else
      names.push_back(argument);
  }
  if (names.empty())
    for (const Example &example : examples)
      names.push_back(example.name);

  mlir::DialectRegistry dialects;
  dialects.insert<mlir::func::FuncDialect, tw::TwDialect>();
  StageRegistry stages;
  PluginLoader plugins(dialects, stages);
  if (llvm::Error error = plugins.load(*search))
    return fail(llvm::toString(std::move(error)), 1);
  BlockRegistry blocks = plugins.blocks();

  mlir::MLIRContext context(dialects);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  auto type = mlir::RankedTensorType::get({batch, tokens, dim}, mlir::Float32Type::get(&context));
  for (llvm::StringRef name : names) {
    const Example *example = llvm::find_if(examples, [&](const Example &each) { return each.name == name; });
    if (example == std::end(examples))
      return fail("no example '" + name + "'", 2);
    if (mlir::failed(buildBlockFunction(*module, name, blocks, {{"x", type}}, example->build)))
      return 1; // the diagnostic says why
  }
  module->print(llvm::outs());
  return 0;
}
