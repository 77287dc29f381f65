// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention of low rank: what compiled steps compute over a cache of latents, against keys and values of all heads made
// from them in plain arithmetic.
#include "tests/unit/kernels/Batch.h"
#include "tests/unit/kernels/FunctionCase.h"
#include "tests/unit/kernels/Inputs.h"
#include "tests/unit/kernels/ProgramRunner.h"
#include "tools/functions/SteppedFunction.h"

#include <cmath>
#include <numeric>

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct Shape {
  const char *name;
  int64_t heads, rank, nope, rope, value;
  int64_t cached() const { return rank + rope; }
  int64_t block() const { return nope + value; } ///< rows of the up-projection for a head
};

std::string programText(const Shape &s) {
  std::string text = inputText("latent-attention.mlir");
  for (auto [word, number] : std::vector<std::pair<const char *, int64_t>>{{"H", s.heads},
                                                                           {"DN", s.nope},
                                                                           {"R", s.rope},
                                                                           {"DV", s.value},
                                                                           {"C", s.rank},
                                                                           {"CR", s.cached()},
                                                                           {"U", s.heads * s.block()}})
    text = replaced(text, word, std::to_string(number));
  return text;
}

/// Which of a head's rows of the up-projection are taken for its keys.
enum class Order { KeysFirst, ValuesFirst };

/// Row of head `head`, queries `nope` and `rope`, over the cached rows: keys and values of the head are expanded.
std::vector<double> attend(const Shape &s, const std::vector<std::vector<float>> &rows, const std::vector<float> &up,
                           const float *nope, const float *rope, int64_t head, Order order = Order::KeysFirst) {
  const float *block = up.data() + head * s.block() * s.rank;
  auto times = [&](int64_t row, const std::vector<float> &latent) {
    double sum = 0;
    for (int64_t r = 0; r < s.rank; ++r)
      sum += double(block[row * s.rank + r]) * latent[r];
    return sum;
  };
  int64_t keys = order == Order::KeysFirst ? 0 : s.value, values = order == Order::KeysFirst ? s.nope : 0;
  std::vector<double> out(s.value);
  double total = 0, scale = 1 / std::sqrt(double(s.nope + s.rope));
  for (const std::vector<float> &row : rows) {
    double score = 0;
    for (int64_t d = 0; d < s.nope; ++d)
      score += nope[d] * times(keys + d, row);
    for (int64_t d = 0; d < s.rope; ++d)
      score += double(rope[d]) * row[s.rank + d];
    double weight = std::exp(score * scale);
    total += weight;
    for (int64_t d = 0; d < s.value; ++d)
      out[d] += weight * times(values + d, row);
  }
  for (double &number : out)
    number /= total;
  return out;
}

class LatentAttention : public testing::TestWithParam<std::tuple<Shape, const char *, const char *>> {};

} // namespace

