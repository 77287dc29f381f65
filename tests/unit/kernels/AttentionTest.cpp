// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention over paged states with windows, soft caps, sinks and NaN, core's kernel and the fused one, against plain
// arithmetic.
#include "tests/unit/kernels/Batch.h"
#include "tests/unit/kernels/Inputs.h"
#include "tests/unit/kernels/ProgramRunner.h"

#include <cmath>
#include <cstring>

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct Variant {
  const char *name;
  const char *program; ///< tests/e2e/Inputs/<this>.mlir
  int64_t heads, headsKv, dim, dimV;
  int64_t window; ///< 0: none
  double softcap; ///< 0: none
  bool sinks;
  bool causal = true;
  bool valuesInKeys = false; ///< the state has keys alone, and their first dimV columns are the values
  double scale = 0.2;
  int64_t chunk = 0; ///< 0: none

  /// The first key that the row at `place` sees.
  int64_t first(int64_t place) const {
    return std::max<int64_t>(window ? place - window + 1 : 0, chunk ? place / chunk * chunk : 0);
  }
  /// The first behind those that it sees, of `all`.
  int64_t end(int64_t place, int64_t all) const {
    return causal ? place + 1 : chunk ? std::min(all, place / chunk * chunk + chunk) : all;
  }
};

class Attention : public testing::TestWithParam<Variant> {};

std::string programText(const Variant &v) {
  std::string text = inputText(std::string(v.program) + ".mlir"), heads = std::to_string(v.heads);
  if (v.valuesInKeys)
    for (const char *ofValues : {", %v: tensor<?x@K@x@DV@xf32>", ", %v", ", tensor<?x@K@x@DV@xf32>"})
      for (size_t at; (at = text.find(ofValues)) != std::string::npos;)
        text.erase(at, std::strlen(ofValues));
  text = replaced(text, "SINKS", v.sinks ? "sinks(%sinks : tensor<" + heads + "xf32>)" : "");
  text.replace(text.find("scale = 0.2"), std::strlen("scale = 0.2"), "scale = " + std::to_string(v.scale));
  std::string more;
  if (v.window)
    more += ", window = " + std::to_string(v.window) + " : i64";
  if (v.chunk)
    more += ", chunk = " + std::to_string(v.chunk) + " : i64";
  if (v.softcap > 0)
    more += ", softcap = " + std::to_string(v.softcap) + " : f64";
  text = replaced(text, "MORE", more);
  text = replaced(text, "CAUSAL", v.causal ? "end" : "none");
  text = replaced(text, "H", heads);
  text = replaced(text, "K", std::to_string(v.headsKv));
  text = replaced(text, "DV", std::to_string(v.dimV));
  return replaced(text, "D", std::to_string(v.dim));
}

/// Keys and values of one sequence.
struct History {
  std::vector<std::vector<float>> keys, values;
};

/// Row of head `head` with query `q` over keys [first, last) of `history`.
std::vector<double> attend(const Variant &v, const History &history, int64_t first, int64_t last, const float *q,
                           int64_t head, double sink) {
  int64_t kv = head / (v.heads / v.headsKv);
  std::vector<double> out(v.dimV);
  double sum = v.sinks ? std::exp(sink) : 0;
  for (int64_t j = first; j < last; ++j) {
    double score = 0;
    for (int64_t d = 0; d < v.dim; ++d)
      score += double(q[d]) * history.keys[j][kv * v.dim + d];
    score *= v.scale;
    if (v.softcap > 0)
      score = v.softcap * std::tanh(score / v.softcap);
    double weight = std::exp(score);
    sum += weight;
    for (int64_t d = 0; d < v.dimV; ++d)
      out[d] += weight * history.values[j][kv * v.dimV + d];
  }
  for (double &number : out)
    number /= sum;
  return out;
}

} // namespace

