// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules keep the distribution: counted draws against the model's own distribution, for drafts drawn from another
// one and for certain ones, of one token and of more.
#include "plugins/speculative_decoding/Rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

using namespace tilewright::speculative_decoding;
using Law = std::vector<double>; ///< by id
using Choices = std::vector<tw_rt_choice>;

namespace {

Choices choices(const Law &law) {
  Choices result;
  for (size_t id = 0; id < law.size(); ++id)
    if (law[id] > 0)
      result.push_back({static_cast<int32_t>(id), law[id]});
  return result;
}

int32_t inverseCdf(const Law &law, double u) { return tilewright::speculative_decoding::inverseCdf(choices(law), u); }

int32_t resample(const Law &p, const Law &q, double u) {
  return tilewright::speculative_decoding::resample(choices(p), choices(q), u);
}

/// What is left at a temperature of the tokens that reach a probability of `topP`.
Law filtered(const Law &p, double temperature, double topP) {
  Law result(p.size());
  if (temperature == 0) {
    result[static_cast<size_t>(std::max_element(p.begin(), p.end()) - p.begin())] = 1;
    return result;
  }
  double total = 0;
  for (size_t i = 0; i < p.size(); ++i)
    total += result[i] = std::pow(p[i], 1 / temperature);
  std::vector<size_t> order;
  for (size_t i = 0; i < p.size(); ++i) {
    result[i] /= total;
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return result[a] > result[b]; });
  double before = 0, kept = 0;
  for (size_t i : order) {
    const bool drops = before >= topP;
    before += result[i];
    if (drops)
      result[i] = 0;
    kept += result[i];
  }
  for (double &value : result)
    value /= kept;
  return result;
}

class Draws {
public:
  double uniform() { return std::uniform_real_distribution<>(0, 1)(engine); }
  Judgement from(const std::vector<Law> &targets, const std::vector<Law> &drafts) {
    Judgement judgement;
    judgement.target = [&targets, this](size_t i) -> Distribution { return target = choices(targets[i]); };
    judgement.draft = [&drafts, this](size_t i) -> Distribution { return draft = choices(drafts[i]); };
    judgement.uniform = [this] { return uniform(); };
    return judgement;
  }

private:
  std::mt19937_64 engine{7};
  Choices target, draft; ///< of the last call
};

/// Sum of (found - wanted)^2 / wanted; infinite where something was found that has no probability.
double chiSquare(const std::map<std::vector<int32_t>, int> &counts, const std::map<std::vector<int32_t>, double> &law,
                 int draws) {
  double sum = 0;
  for (const auto &[tokens, count] : counts)
    if (!law.count(tokens) || law.at(tokens) == 0)
      return HUGE_VAL;
  for (const auto &[tokens, probability] : law) {
    if (probability == 0)
      continue;
    const auto found = counts.find(tokens);
    const double wanted = probability * draws, count = found == counts.end() ? 0 : found->second;
    sum += (count - wanted) * (count - wanted) / wanted;
  }
  return sum;
}

/// By degrees of freedom: what chi-square exceeds with a chance of 1e-4.
constexpr double degreesLimit[] = {0, 15.14, 18.42, 21.11, 23.51, 25.74, 27.86, 29.88, 31.83};

const Law target = {0.6, 0.3, 0.1}, draft = {0.2, 0.3, 0.5};
constexpr int draws = 100000;

} // namespace

TEST(Rules, InverseDistribution) {
  const Law weights = {0, 2, 0, 1, 1, 0};
  EXPECT_EQ(inverseCdf(weights, 0), 1);
  EXPECT_EQ(inverseCdf(weights, 0.4999), 1);
  EXPECT_EQ(inverseCdf(weights, 0.5), 3) << "the sum has to exceed the number";
  EXPECT_EQ(inverseCdf(weights, 0.75), 4);
  EXPECT_EQ(inverseCdf(weights, std::nextafter(1.0, 0.0)), 4) << "never one without a weight";
  EXPECT_EQ(inverseCdf(Law{0.1, 0.2, 0.7, 0}, std::nextafter(1.0, 0.0)), 2);
}