TEST_P(LatentAttention, StepsOverLatentsEqualExpandedKeysAndValues) {
  auto [s, stage, kvType] = GetParam();
  std::string text = programText(s);
  if (!hasDialects(text))
    GTEST_SKIP() << "a plugin of the program is not built";
  const bool paired = std::string(kvType) == "bf16";
  std::map<std::string, std::unique_ptr<ProgramRunner>> runners;
  for (const ShapeClass &shapeClass : shapeClasses()) {
    auto &runner = runners[shapeClass.name.str()] =
        std::make_unique<ProgramRunner>(text, stage, shapeClass.name, "precise", *hostCpuLevels().back(), kvType);
    ASSERT_TRUE(runner->ready());
  }
  Batch batch(*runners["decode"], 8, 1, s.cached(), 0, paired);
  for (auto &[name, runner] : runners)
    runner->pools = runners["decode"]->pools;
  ASSERT_EQ(runners["decode"]->pools.size(), 1u) << "one buffer holds latents and rotary keys";

  std::mt19937 random(7);
  auto numbers = [&](size_t count, double scale) {
    std::vector<float> made(count);
    for (float &number : made)
      number = scale * (double(random() >> 8) / 8388608.0 - 1.0);
    return made;
  };
  std::vector<float> up = numbers(s.heads * s.block() * s.rank, 2.0 / std::sqrt(double(s.rank)));
  std::vector<std::vector<float>> histories[2];
  double swapped = 0; // how far the parts of the up-projection, taken the other way round, are from the result
  // Each of six positions alone, then both sequences: a small step, a prefill beyond a page, decoding again.
  for (auto [first, second] :
       std::vector<std::pair<int, int>>{{1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {3, 2}, {70, 9}, {1, 1}}) {
    int64_t added = first + second;
    const ShapeClass &shapeClass = shapeClassOf(added);
    Step step = batch.step({std::vector<int32_t>(first), std::vector<int32_t>(second)}, shapeClass);
    std::vector<float> nope = numbers(step.paddedRows * s.heads * s.nope, 2.0),
                       rope = numbers(step.paddedRows * s.heads * s.rope, 2.0),
                       rows = numbers(step.paddedRows * s.cached(), 1.0);
    ProgramRunner &runner = *runners[shapeClass.name.str()];
    auto result =
        runner.run("step",
                   {runner.table(nope), runner.table(rope), runner.table(rows), runner.table(up),
                    runner.table(step.rowStart), runner.table(step.kvLen), runner.table(step.positions), nullptr},
                   step);
    ASSERT_TRUE(result);
    double error = 0, largest = 1e-30;
    for (int64_t row = 0; row < added; ++row) {
      auto &history = histories[row >= first];
      history.emplace_back(rows.begin() + row * s.cached(), rows.begin() + (row + 1) * s.cached());
      for (int64_t head = 0; head < s.heads; ++head) {
        const float *got = result->as<float>() + (row * s.heads + head) * s.value,
                    *qn = nope.data() + (row * s.heads + head) * s.nope,
                    *qr = rope.data() + (row * s.heads + head) * s.rope;
        std::vector<double> want = attend(s, history, up, qn, qr, head),
                            other = attend(s, history, up, qn, qr, head, Order::ValuesFirst);
        for (int64_t d = 0; d < s.value; ++d) {
          error = std::isnan(got[d]) ? HUGE_VAL : std::max(error, std::fabs(got[d] - want[d]));
          largest = std::max(largest, std::fabs(want[d]));
          swapped = std::max(swapped, std::fabs(got[d] - other[d]));
        }
      }
    }
    // Results are about 1, and attention's contract allows 1e-4 of them; caches of bf16: five roundings of 2^-8.
    EXPECT_LE(error, paired ? 2e-2 * largest : 1e-5)
        << first << " and " << second << " rows, class " << shapeClass.name.str();
  }
  EXPECT_GT(swapped, 0.1) << "the test would not see keys and values of a head in the wrong order";

  // Slots that nothing filled are NaN: each token has rank + R numbers, and a last odd one of a pair its partner.
  int64_t held = 0, tokens = histories[0].size() + histories[1].size();
  Buffer &pool = *runners["decode"]->pools[0];
  int64_t elements = 8 * kPageTokens * (paired ? (s.cached() + 1) / 2 * 2 : s.cached());
  for (int64_t i = 0; i < elements; ++i)
    held += paired ? pool.as<uint16_t>()[i] != 0x7fc0 : !std::isnan(pool.as<float>()[i]);
  EXPECT_EQ(held, tokens * (paired ? (s.cached() + 1) / 2 * 2 : s.cached()));
}

namespace {
/// Bytes of a weight of 32 rows of one block: a scale of f16, then bytes.
class UpProjection : public reference::WeightProvider {
public:
  llvm::Expected<llvm::ArrayRef<uint8_t>> bytes(mlir::ml_program::GlobalOp) override {
    for (int64_t row = static_cast<int64_t>(stored.size()) / 34; row < 32; ++row) {
      stored.insert(stored.end(), {0, 0x20}); // 1 / 128
      for (int64_t i = 0; i < 32; ++i)
        stored.push_back(static_cast<uint8_t>(row * 37 + i * 101 + row * i));
    }
    return llvm::ArrayRef<uint8_t>(stored);
  }

private:
  std::vector<uint8_t> stored;
};
} // namespace

TEST(LatentAttentionQuantised, StepsOverLatentsAgreeWithTheInterpreter) {
  const std::string text = inputText("latent-attention-quantised.mlir");
  if (!hasDialects(text))
    GTEST_SKIP() << "a plugin of the program is not built";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  ASSERT_TRUE(module);
  UpProjection weights, others;
  auto interpreter = reference::Interpreter::create(*module, weights, reference::Precision::F64);
  auto compiled = SteppedFunction::create(*module, "step", host().stages, others, 4);
  ASSERT_TRUE(succeeded(interpreter) && succeeded(compiled));
  reference::RunValue state = reference::StateHandle{};
  std::mt19937 random(5);
  int64_t length = 0;
  for (int64_t rows : {70, 1, 5, 60}) {
    std::vector<reference::Tensor> in;
    for (const std::vector<int64_t> &shape :
         std::vector<std::vector<int64_t>>{{rows, 4, 3}, {rows, 4, 2}, {rows, 1, 34}}) {
      in.push_back(reference::Tensor::floats(shape));
      for (double &number : in.back().reals)
        number = static_cast<double>(random() % 65) / 32 - 1;
    }
    std::vector<int64_t> positions(rows);
    std::iota(positions.begin(), positions.end(), length);
    for (const std::vector<int64_t> &numbers : {std::vector<int64_t>{0, rows}, {length + rows}, positions})
      in.push_back(integers(numbers));
    std::vector<reference::RunValue> values(in.begin(), in.end());
    values.push_back(state);
    in.push_back({});
    auto wanted = (*interpreter)->run("step", values);
    auto found = (*compiled)->run(in, {0, rows});
    ASSERT_TRUE(succeeded(wanted) && succeeded(found));
    state = wanted->back();
    const auto &want = std::get<reference::Tensor>(wanted->front());
    ASSERT_EQ(found->front().shape, want.shape);
    for (size_t i = 0; i < want.reals.size(); ++i)
      // The contract of attention; results are about 1.
      ASSERT_NEAR(found->front().reals[i], want.reals[i], 1e-4) << rows << " rows behind " << length << ", " << i;
    length += rows;
  }
}

// All sizes of the first differ, so that none is taken for another.
static const Shape shapes[] = {
    {"small", 2, 4, 3, 2, 5}, {"one_head", 1, 7, 2, 4, 1}, {"many_wide_heads", 20, 512, 24, 16, 32}};

INSTANTIATE_TEST_SUITE_P(Shapes, LatentAttention,
                         testing::Combine(testing::ValuesIn(shapes), testing::Values("share", "tile"),
                                          testing::Values("f32", "bf16")),
                         [](const testing::TestParamInfo<std::tuple<Shape, const char *, const char *>> &info) {
                           return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param) + "_" +
                                  std::get<2>(info.param);
                         });