/// Compiles and runs a variant with states kept as `kvType`; no result is further than `bound` from plain arithmetic.
static void compare(const Variant &v, const std::string &text, const CpuLevel &level, llvm::StringRef kvType,
                    double bound) {
  std::map<std::string, std::unique_ptr<ProgramRunner>> runners;
  for (const ShapeClass &shapeClass : shapeClasses()) {
    auto &runner = runners[shapeClass.name.str()] =
        std::make_unique<ProgramRunner>(text, "tile", shapeClass.name, "precise", level, kvType);
    ASSERT_TRUE(runner->ready());
  }
  Batch batch(*runners["decode"], 16, v.headsKv, v.dim, v.valuesInKeys ? 0 : v.dimV, kvType == "bf16");
  for (auto &[name, runner] : runners)
    runner->pools = runners["decode"]->pools;

  std::mt19937 random(3);
  auto numbers = [&](size_t count) {
    std::vector<float> made(count);
    for (float &number : made)
      number = 2.0f * (static_cast<float>(random() >> 8) / 8388608.0f - 1.0f);
    return made;
  };
  std::vector<float> sinks = numbers(v.heads);
  std::vector<History> histories(2);
  for (auto [first, second] : std::vector<std::pair<int, int>>{{131, 3}, {1, 1}, {2, 5}, {1, 63}, {1, 1}}) {
    int64_t added = first + second;
    const ShapeClass &shapeClass = *findShapeClass(first == 1 && second == 1 ? "decode"
                                                   : added <= 8              ? "small"
                                                                             : "prefill");
    Step step = batch.step({std::vector<int32_t>(first), std::vector<int32_t>(second)}, shapeClass);
    if (v.window || v.chunk)
      batch.giveUp(step, [&](int64_t place) { return v.first(place); });
    std::vector<float> q = numbers(step.paddedRows * v.heads * v.dim), k = numbers(step.paddedRows * v.headsKv * v.dim),
                       values = numbers(step.paddedRows * v.headsKv * v.dimV);
    if (v.valuesInKeys)
      for (int64_t row = 0; row < step.paddedRows * v.headsKv; ++row)
        std::copy_n(k.begin() + row * v.dim, v.dimV, values.begin() + row * v.dimV);
    q[(1 * v.heads + 1) * v.dim] = NAN; // row 1, head 1
    ProgramRunner &runner = *runners[shapeClass.name.str()];
    std::vector<std::shared_ptr<Buffer>> arguments = {runner.table(q),          runner.table(k),
                                                      runner.table(values),     runner.table(step.rowStart),
                                                      runner.table(step.kvLen), runner.table(step.positions),
                                                      runner.table(sinks),      nullptr};
    if (v.valuesInKeys)
      arguments.erase(arguments.begin() + 2);
    auto result = runner.run("step", arguments, step);
    ASSERT_TRUE(result);
    for (int64_t row = 0; row < added; ++row) {
      History &history = histories[row >= first];
      history.keys.emplace_back(k.begin() + row * v.headsKv * v.dim, k.begin() + (row + 1) * v.headsKv * v.dim);
      history.values.emplace_back(values.begin() + row * v.headsKv * v.dimV,
                                  values.begin() + (row + 1) * v.headsKv * v.dimV);
    }
    double error = 0;
    for (int64_t row = 0; row < added; ++row) {
      const History &history = histories[row >= first];
      const int64_t place = step.positions[row];
      for (int64_t head = 0; head < v.heads; ++head) {
        const float *got = result->as<float>() + (row * v.heads + head) * v.dimV;
        if (row == 1 && head == 1) {
          EXPECT_TRUE(std::all_of(got, got + v.dimV, [](float x) { return std::isnan(x); })) << "NaN in, a number out";
          continue;
        }
        std::vector<double> want =
            attend(v, history, std::max<int64_t>(0, v.first(place)), v.end(place, history.keys.size()),
                   q.data() + (row * v.heads + head) * v.dim, head, sinks[head]);
        for (int64_t d = 0; d < v.dimV; ++d)
          error = std::isnan(got[d]) ? HUGE_VAL : std::max(error, std::fabs(got[d] - want[d]));
      }
    }
    EXPECT_LE(error, bound) << level.name.str() << ", " << first << " and " << second << " rows, class "
                            << shapeClass.name.str();
  }
}

TEST_P(Attention, AgreesWithPlainArithmetic) {
  std::string text = programText(GetParam());
  if (!hasDialects(text))
    GTEST_SKIP() << "a plugin of the program is not built";
  compare(GetParam(), text, *hostCpuLevels().back(), "f32", 1e-5);
}

class PairedAttention : public testing::TestWithParam<Variant> {};

// Queries, keys, values and weights are rounded to bf16; the bound is what the fused op states for numerics `fast`, of
// the largest result.
TEST_P(PairedAttention, AgreesWithPlainArithmetic) {
  std::string text = programText(GetParam());
  if (!hasDialects(text))
    GTEST_SKIP() << "a plugin of the program is not built";
  for (const CpuLevel *level : hostCpuLevels())
    compare(GetParam(), text, *level, "bf16", 2e-2 * 2.0);
}

