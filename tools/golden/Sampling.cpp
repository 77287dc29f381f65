// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/api/Error.h"
#include "runtime/sample/Sampler.h"
#include "tools/golden/CoreCases.h"

namespace tilewright {

void computeSampling(GoldenHostCase &c) {
  c.oneOf("order", {"repetition penalty, temperature, top-k, top-p, min-p"});
  SamplerOptions options;
  options.temperature = c.number("temperature", 1.0);
  options.topK = c.integer("top_k", 0);
  options.topP = c.number("top_p", 1.0);
  options.minP = c.number("min_p", 0.0);
  options.repetitionPenalty = c.number("repetition_penalty", 1.0);
  if (!c.inputs({{"logits", 2}, {"history", 2}}))
    return;
  const GoldenTensor &logits = *c.stored("logits"), &history = *c.stored("history");
  const int64_t batch = logits.shape[0], vocabulary = logits.shape[1], length = history.shape[1];
  if (!c.holdsFloats("logits", {batch, vocabulary}) || !c.holdsIntegers("history", {batch, length}))
    return;
  GoldenTensor probabilities = GoldenTensor::floats(logits.shape, std::vector<double>(logits.reals.size()));
  GoldenTensor kept = GoldenTensor::ints(logits.shape, std::vector<int64_t>(logits.reals.size()));
  try {
    Sampler sampler(options);
    for (int64_t b = 0; b < batch; ++b) {
      const auto row = logits.reals.begin() + b * vocabulary;
      const auto seen = history.integers.begin() + b * length;
      const std::vector<float> scores(row, row + vocabulary);
      const std::vector<int32_t> ids(seen, seen + length);
      for (const Sampler::Candidate &candidate : sampler.distribution(scores, ids)) {
        probabilities.reals[b * vocabulary + candidate.id] = candidate.probability;
        kept.integers[b * vocabulary + candidate.id] = 1;
      }
    }
  } catch (const Error &error) {
    return c.unsupported(error.message());
  }
  c.output("probs", std::move(probabilities));
  c.output("kept", std::move(kept));
}

} // namespace tilewright
