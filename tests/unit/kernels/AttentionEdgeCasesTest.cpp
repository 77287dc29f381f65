// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Faults that were met elsewhere, with results worked out by hand: attention as core compiles it, as a plugin fuses it,
// and as the interpreter runs it.
#include "tests/unit/kernels/FunctionCase.h"

#include <limits>

using namespace tilewright;
using namespace tilewright::test;
using reference::Tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

Tensor floats(std::vector<int64_t> shape, std::vector<double> values) {
  Tensor tensor = Tensor::floats(shape);
  tensor.reals = std::move(values);
  return tensor;
}
Tensor same(std::vector<int64_t> shape, double value) {
  Tensor tensor = Tensor::floats(shape);
  tensor.reals.assign(tensor.reals.size(), value);
  return tensor;
}
/// V[j] = j in heads of `depth` elements: [1, 1, keys, depth].
Tensor counting(int64_t keys, int64_t depth) {
  Tensor tensor = Tensor::floats({1, 1, keys, depth});
  for (size_t i = 0; i < tensor.reals.size(); ++i)
    tensor.reals[i] = static_cast<double>(i / depth);
  return tensor;
}

struct Operand {
  const char *name;
  Tensor value;
  const char *element = "f32";
};

/// The first result of attention over `operands` in all three ways, which must agree to `bound` with `want`. Scores are
/// exact here; an exponential, the sums and the quotient may take 16 roundings of f32 (2^-24).
void expect(std::vector<Operand> operands, const std::string &attributes, const Tensor &want, double bound = 1e-6) {
  std::string arguments, uses;
  std::vector<Tensor> inputs;
  for (const Operand &operand : operands) {
    std::string type = typeText(operand.value.shape, operand.element);
    arguments += (arguments.empty() ? "%" : ", %") + std::string(operand.name) + ": " + type;
    uses += std::string(" ") + operand.name + "(%" + operand.name + " : " + type + ")";
    inputs.push_back(operand.value);
  }
  std::string result = typeText(want.shape, operands[0].element);
  std::string text = "func.func @f(" + arguments + ") -> " + result + " {\n  %y = tw.attention" + uses + " {" +
                     attributes + "} -> " + result + "\n  return %y : " + result + "\n}\n";
  SCOPED_TRACE(text);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  ASSERT_TRUE(module);
  auto reference = interpret(*module, inputs);
  ASSERT_TRUE(succeeded(reference));
  EXPECT_TRUE(agrees((*reference)[0], want, bound)) << "interpreted";
  reference::NoWeights none;
  for (const char *first : {"tile", "simplify"}) {
    FunctionOptions options;
    options.firstStage = first;
    auto compiled = CompiledFunction::create(*module, "f", host().stages, none, options);
    ASSERT_TRUE(succeeded(compiled));
    auto got = (*compiled)->run(inputs);
    ASSERT_TRUE(succeeded(got));
    EXPECT_TRUE(agrees((*got)[0], want, bound))
        << "compiled from stage " << first << ", element 0 is " << ((*got)[0].reals.empty() ? 0.0 : (*got)[0].reals[0]);
  }
}

TEST(AttentionEdgeCases, ARowWithoutKeysIsZero) {
  Tensor v = floats({1, 1, 3, 4}, {1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4}),
         want = floats({1, 1, 2, 4}, {1, 1, 1, 1, 0, 0, 0, 0});
  for (const char *element : {"f32", "f16", "bf16"}) {
    std::vector<Operand> qkv = {
        {"query", same({1, 1, 2, 4}, 0), element}, {"key", same({1, 1, 3, 4}, 1), element}, {"value", v, element}};
    std::vector<Operand> masked = qkv, biased = qkv, together = qkv;
    masked.push_back({"mask", integers({1, 0, 0, 0, 0, 0}, {2, 3}), "i1"});
    expect(masked, "scale = 1.0 : f64", want, 0);
    biased.push_back(
        {"bias", floats({2, 3}, {0, -kInfinity, -kInfinity, -kInfinity, -kInfinity, -kInfinity}), element});
    expect(biased, "scale = 1.0 : f64", want, 0);
    // Causality and padding only together leave row 0 empty.
    together.push_back({"kv_start", integers({1}), "i32"});
    expect(together, "scale = 1.0 : f64, causal = \"start\"", floats({1, 1, 2, 4}, {0, 0, 0, 0, 2, 2, 2, 2}), 0);
  }
}

