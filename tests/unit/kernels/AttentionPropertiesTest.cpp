// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said about attention (Vaswani et al., 2017, and the lectures on it), as properties of compiled modules.
#include "tests/unit/kernels/FunctionCase.h"

#include "ir/tw/Layers.h"

#include "mlir/IR/Verifier.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

using Tensors = std::vector<reference::Tensor>;

/// A module with a function @f of arguments of these shapes (f32), built by `body`.
OwningOpRef<ModuleOp> function(ArrayRef<SmallVector<int64_t>> shapes,
                               llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(UnknownLoc::get(&context())));
  ImplicitLocOpBuilder b(UnknownLoc::get(&context()), OpBuilder::atBlockEnd(module->getBody()));
  SmallVector<Type> types;
  for (ArrayRef<int64_t> shape : shapes)
    types.push_back(RankedTensorType::get(shape, b.getF32Type()));
  auto f = func::FuncOp::create(b, "f", b.getFunctionType(types, {}));
  b.setInsertionPointToStart(f.addEntryBlock());
  Value result = body(b, f.getArguments());
  func::ReturnOp::create(b, result);
  f.setFunctionType(b.getFunctionType(types, result.getType()));
  EXPECT_TRUE(succeeded(verify(*module)));
  return module;
}

/// A compiled function; all stages that a model goes through.
class Compiled {
public:
  explicit Compiled(OwningOpRef<ModuleOp> source) : module(std::move(source)) {
    FunctionOptions options;
    options.firstStage = "simplify";
    auto made = CompiledFunction::create(*module, "f", host().stages, none, options);
    EXPECT_TRUE(succeeded(made));
    if (succeeded(made))
      compiled = std::move(*made);
  }
  reference::Tensor operator()(ArrayRef<reference::Tensor> inputs) {
    auto results = compiled->run(inputs);
    EXPECT_TRUE(succeeded(results));
    return succeeded(results) ? results->front() : reference::Tensor();
  }

private:
  OwningOpRef<ModuleOp> module;
  reference::NoWeights none;
  std::unique_ptr<CompiledFunction> compiled;
};

/// Normally distributed numbers that f32 holds.
reference::Tensor normal(ArrayRef<int64_t> shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  auto tensor = reference::Tensor::floats(shape);
  for (double &number : tensor.reals)
    number = draw(random);
  return tensor;
}

constexpr int64_t width = 12; ///< E

/// Self-attention x [1, T, E] with weights q, k, v, o [E, E].
Value selfAttention(ImplicitLocOpBuilder &b, ValueRange in, int64_t heads, int64_t kvHeads, StringRef causal) {
  auto project = [&](Value weight, int64_t count) { return tw::splitHeads(b, tw::linear(b, in[0], weight), count); };
  Value q = project(in[1], heads), k = project(in[2], kvHeads), v = project(in[3], kvHeads);
  const double scale = 1 / std::sqrt(double(width / heads));
  return tw::linear(b, tw::joinHeads(b, tw::attention(b, q, k, v, {.scale = scale, .causal = causal})), in[4]);
}

OwningOpRef<ModuleOp> module(int64_t heads, int64_t kvHeads, StringRef causal) {
  const int64_t keys = width / heads * kvHeads;
  return function({{1, ShapedType::kDynamic, width}, {width, width}, {keys, width}, {keys, width}, {width, width}},
                  [&](ImplicitLocOpBuilder &b, ValueRange in) { return selfAttention(b, in, heads, kvHeads, causal); });
}

Tensors inputs(int64_t tokens, int64_t keys = width) {
  return {normal({1, tokens, width}, 1), normal({width, width}, 2), normal({keys, width}, 3), normal({keys, width}, 4),
          normal({width, width}, 5)};
}

/// Row t of [1, T, E].
ArrayRef<double> row(const reference::Tensor &x, int64_t t) {
  return ArrayRef(x.reals).slice(t * x.shape[2], x.shape[2]);
}

/// Two ways to the same numbers, up to about 30 behind four products with normal weights: a hundred roundings of 2^-24.
void expectNear(ArrayRef<double> got, ArrayRef<double> want, const std::string &what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 2e-4) << what << ", element " << i;
}

