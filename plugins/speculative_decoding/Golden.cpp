// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/speculative_decoding/Golden.h"

#include "frontend/api/GoldenCase.h"
#include "plugins/speculative_decoding/Rules.h"

namespace tilewright::speculative_decoding {

namespace {

/// Row `index` of the last dimension.
template <typename T> std::span<const T> rowOf(const std::vector<T> &values, int64_t index, int64_t width) {
  return std::span(values).subspan(index * width, width);
}

/// What has a probability in a row.
std::vector<tw_rt_choice> choicesOf(std::span<const double> row) {
  std::vector<tw_rt_choice> choices;
  for (auto [id, probability] : llvm::enumerate(row))
    if (probability > 0)
      choices.push_back({static_cast<int32_t>(id), probability});
  return choices;
}

/// Rounds of `draft` [R, K], judged one by one.
template <typename JudgeRound>
void judgeRounds(GoldenHostCase &c, int64_t drafted, int64_t vocabulary, JudgeRound &&judgeRound) {
  const GoldenTensor &draft = *c.stored("draft");
  const int64_t rounds = draft.shape[0];
  std::vector<int64_t> accepted, next;
  for (int64_t round = 0; round < rounds; ++round) {
    const auto ids = rowOf(draft.integers, round, drafted);
    for (auto [place, id] : llvm::enumerate(ids))
      if (id < 0 || id >= vocabulary)
        return c.unsupported("draft " + llvm::Twine(place) + " of round " + llvm::Twine(round) + " is " +
                             llvm::Twine(id) + ", wanted 0 <= id < " + llvm::Twine(vocabulary));
    const Verdict verdict = judgeRound(round, std::vector<int32_t>(ids.begin(), ids.end()));
    accepted.push_back(verdict.accepted);
    next.push_back(verdict.next);
  }
  c.output("accepted", GoldenTensor::ints({rounds}, accepted));
  c.output("next_token", GoldenTensor::ints({rounds}, next));
}

void judgeGreedily(GoldenHostCase &c, int64_t drafted) {
  if (!c.inputs({{"target_logits", 3}, {"draft", 2}}))
    return;
  const GoldenTensor &logits = *c.stored("target_logits");                               // [R, K + 1, V]
  const int64_t rounds = logits.shape[0], width = std::max<int64_t>(logits.shape[2], 1); // something must be chosen
  if (!c.holdsFloats("target_logits", {rounds, drafted + 1, width}) || !c.holdsIntegers("draft", {rounds, drafted}))
    return;
  judgeRounds(c, drafted, width, [&](int64_t round, const std::vector<int32_t> &ids) {
    tw_rt_choice best; // the model's, the lowest id of equals
    Judgement from;
    from.target = [&](size_t i) -> Distribution {
      const auto row = rowOf(logits.reals, round * (drafted + 1) + i, width);
      best = {static_cast<int32_t>(llvm::max_element(row) - row.begin()), 1};
      return {&best, 1};
    };
    from.draft = [](size_t) { return Distribution(); };
    from.uniform = [] { return 0.5; }; // any: nothing is left to chance
    return judge(ids, from);
  });
}

/// By the rule that keeps the distribution, or by the threshold if there is one.
void judgeBySampling(GoldenHostCase &c, int64_t drafted, double threshold) {
  if (!c.inputs({{"p", 3}, {"q", 3}, {"draft", 2}, {"u_accept", 2}, {"u_resample", 1}}))
    return;
  const GoldenTensor &p = *c.stored("p"), &q = *c.stored("q"); // [R, K + 1, V], [R, K, V]
  const int64_t rounds = p.shape[0], width = std::max<int64_t>(p.shape[2], 1);
  if (!c.holdsFloats("p", {rounds, drafted + 1, width}) || !c.holdsFloats("q", {rounds, drafted, width}) ||
      !c.holdsIntegers("draft", {rounds, drafted}) || !c.holdsFloats("u_accept", {rounds, drafted}) ||
      !c.holdsFloats("u_resample", {rounds}))
    return;
  judgeRounds(c, drafted, width, [&](int64_t round, const std::vector<int32_t> &ids) {
    // The stored numbers belong to places, and judging asks for one a place (none by a threshold) and one for the next
    // token.
    int64_t place = 0;
    bool judged = false;
    std::vector<tw_rt_choice> target, drawn;
    Judgement from;
    from.target = [&](size_t i) -> Distribution {
      place = i;
      judged = false;
      return target = choicesOf(rowOf(p.reals, round * (drafted + 1) + place, width));
    };
    from.draft = [&](size_t i) -> Distribution {
      return drawn = choicesOf(rowOf(q.reals, round * drafted + i, width));
    };
    from.lossyThreshold = threshold;
    from.uniform = [&] {
      if (std::exchange(judged, true) || place == drafted || threshold > 0)
        return c.stored("u_resample")->reals[round];
      return c.stored("u_accept")->reals[round * drafted + place];
    };
    return judge(ids, from);
  });
}

} // namespace

void computeGolden(GoldenHostCase &c) {
  const int64_t drafted = c.count("K", 0);
  const std::string mode = c.oneOf("mode", {"greedy", "sampling", "threshold"}, "sampling");
  if (mode == "greedy")
    return judgeGreedily(c, drafted);
  if (mode == "sampling") {
    c.oneOf("accept", {"u < min(1, p/q)"});
    return judgeBySampling(c, drafted, 0);
  }
  const double threshold = c.number("threshold");
  if (!(threshold > 0 && threshold <= 1))
    return c.unsupported("attribute threshold = " + std::to_string(threshold) + ", wanted above 0 and at most 1");
  judgeBySampling(c, drafted, threshold);
}

} // namespace tilewright::speculative_decoding
