// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the next token from logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tilewright {

struct SamplerOptions {
  double temperature = 0;       ///< >= 0; 0 is greedy: the largest logit, the filters below without effect
  int64_t topK = 0;             ///< >= 0; keep the k largest logits and whatever equals the k-th; 0: all
  double topP = 1;              ///< (0, 1]; keep the fewest tokens, most probable first, that reach this probability
  double minP = 0;              ///< [0, 1]; keep tokens with at least this share of the best one's probability
  double repetitionPenalty = 1; ///< > 0; logits of tokens seen are divided by it if positive, else multiplied
  uint64_t seed = 0;

  bool operator==(const SamplerOptions &) const = default;
};

/// Throws INVALID naming the option, its value and its range.
void checkSamplerOptions(const SamplerOptions &options);

/// One sequence's sampler. The steps are taken in this order: repetition penalty, temperature, top-k, top-p, min-p.
/// The same options, logits and histories give the same tokens on every machine: the arithmetic is IEEE double in a
/// fixed order, and the n-th choice uses `uniformAt(seed, n)`. A NaN logit is never chosen. Not for use by two threads
/// at once.
class Sampler {
public:
  struct Candidate {
    int32_t id;
    double probability;
  };

  /// Throws as `checkSamplerOptions`.
  explicit Sampler(const SamplerOptions &options);

  /// The next token. `logits` is [vocabulary]; `history` holds the ids the repetition penalty applies to, in any order,
  /// each as often as it likes. Equal logits: greedy takes the lowest id. Throws INVALID if no logit is above -infinity
  /// or an id of `history` is outside the vocabulary; the number of choices made does not change then.
  int32_t sample(std::span<const float> logits, std::span<const int32_t> history = {});

  /// What `sample` chooses from: the tokens kept, by ascending id, with probabilities that add up to 1. Greedy: one
  /// token. Throws as `sample`. The result is valid until the next call.
  std::span<const Candidate> distribution(std::span<const float> logits, std::span<const int32_t> history = {});

  /// The number in [0, 1) that the next choice would use; counts as one.
  double uniform();

  /// How many choices have been made; setting it back repeats them.
  uint64_t choices() const { return made; }
  void setChoices(uint64_t count) { made = count; }

  const SamplerOptions &options() const { return settings; }

private:
  void penalise(std::span<const int32_t> history);
  void keepTopK();
  void keepTopP();
  void keepMinP();

  SamplerOptions settings;
  uint64_t made = 0;
  std::vector<double> scores;        // [vocabulary]: logits after the penalty
  std::vector<Candidate> candidates; // `probability` holds the score until the temperature is applied
  std::vector<bool> seen;
};

} // namespace tilewright