// Without mask and positions attention knows sets, not sequences: permuted inputs give permuted outputs.
TEST(AttentionProperties, PermutedInputsGivePermutedOutputs) {
  Compiled f(module(3, 3, "none"));
  Tensors in = inputs(7);
  reference::Tensor straight = f(in);
  const std::vector<int64_t> order = {4, 0, 6, 2, 1, 5, 3};
  reference::Tensor x = in[0];
  for (int64_t t = 0; t < 7; ++t)
    llvm::copy(row(x, order[t]), in[0].reals.begin() + t * width);
  reference::Tensor permuted = f(in);
  for (int64_t t = 0; t < 7; ++t)
    expectNear(row(permuted, t), row(straight, order[t]), "token " + std::to_string(t));
  // With a causal mask it is a sequence.
  Compiled causal(module(3, 3, "end"));
  EXPECT_GT(std::fabs(row(causal(in), 0)[0] - row(straight, order[0])[0]), 1e-2);
}

// All tokens at once with a causal mask is one token after another.
TEST(AttentionProperties, ParallelCausalIsTokenByToken) {
  Compiled f(module(3, 1, "end"));
  Tensors in = inputs(6, 4);
  reference::Tensor whole = f(in), x = in[0];
  for (int64_t tokens = 1; tokens <= 6; ++tokens) {
    in[0] = reference::Tensor::floats({1, tokens, width});
    std::copy_n(x.reals.begin(), tokens * width, in[0].reals.begin());
    expectNear(row(f(in), tokens - 1), row(whole, tokens - 1), "token " + std::to_string(tokens - 1));
  }
}

// As many key/value heads as query heads is multi-head attention: each head attends with its own rows of the weights.
TEST(AttentionProperties, AsManyKeyHeadsAsQueryHeadsIsMultiHead) {
  constexpr int64_t heads = 3, d = width / heads;
  Compiled grouped(module(heads, heads, "none"));
  Compiled apart(function({{1, 5, width}, {width, width}, {width, width}, {width, width}, {width, width}},
                          [&](ImplicitLocOpBuilder &b, ValueRange in) {
                            SmallVector<Value> outputs;
                            for (int64_t h = 0; h < heads; ++h) {
                              SmallVector<Value> parts;
                              for (Value weight : in.slice(1, 3))
                                parts.push_back(tw::linear(b, in[0], tw::slice(b, weight, 0, h * d, d)));
                              auto type = tw::tensorType(parts[0]).clone({1, 5, 5});
                              Value scores = tw::BatchMatmulOp::create(b, type, parts[0], parts[1], true);
                              scores = tw::MulOp::create(b, scores, tw::splat(b, 1 / std::sqrt(double(d)), scores));
                              Value weights = tw::SoftmaxOp::create(b, scores, 2);
                              outputs.push_back(
                                  tw::BatchMatmulOp::create(b, parts[2].getType(), weights, parts[2], false));
                            }
                            return tw::linear(b, tw::concat(b, 2, outputs), in[4]);
                          }));
  Tensors in = inputs(5);
  expectNear(grouped(in).reals, apart(in).reals, "three heads");
}

// One head without an output projection is trainable self-attention: softmax(X Wq (X Wk)^T / sqrt(C)) X Wv.
TEST(AttentionProperties, OneHeadIsTrainableSelfAttention) {
  Compiled oneHead(module(1, 1, "none"));
  Compiled written(function({{1, 5, width}, {width, width}, {width, width}, {width, width}, {width, width}},
                            [&](ImplicitLocOpBuilder &b, ValueRange in) {
                              Value x = tw::reshape(b, in[0], {5, width});
                              auto times = [&](Value weight) -> Value { // [5, C]
                                return tw::BatchMatmulOp::create(b, tw::tensorType(x), x, weight, true);
                              };
                              auto square = tw::tensorType(x).clone({5, 5});
                              Value scores = tw::BatchMatmulOp::create(b, square, times(in[1]), times(in[2]), true);
                              scores = tw::DivOp::create(b, scores, tw::splat(b, std::sqrt(double(width)), scores));
                              Value y = tw::BatchMatmulOp::create(
                                  b, tw::tensorType(x), tw::SoftmaxOp::create(b, scores, 1), times(in[3]), false);
                              return tw::reshape(b, tw::linear(b, y, in[4]), {1, 5, width});
                            }));
  Tensors in = inputs(5);
  expectNear(oneHead(in).reals, written(in).reals, "one head");
}