TEST(AttentionEdgeCases, TwoSaturatedMasksDoNotAddUp) {
  // Padding on the left and causality: rows of pads are zero, real rows are those of the two tokens alone.
  expect({{"query", same({1, 1, 5, 8}, 0)},
          {"key", same({1, 1, 5, 8}, 1)},
          {"value", counting(5, 1)},
          {"kv_start", integers({3}), "i32"}},
         "scale = 1.0 : f64, causal = \"end\"", floats({1, 1, 5, 1}, {0, 0, 0, 3, 3.5}));
  // A finite fill stays a bias: all keys alike give the mean.
  double lowest = std::numeric_limits<float>::lowest();
  expect({{"query", same({1, 1, 1, 8}, 0)},
          {"key", same({1, 1, 4, 8}, 1)},
          {"value", counting(4, 2)},
          {"bias", same({1, 4}, lowest)}},
         "scale = 1.0 : f64", same({1, 1, 1, 2}, 1.5));
}

TEST(AttentionEdgeCases, MoreQueriesThanKeys) {
  std::vector<Operand> qkv = {
      {"query", same({1, 1, 5, 8}, 0)}, {"key", same({1, 1, 2, 8}, 1)}, {"value", counting(2, 1)}};
  expect(qkv, "scale = 1.0 : f64, causal = \"end\"", floats({1, 1, 5, 1}, {0, 0, 0, 0, 0.5}), 0);
  std::vector<Operand> none = {
      {"query", same({1, 1, 5, 8}, 0)}, {"key", same({1, 1, 0, 8}, 1)}, {"value", counting(0, 1)}};
  expect(none, "scale = 1.0 : f64, causal = \"end\"", same({1, 1, 5, 1}, 0), 0);
}

TEST(AttentionEdgeCases, TheOffsetIsInTheGraph) {
  std::vector<Operand> qkv = {
      {"query", same({1, 1, 2, 2}, 0)}, {"key", same({1, 1, 5, 2}, 1)}, {"value", counting(5, 1)}};
  expect(qkv, "scale = 1.0 : f64, causal = \"end\"", floats({1, 1, 2, 1}, {1.5, 2}));
  expect(qkv, "scale = 1.0 : f64, causal = \"start\", offset = 3 : i64", floats({1, 1, 2, 1}, {1.5, 2}));
  expect(qkv, "scale = 1.0 : f64, causal = \"start\"", floats({1, 1, 2, 1}, {0, 0.5}));
}

TEST(AttentionEdgeCases, HeadsOfAGroupStandTogether) {
  for (auto [heads, kvHeads] : {std::pair<int64_t, int64_t>(4, 2), {8, 1}, {8, 8}, {28, 4}, {32, 8}, {6, 3}}) {
    Tensor v = Tensor::floats({1, kvHeads, 3, 1}), want = Tensor::floats({1, heads, 3, 1});
    for (size_t i = 0; i < v.reals.size(); ++i)
      v.reals[i] = 10.0 * (i / 3 + 1);
    for (size_t i = 0; i < want.reals.size(); ++i)
      want.reals[i] = 10.0 * (i / 3 / (heads / kvHeads) + 1);
    expect({{"query", same({1, heads, 3, 8}, 0)}, {"key", same({1, kvHeads, 3, 8}, 1)}, {"value", v}},
           "scale = 1.0 : f64", want);
  }
}

TEST(AttentionEdgeCases, AWindowCountsTheOwnKey) {
  Tensor want = floats({1, 1, 10, 1}, {0, 0.5, 1, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5});
  std::vector<Operand> qkv = {
      {"query", same({1, 1, 10, 8}, 0)}, {"key", same({1, 1, 10, 8}, 1)}, {"value", counting(10, 1)}};
  expect(qkv, "scale = 1.0 : f64, causal = \"end\", window = 4 : i64", want);
  // On both sides: 2 before, the own one, 2 behind.
  expect(qkv, "scale = 1.0 : f64, radius = 2 : i64", floats({1, 1, 10, 1}, {1, 1.5, 2, 3, 4, 5, 6, 7, 7.5, 8}));
}

TEST(AttentionEdgeCases, SoftCapsMatter) {
  // Scores 0 and 200; capped by 50 the second is 49.966, and by 5 it is 5. The result is off by as much of itself as
  // the capped score absolutely, by up to 50 times the error of tanh; four millionths are less than its contract's
  // 1e-5.
  for (double cap : {1.0, 5.0, 50.0}) {
    double capped = cap * std::tanh(200 / cap);
    expect({{"query", same({1, 1, 1, 1}, 1)},
            {"key", floats({1, 1, 2, 1}, {0, 200})},
            {"value", floats({1, 1, 2, 1}, {1, 0})}},
           "scale = 1.0 : f64, softcap = " + std::to_string(cap) + " : f64",
           floats({1, 1, 1, 1}, {1 / (1 + std::exp(capped))}), 2e-4);
  }
}