TEST(Rules, ProbabilityOfOneToken) {
  const Choices some = {{2, 0.25}, {7, 0.75}};
  EXPECT_EQ(probabilityOf(some, 2), 0.25);
  EXPECT_EQ(probabilityOf(some, 7), 0.75);
  for (int32_t none : {0, 1, 3, 8})
    EXPECT_EQ(probabilityOf(some, none), 0);
  EXPECT_EQ(probabilityOf({}, 0), 0);
}

TEST(Rules, AcceptsByTheQuotient) {
  EXPECT_TRUE(accepts(0.3, 0.5, 0.5999));
  EXPECT_FALSE(accepts(0.3, 0.5, 0.6));
  EXPECT_TRUE(accepts(0.5, 0.3, std::nextafter(1.0, 0.0))) << "more than it was drafted with: always";
  EXPECT_TRUE(accepts(0.5, 0.5, std::nextafter(1.0, 0.0)));
  EXPECT_FALSE(accepts(0, 0.5, 0)) << "what the model never says";
  EXPECT_TRUE(accepts(0.5, 0, 0.9));
  EXPECT_FALSE(accepts(0, 0, 0.5));
}

TEST(Rules, ResamplesFromWhatIsLeft) {
  for (double u : {0.0, 0.3, 0.999})
    EXPECT_EQ(resample(target, draft, u), 0) << "the residual is (1, 0, 0)";
  EXPECT_EQ(resample(target, target, 0.65), 1) << "nothing is left: the model's own";
  EXPECT_EQ(resample(target, Law{1}, 0.7), 1) << "a certain draft: (0, 0.3, 0.1) is left";
  EXPECT_EQ(resample(target, Law{1}, 0.8), 2);
}

// Acceptance is 0.6; resampling from the model's distribution instead of the residual would give (0.44, 0.42, 0.14).
TEST(Rules, KeepTheDistributionOfOneToken) {
  struct Setting {
    double temperature, topP;
  };
  for (const Setting &setting : {Setting{1, 1}, {0, 1}, {0.5, 1}, {2, 1}, {1, 0.5}, {2, 0.5}})
    for (bool certain : {false, true}) {
      Draws random;
      const Law p = filtered(target, setting.temperature, setting.topP),
                q = filtered(draft, setting.temperature, setting.topP);
      const std::vector<Law> targets = {p, p}, drafts = {certain ? Law() : q};
      std::map<std::vector<int32_t>, int> counts;
      int accepted = 0;
      for (int i = 0; i < draws; ++i) {
        const std::vector<int32_t> drafted = {certain ? 1 : inverseCdf(q, random.uniform())};
        const Verdict verdict = judge(drafted, random.from(targets, drafts));
        accepted += static_cast<int>(verdict.accepted);
        ++counts[{verdict.accepted ? drafted[0] : verdict.next}];
      }
      std::map<std::vector<int32_t>, double> law;
      for (int32_t id = 0; id < 3; ++id)
        law[{id}] = p[static_cast<size_t>(id)];
      EXPECT_LT(chiSquare(counts, law, draws), degreesLimit[2]) << setting.temperature << " " << setting.topP;
      double overlap = certain ? p[1] : 0;
      for (size_t id = 0; id < 3 && !certain; ++id)
        overlap += std::min(p[id], q[id]);
      // Six standard deviations, which are at most 0.5 / sqrt(draws) = 0.0016.
      EXPECT_NEAR(accepted / double(draws), overlap, 0.01);
    }
}