// Attention alone only averages: with V = X every output lies between the inputs' extremes, and closer with each layer.
TEST(AttentionProperties, StackedAttentionOnlyAverages) {
  Compiled f(function({{1, 1, ShapedType::kDynamic, width}}, [](ImplicitLocOpBuilder &b, ValueRange in) {
    Value x = in[0];
    for (int layer = 0; layer < 3; ++layer)
      x = tw::attention(b, x, x, x, {.scale = 1 / std::sqrt(double(width))});
    return x;
  }));
  reference::Tensor x = normal({1, 1, 9, width}, 11), y = f(x);
  for (int64_t column = 0; column < width; ++column) {
    auto extremes = [&](const reference::Tensor &tensor) {
      std::vector<double> values;
      for (int64_t t = 0; t < 9; ++t)
        values.push_back(tensor.reals[t * width + column]);
      return std::pair(*llvm::min_element(values), *llvm::max_element(values));
    };
    auto [low, high] = extremes(x);
    auto [lowest, highest] = extremes(y);
    // Numbers up to 3, with weights that add up to 1 but for rounding: 50 times 2^-24 of them.
    EXPECT_GE(lowest, low - 1e-5) << column;
    EXPECT_LE(highest, high + 1e-5) << column;
    EXPECT_LT(highest - lowest, high - low) << column;
  }
}

// h heads of width E / h multiply as often as one head of width E.
TEST(AttentionProperties, ManyHeadsCostWhatOneCosts) {
  auto multiplications = [](int64_t heads) {
    int64_t count = 0;
    OwningOpRef<ModuleOp> m = module(heads, heads, "none");
    m->walk([&](Operation *op) {
      if (auto linear = dyn_cast<tw::LinearOp>(op)) // [1, T, in] by [out, in], for one token
        count += linear.getWeight().getType().getNumElements();
      if (auto attention =
              dyn_cast<tw::AttentionOp>(op)) { // queries by keys, weights by values, for one pair of tokens
        count += attention.getQuery().getType().getDimSize(1) * attention.getQuery().getType().getDimSize(3);
        count += attention.getQuery().getType().getDimSize(1) *
                 cast<RankedTensorType>(attention.getValue().getType()).getDimSize(3);
      }
    });
    return count;
  };
  EXPECT_EQ(multiplications(1), 4 * width * width + 2 * width);
  for (int64_t heads : {2, 3, 4, 6, 12})
    EXPECT_EQ(multiplications(heads), multiplications(1)) << heads;
}

// Products of D normal numbers have a variance of D: unscaled, the softmax all but chooses one key; divided by the root
// of D it does not. Over fifty seeds the largest of 16 weights, averaged over 16 rows, is 0.83 to 0.99 unscaled and
// 0.21 to 0.31 scaled.
TEST(AttentionProperties, UnscaledScoresSaturateAtLargeWidth) {
  constexpr int64_t d = 512, tokens = 16;
  auto largestWeights = [&](double scale) {
    Compiled f(function({{1, 1, tokens, d}, {1, 1, tokens, d}, {1, 1, tokens, tokens}},
                        [&](ImplicitLocOpBuilder &b, ValueRange in) {
                          return tw::attention(b, in[0], in[1], in[2], {.scale = scale});
                        }));
    reference::Tensor identity = reference::Tensor::floats({1, 1, tokens, tokens}); // the result is the weights
    for (int64_t t = 0; t < tokens; ++t)
      identity.reals[t * tokens + t] = 1;
    reference::Tensor weights = f({normal({1, 1, tokens, d}, 21), normal({1, 1, tokens, d}, 22), identity});
    double sum = 0;
    for (int64_t t = 0; t < tokens; ++t)
      sum += *llvm::max_element(ArrayRef(weights.reals).slice(t * tokens, tokens));
    return sum / tokens;
  };
  EXPECT_GT(largestWeights(1), 0.8);
  EXPECT_LT(largestWeights(1 / std::sqrt(double(d))), 0.35);
}

} // namespace