TEST(AttentionEdgeCases, ASoftCapOfZeroIsNone) {
  std::vector<Operand> qkv = {{"query", same({1, 1, 1, 1}, 1)},
                              {"key", floats({1, 1, 2, 1}, {0, 200})},
                              {"value", floats({1, 1, 2, 1}, {2, 1})}};
  expect(qkv, "scale = 1.0 : f64, softcap = 0.0 : f64", same({1, 1, 1, 1}, 1));
  expect(qkv, "scale = 1.0 : f64", same({1, 1, 1, 1}, 1));
  // The smallest and largest that are taken: scores of nothing, and scores as they are.
  expect(qkv, "scale = 1.0 : f64, softcap = 1.0e-37 : f64", floats({1, 1, 1, 1}, {1.5}));
  expect(qkv, "scale = 0.01 : f64, softcap = 1.0e+37 : f64", floats({1, 1, 1, 1}, {1 + 1 / (1 + std::exp(2.0))}), 1e-5);
}

// A row without a key inside of tiles whose other rows have some, at lengths around those of tiles.
TEST(AttentionEdgeCases, RowsWithoutKeysAmongOthers) {
  for (int64_t rows : {1, 16, 65})
    for (int64_t keys : {1, 16, 65}) {
      Tensor mask = Tensor::ints({rows, keys}), want = Tensor::floats({1, 1, rows, 4});
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t seen = row % 3 == 1 || rows == 1 ? -1 : row * 5 % keys; // the one key that the row sees
        for (int64_t key = 0; key < keys; ++key)
          mask.integers[row * keys + key] = key == seen;
        for (int64_t i = 0; i < 4; ++i)
          want.reals[row * 4 + i] = seen < 0 ? 0 : static_cast<double>(seen);
      }
      expect({{"query", same({1, 1, rows, 8}, 1)},
              {"key", same({1, 1, keys, 8}, 1)},
              {"value", counting(keys, 4)},
              {"mask", mask, "i1"}},
             "scale = 1.0 : f64", want, 0);
    }
}

TEST(AttentionEdgeCases, SinksJoinTheDenominatorOnly) {
  std::vector<Operand> qkv = {
      {"query", same({1, 2, 1, 4}, 0)}, {"key", same({1, 2, 1, 4}, 1)}, {"value", same({1, 2, 1, 1}, 1)}};
  std::vector<Operand> sunk = qkv, none = qkv;
  sunk.push_back({"sinks", floats({2}, {0, 2})});
  expect(sunk, "scale = 1.0 : f64", floats({1, 2, 1, 1}, {0.5, 1 / (1 + std::exp(2))}));
  none.push_back({"sinks", same({2}, -kInfinity)});
  expect(none, "scale = 1.0 : f64", same({1, 2, 1, 1}, 1), 0);
}

TEST(AttentionEdgeCases, HalvesDoNotOverflow) {
  for (const char *element : {"f16", "bf16"})
    for (double value : {256.0, 30.0})
      expect({{"query", same({1, 1, 2, 128}, value), element},
              {"key", same({1, 1, 2, 128}, value), element},
              {"value", counting(2, 4), element}},
             "scale = 0.08838834764831845 : f64", same({1, 1, 2, 4}, 0.5), 0);
}

TEST(AttentionEdgeCases, WhatHiddenKeysHoldDoesNotMatter) {
  // The last keys of the tile are padding that holds NaN, and one hidden by causality holds infinity.
  Tensor k = same({1, 1, 70, 8}, 1), v = counting(70, 8);
  for (size_t i = 60 * 8; i < k.reals.size(); ++i)
    k.reals[i] = v.reals[i] = kNan;
  for (int64_t rows : {3, 16})
    expect({{"query", same({1, 1, rows, 8}, 0)}, {"key", k}, {"value", v}, {"kv_end", integers({60}), "i32"}},
           "scale = 1.0 : f64", same({1, 1, rows, 8}, 29.5), 1e-6);
  Tensor future = counting(2, 1);
  future.reals[1] = kInfinity;
  expect({{"query", same({1, 1, 2, 8}, 0)}, {"key", same({1, 1, 2, 8}, 1)}, {"value", future}},
         "scale = 1.0 : f64, causal = \"end\"", floats({1, 1, 2, 1}, {0, kInfinity}), 0);
  // A visible one is not lost.
  Tensor seen = counting(2, 1);
  seen.reals[1] = kNan;
  expect({{"query", same({1, 1, 2, 8}, 0)}, {"key", same({1, 1, 2, 8}, 1)}, {"value", seen}},
         "scale = 1.0 : f64, causal = \"end\"", floats({1, 1, 2, 1}, {0, kNan}), 0);
}

} // namespace