// Two tokens drafted, the second law depends on the first token: all that comes out, up to three tokens, is compared.
TEST(Rules, KeepTheDistributionOfMoreTokens) {
  const std::vector<Law> behind = {{0.1, 0.7, 0.2}, {0.25, 0.25, 0.5}, {0.9, 0.05, 0.05}};
  const std::vector<Law> draftBehind = {{0.3, 0.3, 0.4}, {0.5, 0.25, 0.25}, {0.2, 0.2, 0.6}};
  Draws random;
  std::map<std::vector<int32_t>, int> counts;
  for (int i = 0; i < draws; ++i) {
    const int32_t first = inverseCdf(draft, random.uniform());
    const auto second = inverseCdf(draftBehind[static_cast<size_t>(first)], random.uniform());
    const std::vector<int32_t> drafted = {first, second};
    const std::vector<Law> targets = {target, behind[static_cast<size_t>(first)], behind[static_cast<size_t>(second)]};
    const std::vector<Law> drafts = {draft, draftBehind[static_cast<size_t>(first)]};
    const Verdict verdict = judge(drafted, random.from(targets, drafts));
    std::vector<int32_t> text(drafted.begin(), drafted.begin() + static_cast<std::ptrdiff_t>(verdict.accepted));
    text.push_back(verdict.next);
    // The text goes on with the model alone until there are two tokens.
    if (text.size() == 1)
      text.push_back(inverseCdf(behind[static_cast<size_t>(text[0])], random.uniform()));
    text.resize(2);
    ++counts[text];
  }
  std::map<std::vector<int32_t>, double> law;
  for (int32_t a = 0; a < 3; ++a)
    for (int32_t b = 0; b < 3; ++b)
      law[{a, b}] = target[static_cast<size_t>(a)] * behind[static_cast<size_t>(a)][static_cast<size_t>(b)];
  EXPECT_LT(chiSquare(counts, law, draws), degreesLimit[8]);
}

TEST(Rules, BonusTokenWhenAllStand) {
  const std::vector<Law> targets = {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}, drafts = {{0, 1, 0}, {1, 0, 0}};
  Draws random;
  const std::vector<int32_t> drafted = {1, 0};
  const Verdict verdict = judge(drafted, random.from(targets, drafts));
  EXPECT_EQ(verdict.accepted, 2u);
  EXPECT_EQ(verdict.next, 2);
  const Verdict none = judge({}, random.from(targets, drafts));
  EXPECT_EQ(none.accepted, 0u);
  EXPECT_EQ(none.next, 1);
}

TEST(Rules, GreedyStopsAtTheFirstDifference) {
  const std::vector<int32_t> best = {4, 2, 7, 1};
  std::vector<Law> targets;
  for (int32_t token : best) {
    targets.emplace_back(9);
    targets.back()[static_cast<size_t>(token)] = 1;
  }
  const std::vector<Law> drafts(3); // certain
  Draws random;
  for (double u : {0.0, 0.5, std::nextafter(1.0, 0.0)})
    for (size_t wrong = 0; wrong <= 3; ++wrong) {
      std::vector<int32_t> drafted = {4, 2, 7};
      if (wrong < 3)
        ++drafted[wrong];
      Judgement from = random.from(targets, drafts);
      from.uniform = [u] { return u; };
      const Verdict verdict = judge(drafted, from);
      EXPECT_EQ(verdict.accepted, wrong) << u;
      EXPECT_EQ(verdict.next, best[wrong]) << u;
    }
}

TEST(Rules, ThresholdIsLossy) {
  const std::vector<Law> targets = {target, target}, drafts = {Law()};
  Draws random;
  Judgement from = random.from(targets, drafts);
  from.lossyThreshold = 0.3;
  const std::vector<int32_t> enough = {1}, unlikely = {2};
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(judge(enough, from).accepted, 1u) << "0.3 is enough";
  std::map<std::vector<int32_t>, int> counts;
  for (int i = 0; i < draws; ++i) {
    const Verdict verdict = judge(unlikely, from);
    EXPECT_EQ(verdict.accepted, 0u);
    ++counts[{verdict.next}];
  }
  EXPECT_LT(chiSquare(counts, {{{0}, 0.6}, {{1}, 0.3}, {{2}, 0.1}}, draws), degreesLimit[2])
      << "in place of a refused token comes one of the model's";
}