static const Variant variants[] = {
    {"core_plain", "attention", 9, 3, 64, 64, 0, 0.0, false},
    {"core_all", "attention", 4, 2, 32, 48, 70, 5.0, true},
    {"core_one_key", "attention", 2, 1, 16, 16, 1, 0.0, false},
    {"core_not_causal", "attention", 4, 2, 32, 32, 0, 0.0, true, false},
    {"fused_not_causal", "attention-fused", 4, 2, 32, 32, 0, 0.0, false, false},
    {"fused_plain", "attention-fused", 7, 1, 80, 64, 0, 0.0, false},
    {"fused_window", "attention-fused", 4, 2, 32, 32, 70, 0.0, false},
    {"fused_window_without_end", "attention-fused", 2, 1, 16, 16, INT64_MAX, 0.0, false},
    {"core_chunks", "attention", 4, 2, 32, 32, 0, 0.0, true, true, false, 0.2, 70},
    {"core_chunks_of_one", "attention", 2, 1, 16, 16, 0, 0.0, false, true, false, 0.2, 1},
    {"core_chunks_not_causal", "attention", 4, 2, 32, 32, 0, 0.0, false, false, false, 0.2, 5},
    {"core_window_not_causal", "attention", 4, 2, 32, 32, 70, 0.0, true, false},
    {"core_chunks_and_window", "attention", 4, 2, 32, 48, 70, 5.0, false, true, false, 0.2, 100},
    {"fused_chunks", "attention-fused", 6, 2, 32, 32, 0, 0.0, false, true, false, 0.2, 64},
    {"fused_chunks_and_window", "attention-fused", 4, 2, 32, 48, 9, 3.0, true, true, false, 0.2, 14},
    {"fused_chunks_not_causal", "attention-fused", 4, 2, 32, 32, 0, 0.0, true, false, false, 0.2, 100},
    {"fused_window_not_causal", "attention-fused", 4, 2, 32, 32, 9, 0.0, true, false},
    {"fused_chunks_and_window_not_causal", "attention-fused", 4, 2, 32, 48, 9, 0.0, false, false, false, 0.2, 14},
    {"fused_chunks_without_end", "attention-fused", 2, 1, 16, 16, 0, 0.0, false, true, false, 0.2, INT64_MAX},
    {"fused_softcap", "attention-fused", 4, 4, 32, 32, 0, 5.0, false},
    {"fused_sinks", "attention-fused", 4, 2, 32, 48, 0, 0.0, true},
    {"fused_all", "attention-fused", 12, 2, 64, 64, 5, 3.0, true},
    {"core_values_in_keys", "attention", 5, 1, 6, 4, 0, 0.0, false, true, true},
    {"fused_values_in_keys", "attention-fused", 16, 1, 96, 80, 70, 0.0, true, true, true},
    {"fused_values_in_keys_odd", "attention-fused", 4, 2, 19, 13, 0, 0.0, false, true, true},
    // 64 heads of one key are done in parts
    {"core_many_wide_heads", "attention", 64, 1, 320, 256, 0, 0.0, false, true, true, 0.05},
    {"fused_many_wide_heads", "attention-fused", 64, 1, 576, 512, 0, 0.0, true, true, true, 0.05},
};

static const Variant pairedVariants[] = {
    {"fused_chunks", "attention-fused", 4, 2, 5, 3, 0, 0.0, true, true, false, 0.2, 70},
    {"core_odd_width", "attention", 3, 1, 33, 17, 0, 0.0, false},
    {"fused_odd_width", "attention-fused", 4, 2, 5, 3, 0, 0.0, true},
    {"fused_plain", "attention-fused", 7, 1, 80, 64, 0, 0.0, false},
    {"fused_all", "attention-fused", 12, 2, 64, 64, 5, 3.0, true},
    {"core_values_in_keys", "attention", 5, 1, 6, 4, 0, 0.0, false, true, true},
    {"fused_values_in_keys_odd", "attention-fused", 4, 2, 19, 13, 0, 0.0, false, true, true},
    {"fused_many_wide_heads", "attention-fused", 64, 1, 576, 512, 0, 0.0, false, true, true, 0.05},
};

static std::string nameOf(const testing::TestParamInfo<Variant> &info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Variants, Attention, testing::ValuesIn(variants), nameOf);
INSTANTIATE_TEST_SUITE_P(Variants, PairedAttention, testing::ValuesIn(pairedVariants), nameOf);
