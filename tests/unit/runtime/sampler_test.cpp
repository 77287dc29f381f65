// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/sample/Sampler.h"

#include "runtime/sample/Exponential.h"
#include "runtime/sample/Random.h"
#include "tests/unit/support/ExpectError.h"
#include "tests/unit/support/Safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
using Logits = std::vector<float>;

std::map<int32_t, double> distributionOf(const SamplerOptions &options, const Logits &logits,
                                         const std::vector<int32_t> &history = {}) {
  Sampler sampler(options);
  std::map<int32_t, double> result;
  for (const auto &[id, probability] : sampler.distribution(logits, history))
    result[id] = probability;
  return result;
}

std::vector<int32_t> idsOf(const std::map<int32_t, double> &distribution) {
  std::vector<int32_t> ids;
  for (const auto &[id, probability] : distribution)
    ids.push_back(id);
  return ids;
}

class SamplerGolden : public testing::TestWithParam<const char *> {};

} // namespace

// Probabilities made by Transformers' logits processors in f64.
TEST_P(SamplerGolden, EqualsTransformers) {
  const Safetensors file(std::string("golden/cases/") + GetParam() + ".safetensors");
  const auto attributes = file.attributes();
  SamplerOptions options;
  options.temperature = attributes["temperature"].is_null() ? 1.0 : attributes["temperature"].get<double>();
  if (!attributes["top_k"].is_null())
    options.topK = attributes["top_k"];
  if (!attributes["top_p"].is_null())
    options.topP = attributes["top_p"];
  if (!attributes["min_p"].is_null())
    options.minP = attributes["min_p"];
  if (!attributes["repetition_penalty"].is_null())
    options.repetitionPenalty = attributes["repetition_penalty"];

  const auto logits = file.read<float>("in.logits", "F32");
  const auto history = file.read<int64_t>("in.history", "I64");
  const auto probabilities = file.read<double>("f64.out.probs", "F64");
  const auto kept = file.read<uint8_t>("out.kept", "BOOL");
  const size_t rows = file.shape("in.logits")[0], vocabulary = file.shape("in.logits")[1],
               seen = file.shape("in.history")[1];
  ASSERT_GT(rows, 0u);
  for (size_t row = 0; row < rows; ++row) {
    const auto actual =
        distributionOf(options, Logits(logits.begin() + row * vocabulary, logits.begin() + (row + 1) * vocabulary),
                       std::vector<int32_t>(history.begin() + row * seen, history.begin() + (row + 1) * seen));
    for (size_t id = 0; id < vocabulary; ++id) {
      const auto found = actual.find(static_cast<int32_t>(id));
      EXPECT_EQ(found != actual.end(), kept[row * vocabulary + id] != 0) << "row " << row << " id " << id;
      if (found != actual.end())
        EXPECT_NEAR(found->second, probabilities[row * vocabulary + id], 1e-12) << "row " << row << " id " << id;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, SamplerGolden,
                         testing::Values("samp_all", "samp_minp", "samp_repetition", "samp_repetition_below_1",
                                         "samp_temperature", "samp_topk", "samp_topk_bigger_than_V", "samp_topk_ties",
                                         "samp_topp", "samp_topp_tiny"),
                         [](const auto &info) { return std::string(info.param); });

TEST(Sampler, GreedyTakesTheLowestOfEquals) {
  Sampler greedy(SamplerOptions{});
  EXPECT_EQ(greedy.sample(Logits{1, 3, 3, 2}), 1);
  EXPECT_EQ(greedy.sample(Logits{-0.0f, 0.0f}), 0);
  EXPECT_EQ(greedy.sample(Logits{5}), 0);
  // The filters change nothing, even when they would leave the choice open.
  Sampler filtered({.topK = 2, .topP = 0.1, .minP = 1});
  EXPECT_EQ(filtered.sample(Logits{1, 3, 3, 2}), 1);
}

TEST(Sampler, NanNeverWins) {
  Sampler greedy(SamplerOptions{});
  EXPECT_EQ(greedy.sample(Logits{kNan, 1, kNan, 2, kNan}), 3);
  EXPECT_EQ(greedy.sample(Logits{kNan, -kInf, -1e30f}), 2);
  EXPECT_EQ(greedy.sample(Logits{kNan, kInf, kInf}), 1);
  EXPECT_EQ(idsOf(distributionOf({.temperature = 1, .topK = 2}, {kNan, 1, kNan, 2, 0})), (std::vector<int32_t>{1, 3}));
  Sampler warm({.temperature = 2});
  for (int i = 0; i < 1000; ++i)
    EXPECT_NE(warm.sample(Logits{1, kNan, -kInf}) % 3, 1);
}

TEST(Sampler, InfiniteLogitsShareEverything) {
  const auto result = distributionOf({.temperature = 1, .topP = 0.9, .minP = 0.5}, {1, kInf, 3e38f, kInf});
  EXPECT_EQ(idsOf(result), (std::vector<int32_t>{1, 3}));
  EXPECT_DOUBLE_EQ(result.at(1), 0.5);
}

TEST(Sampler, NothingToChooseFrom) {
  const std::string tail = " logits is a number above -infinity";
  for (double temperature : {0.0, 1.0}) {
    Sampler sampler({.temperature = temperature});
    expectError(TW_INVALID, "sampling: none of the 0" + tail, [&] { sampler.sample(Logits{}); });
    expectError(TW_INVALID, "sampling: none of the 2" + tail, [&] { sampler.sample(Logits{kNan, -kInf}); });
    EXPECT_EQ(sampler.choices(), 0u);
  }
}

TEST(Sampler, TiesAtTheKthValueAreAllKept) {
  EXPECT_EQ(idsOf(distributionOf({.temperature = 0.5, .topK = 2}, {3, 1, 2, 2, 2, 0})),
            (std::vector<int32_t>{0, 2, 3, 4}));
  EXPECT_EQ(idsOf(distributionOf({.temperature = 0.5, .topK = 1}, {3, 3, 3})), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(distributionOf({.temperature = 0.5, .topK = std::numeric_limits<int64_t>::max()}, {3, 1, 2}).size(), 3u);
}

TEST(Sampler, TopPKeepsTheFewestAndAtLeastOne) {
  const Logits logits = {std::log(0.1f), std::log(0.5f), std::log(0.15f), std::log(0.25f)};
  EXPECT_EQ(idsOf(distributionOf({.temperature = 1, .topP = 0.7}, logits)), (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(idsOf(distributionOf({.temperature = 1, .topP = 0.8}, logits)), (std::vector<int32_t>{1, 2, 3}));
  EXPECT_EQ(idsOf(distributionOf({.temperature = 1, .topP = 1e-300}, logits)), (std::vector<int32_t>{1}));
  // Of equals the lower ids come first.
  EXPECT_EQ(idsOf(distributionOf({.temperature = 1, .topP = 0.5}, {0, 0, 0, 0})), (std::vector<int32_t>{0, 1}));
}

// Tiny and huge temperatures stay finite; a temperature so small that it overflows is greedy among equals.
TEST(Sampler, ExtremeTemperatures) {
  EXPECT_EQ(idsOf(distributionOf({.temperature = std::numeric_limits<double>::denorm_min()}, {1, 2, 2, -5})),
            (std::vector<int32_t>{1, 2}));
  for (const auto &[id, probability] : distributionOf({.temperature = 1e300}, {-1e30f, 0, 1e30f}))
    EXPECT_NEAR(probability, 1.0 / 3, 1e-12) << id;
  for (const auto &[id, probability] : distributionOf({.temperature = 1}, {-3e38f, 3e38f}))
    EXPECT_EQ(probability, 1) << id;
}

TEST(Sampler, RepetitionPenaltyCountsATokenOnce) {
  const Logits logits = {2, -2, 1, 0};
  const auto once = distributionOf({.temperature = 1, .repetitionPenalty = 2}, logits, {0, 1, 3}),
             often = distributionOf({.temperature = 1, .repetitionPenalty = 2}, logits, {1, 0, 0, 1, 0, 3, 3});
  EXPECT_EQ(once, often);
  EXPECT_EQ(once, distributionOf({.temperature = 1}, {1, -4, 1, 0}));
  Sampler greedy({.repetitionPenalty = 4});
  EXPECT_EQ(greedy.sample(logits, std::vector<int32_t>{0}), 2);
}

TEST(Sampler, HistoryOutsideTheVocabulary) {
  for (double penalty : {1.0, 1.5}) {
    Sampler sampler({.repetitionPenalty = penalty});
    for (int32_t id : {-1, 3, INT32_MAX, INT32_MIN})
      expectError(TW_INVALID,
                  "sampling: history token 1 has id " + std::to_string(id) + ", outside the vocabulary of 3 tokens",
                  [&] { sampler.sample(Logits{1, 2, 3}, std::vector<int32_t>{0, id}); });
  }
}

TEST(Sampler, OptionsAreChecked) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  auto refused = [](const SamplerOptions &options, const std::string &message) {
    expectError(TW_INVALID, "sampling: " + message, [&] { Sampler sampler(options); });
  };
  refused({.temperature = -0.5}, "temperature is -0.5, wanted a finite number of at least 0");
  refused({.temperature = nan}, "temperature is nan, wanted a finite number of at least 0");
  refused({.temperature = infinity}, "temperature is inf, wanted a finite number of at least 0");
  refused({.topK = -1}, "top_k is -1, wanted at least 0 (0: all tokens)");
  refused({.topP = 0}, "top_p is 0, wanted more than 0 and at most 1");
  refused({.topP = 1.01}, "top_p is 1.01, wanted more than 0 and at most 1");
  refused({.topP = nan}, "top_p is nan, wanted more than 0 and at most 1");
  refused({.minP = -0.1}, "min_p is -0.1, wanted 0 to 1");
  refused({.minP = 1.5}, "min_p is 1.5, wanted 0 to 1");
  refused({.repetitionPenalty = 0}, "repetition_penalty is 0, wanted a finite number above 0");
  refused({.repetitionPenalty = -infinity}, "repetition_penalty is -inf, wanted a finite number above 0");
}

TEST(Sampler, SeedsRepeatAndDiffer) {
  const Logits logits = {0, 0.5, 1, 0.2f, 0.1f, 0.9f};
  auto run = [&](uint64_t seed) {
    Sampler sampler({.temperature = 1.5, .seed = seed});
    std::vector<int32_t> ids;
    for (int i = 0; i < 64; ++i)
      ids.push_back(sampler.sample(logits));
    return ids;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
  EXPECT_NE(run(7), run(7 + (uint64_t{1} << 32)));
  Sampler sampler({.temperature = 1.5, .seed = 7});
  for (int i = 0; i < 40; ++i)
    sampler.sample(logits);
  sampler.setChoices(10);
  EXPECT_EQ(sampler.sample(logits), run(7)[10]);
  EXPECT_EQ(sampler.choices(), 11u);
}

// Chi-square of 100,000 draws with three degrees of freedom; 21.1 is its 1e-4 quantile.
TEST(Sampler, FrequenciesFollowTheDistribution) {
  const std::vector<double> wanted = {0.1, 0.5, 0.15, 0.25};
  Logits logits;
  for (double p : wanted)
    logits.push_back(static_cast<float>(std::log(p)));
  Sampler sampler({.temperature = 1, .seed = 3});
  std::vector<double> counts(4);
  constexpr int draws = 100'000;
  for (int i = 0; i < draws; ++i)
    ++counts[sampler.sample(logits)];
  double chi = 0;
  for (size_t i = 0; i < 4; ++i)
    chi += (counts[i] - draws * wanted[i]) * (counts[i] - draws * wanted[i]) / (draws * wanted[i]);
  EXPECT_LT(chi, 21.1);
}

// Known answers of the paper's own library (Random123, kat_vectors).
TEST(Random, PhiloxKnownAnswers) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EXPECT_EQ(uniformAt(0, 0), static_cast<double>(0x6627e8d5e169c58dull >> 11) * 0x1p-53);
}

TEST(Exponential, WithinTwoUnitsOfTheLibrary) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> wide(-707, 0), narrow(-2, 0);
  for (int i = 0; i < 200'000; ++i) {
    const double x = i % 2 ? wide(random) : narrow(random), wanted = std::exp(x);
    ASSERT_LE(std::abs(portableExp(x) - wanted), 2 * (std::nextafter(wanted, 2 * wanted) - wanted)) << x;
  }
  EXPECT_EQ(portableExp(0), 1);
  EXPECT_EQ(portableExp(-0.0), 1);
  EXPECT_EQ(portableExp(-1000), 0);
  EXPECT_EQ(portableExp(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(portableExp(std::numeric_limits<double>::quiet_NaN()), 0);
}
