// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/speculative_decoding/Rules.h"

#include <algorithm>
#include <vector>

namespace tilewright::speculative_decoding {

int32_t inverseCdf(Distribution weights, double u) {
  double total = 0, sum = 0;
  for (const tw_rt_choice &choice : weights)
    total += choice.probability;
  int32_t last = 0; // that has a weight: the sum may round to just below the total
  for (const auto &[id, probability] : weights) {
    if (probability > 0)
      last = id;
    sum += probability;
    if (sum > u * total)
      return id;
  }
  return last;
}

double probabilityOf(Distribution distribution, int32_t token) {
  const auto found = std::lower_bound(distribution.begin(), distribution.end(), token,
                                      [](const tw_rt_choice &choice, int32_t id) { return choice.id < id; });
  return found != distribution.end() && found->id == token ? found->probability : 0;
}

// Without the quotient, which a q of 0 would spoil.
bool accepts(double p, double q, double u) { return u * q < p; }

int32_t resample(Distribution p, Distribution q, double u) {
  std::vector<tw_rt_choice> rest;
  auto taken = q.begin();
  for (auto [id, probability] : p) {
    while (taken != q.end() && taken->id < id)
      ++taken;
    if (taken != q.end() && taken->id == id)
      probability -= taken->probability;
    if (probability > 0)
      rest.push_back({id, probability});
  }
  return inverseCdf(rest.empty() ? p : rest, u);
}

Verdict judge(std::span<const int32_t> drafted, const Judgement &from) {
  for (size_t i = 0; i < drafted.size(); ++i) {
    const int32_t token = drafted[i];
    const tw_rt_choice certain[] = {{token, 1}};
    const Distribution p = from.target(i), drawn = from.draft(i), q = drawn.empty() ? certain : drawn;
    const double given = probabilityOf(p, token);
    const bool stands = from.lossyThreshold > 0 ? given >= from.lossyThreshold
                                                : accepts(given, probabilityOf(q, token), from.uniform());
    if (stands)
      continue;
    return {i, from.lossyThreshold > 0 ? inverseCdf(p, from.uniform()) : resample(p, q, from.uniform())};
  }
  return {drafted.size(), inverseCdf(from.target(drafted.size()), from.uniform())};
}

} // namespace tilewright::speculative_decoding
