// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/sample/Sampler.h"

#include "runtime/api/Error.h"
#include "runtime/sample/Exponential.h"
#include "runtime/sample/Random.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#pragma STDC FP_CONTRACT OFF

namespace tilewright {

namespace {

using Candidate = Sampler::Candidate;

std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

void require(bool holds, const char *option, const std::string &value, const char *wanted) {
  if (!holds)
    throw Error(TW_INVALID, std::string("sampling: ") + option + " is " + value + ", wanted " + wanted);
}

/// The heap order in which the most probable token, the lowest id of equals, is on top.
bool lessProbable(const Candidate &a, const Candidate &b) {
  return a.probability != b.probability ? a.probability < b.probability : a.id > b.id;
}

double sum(const std::vector<Candidate> &candidates) {
  double total = 0;
  for (const Candidate &candidate : candidates)
    total += candidate.probability;
  return total;
}

} // namespace

void checkSamplerOptions(const SamplerOptions &o) {
  require(o.temperature >= 0 && std::isfinite(o.temperature), "temperature", number(o.temperature),
          "a finite number of at least 0");
  require(o.topK >= 0, "top_k", std::to_string(o.topK), "at least 0 (0: all tokens)");
  require(o.topP > 0 && o.topP <= 1, "top_p", number(o.topP), "more than 0 and at most 1");
  require(o.minP >= 0 && o.minP <= 1, "min_p", number(o.minP), "0 to 1");
  require(o.repetitionPenalty > 0 && std::isfinite(o.repetitionPenalty), "repetition_penalty",
          number(o.repetitionPenalty), "a finite number above 0");
}

Sampler::Sampler(const SamplerOptions &options) : settings(options) { checkSamplerOptions(options); }

void Sampler::penalise(std::span<const int32_t> history) {
  for (size_t i = 0; i < history.size(); ++i)
    if (history[i] < 0 || static_cast<size_t>(history[i]) >= scores.size())
      throw Error(TW_INVALID, "sampling: history token " + std::to_string(i) + " has id " + std::to_string(history[i]) +
                                  ", outside the vocabulary of " + std::to_string(scores.size()) + " tokens");
  if (settings.repetitionPenalty == 1)
    return;
  seen.assign(scores.size(), false);
  for (int32_t id : history) {
    if (seen[id])
      continue;
    seen[id] = true;
    scores[id] = scores[id] < 0 ? scores[id] * settings.repetitionPenalty : scores[id] / settings.repetitionPenalty;
  }
}

void Sampler::keepTopK() {
  if (settings.topK == 0 || static_cast<uint64_t>(settings.topK) >= candidates.size())
    return;
  scores.clear();
  for (const Candidate &candidate : candidates)
    scores.push_back(candidate.probability);
  const auto kth = scores.begin() + (settings.topK - 1);
  std::nth_element(scores.begin(), kth, scores.end(), std::greater<>());
  std::erase_if(candidates, [&](const Candidate &candidate) { return candidate.probability < *kth; });
}

void Sampler::keepTopP() {
  if (settings.topP == 1)
    return;
  const double wanted = settings.topP * sum(candidates);
  std::make_heap(candidates.begin(), candidates.end(), lessProbable);
  double before = 0;
  auto heapEnd = candidates.end(); // behind it stand the tokens kept
  while (heapEnd != candidates.begin() && before < wanted) {
    std::pop_heap(candidates.begin(), heapEnd, lessProbable);
    before += (--heapEnd)->probability;
  }
  candidates.erase(candidates.begin(), heapEnd);
}

void Sampler::keepMinP() {
  if (settings.minP == 0)
    return;
  const double best = std::max_element(candidates.begin(), candidates.end(), lessProbable)->probability;
  std::erase_if(candidates, [&](const Candidate &candidate) { return candidate.probability < settings.minP * best; });
}

std::span<const Candidate> Sampler::distribution(std::span<const float> logits, std::span<const int32_t> history) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  scores.assign(logits.begin(), logits.end());
  penalise(history);

  candidates.clear();
  double best = -infinity;
  int32_t bestId = -1;
  for (size_t id = 0; id < scores.size(); ++id)
    if (scores[id] > -infinity) { // false for NaN
      candidates.push_back({static_cast<int32_t>(id), scores[id]});
      if (bestId < 0 || scores[id] > best) {
        best = scores[id];
        bestId = static_cast<int32_t>(id);
      }
    }
  if (bestId < 0)
    throw Error(TW_INVALID,
                "sampling: none of the " + std::to_string(logits.size()) + " logits is a number above -infinity");
  if (settings.temperature == 0) {
    candidates.assign(1, {bestId, 1});
    return candidates;
  }

  keepTopK();
  for (Candidate &candidate : candidates) {
    // Infinite logits share the whole probability.
    const double below = candidate.probability == best ? 0 : candidate.probability - best;
    candidate.probability = portableExp(below / settings.temperature);
  }
  std::erase_if(candidates, [](const Candidate &candidate) { return candidate.probability == 0; });
  keepTopP();
  keepMinP();
  std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) { return a.id < b.id; });
  const double total = sum(candidates);
  for (Candidate &candidate : candidates)
    candidate.probability /= total;
  return candidates;
}

double Sampler::uniform() { return uniformAt(settings.seed, made++); }

int32_t Sampler::sample(std::span<const float> logits, std::span<const int32_t> history) {
  const auto kept = distribution(logits, history);
  const double u = uniform();
  // Inverse distribution function: the lowest id at which the running sum exceeds u. The sum may round to just below 1.
  double before = 0;
  for (const Candidate &candidate : kept) {
    before += candidate.probability;
    if (before > u)
      return candidate.id;
  }
  return kept.back().id;
}

} // namespace tilewright
