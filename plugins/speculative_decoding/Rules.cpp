// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/speculative_decoding/Rules.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tilewright::speculative_decoding {

int32_t inverseCdf(std::span<const double> weights, double u) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  size_t last = 0; // that has a weight: the sum may round to just below the total
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0)
      last = i;
    sum += weights[i];
    if (sum > u * total)
      return static_cast<int32_t>(i);
  }
  return static_cast<int32_t>(last);
}

// Without the quotient, which a q of 0 would spoil.
bool accepts(double p, double q, double u) { return u * q < p; }

int32_t resample(std::span<const double> p, std::span<const double> q, double u) {
  std::vector<double> rest(p.size());
  bool any = false;
  for (size_t i = 0; i < p.size(); ++i) {
    rest[i] = std::max(p[i] - q[i], 0.0);
    any |= rest[i] > 0;
  }
  return inverseCdf(any ? rest : p, u);
}

int32_t resample(std::span<const double> p, int32_t token, double u) {
  std::vector<double> q(p.size());
  q[static_cast<size_t>(token)] = 1;
  return resample(p, q, u);
}

Verdict judge(std::span<const int32_t> drafted, const Judgement &from) {
  for (size_t i = 0; i < drafted.size(); ++i) {
    const int32_t token = drafted[i];
    const std::span<const double> p = from.target(i), q = from.draft(i);
    const double given = p[static_cast<size_t>(token)];
    const bool stands = from.lossyThreshold > 0
                            ? given >= from.lossyThreshold
                            : accepts(given, q.empty() ? 1 : q[static_cast<size_t>(token)], from.uniform());
    if (stands)
      continue;
    if (from.lossyThreshold > 0)
      return {i, inverseCdf(p, from.uniform())};
    return {i, q.empty() ? resample(p, token, from.uniform()) : resample(p, q, from.uniform())};
  }
  return {drafted.size(), inverseCdf(from.target(drafted.size()), from.uniform())};
}

} // namespace tilewright::speculative_decoding
