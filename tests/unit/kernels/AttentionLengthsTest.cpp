// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention at lengths on both sides of tiles' and blocks' multiples, with heads of every usual size, compiled, against
// plain loops in double precision: every row is written (memory is NaN before), and nothing is read behind the last key
// (where pages that nobody may touch begin). TILEWRIGHT_LATTICE=N runs N of 20,000 parts of all combinations (1000).
#include "tests/unit/kernels/FunctionCase.h"

#include <cstdlib>

using namespace tilewright;
using namespace tilewright::test;
using reference::Tensor;

namespace {

constexpr int64_t kLengths[] = {1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 257, 300};
constexpr int64_t kHeads = 2;

struct Combination {
  int64_t queries, keys, dim;
  bool causal; ///< aligned at the end

  std::string text() const {
    const std::string q = typeText({1, kHeads, queries, dim}, "f32"), k = typeText({1, 1, keys, dim}, "f32");
    return "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + k + ") -> " + q +
           " {\n  %y = tw.attention query(%q : " + q + ") key(%k : " + k + ") value(%v : " + k +
           ") {scale = 0.1 : f64" + (causal ? ", causal = \"end\"" : "") + "} -> " + q + "\n  return %y : " + q +
           "\n}\n";
  }
};

std::vector<Combination> someCombinations() {
  std::vector<Combination> all;
  for (int64_t queries : kLengths)
    for (int64_t keys : kLengths)
      for (int64_t dim : {40, 64, 80, 96, 128, 256})
        for (bool causal : {false, true})
          all.push_back({queries, keys, dim, causal});
  std::shuffle(all.begin(), all.end(), std::mt19937(11));
  const char *wanted = std::getenv("TILEWRIGHT_LATTICE");
  const size_t parts = wanted ? std::max(1, std::atoi(wanted)) : 1000;
  all.resize(std::min(all.size(), (all.size() * parts + 19'999) / 20'000));
  return all;
}

/// A row without keys is zero.
Tensor plainLoops(const Combination &c, const std::vector<Tensor> &in) {
  Tensor out = Tensor::floats({1, kHeads, c.queries, c.dim});
  std::vector<double> weights(c.keys);
  for (int64_t row = 0; row < kHeads * c.queries; ++row) {
    const int64_t seen = c.causal ? std::max<int64_t>(0, row % c.queries + 1 + c.keys - c.queries) : c.keys;
    double total = 0;
    for (int64_t key = 0; key < seen; ++key) {
      double dot = 0;
      for (int64_t d = 0; d < c.dim; ++d)
        dot += in[0].reals[row * c.dim + d] * in[1].reals[key * c.dim + d];
      total += weights[key] = std::exp(0.1 * dot);
    }
    for (int64_t key = 0; key < seen; ++key)
      for (int64_t d = 0; d < c.dim; ++d)
        out.reals[row * c.dim + d] += weights[key] / total * in[2].reals[key * c.dim + d];
  }
  return out;
}

TEST(AttentionLengths, AgreeWithPlainLoops) {
  size_t number = 0;
  for (const Combination &c : someCombinations()) {
    SCOPED_TRACE(c.text());
    auto module = mlir::parseSourceString<mlir::ModuleOp>(c.text(), &context());
    ASSERT_TRUE(module);
    const std::vector<Tensor> inputs =
        randomInputs(module->lookupSymbol<mlir::func::FuncOp>("f"),
                     {{1, kHeads, c.queries, c.dim}, {1, 1, c.keys, c.dim}, {1, 1, c.keys, c.dim}}, 1);
    reference::NoWeights none;
    FunctionOptions options;
    options.firstStage = ++number % 2 ? "simplify" : "tile"; // what a plugin makes of it, and core's own kernel
    auto compiled = CompiledFunction::create(*module, "f", host().stages, none, options);
    ASSERT_TRUE(succeeded(compiled));
    auto got = (*compiled)->run(inputs);
    ASSERT_TRUE(succeeded(got));
    const Tensor want = plainLoops(c, inputs);
    // Scores are sums of up to 256 products of up to 4, a tenth of that off by 100 * 2^-24, and weights by as much.
    EXPECT_EQ(firstDisagreement(got->front(), want, 1e-5), "");
    if (c.causal && c.queries > c.keys)
      for (int64_t i = 0; i < (c.queries - c.keys) * c.dim; ++i)
        ASSERT_EQ(got->front().reals[i], 0) << "a row that sees nothing";
  }
}

} // namespace
