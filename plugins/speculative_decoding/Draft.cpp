// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/speculative_decoding/Draft.h"

#include "plugins/speculative_decoding/Fault.h"

#include <algorithm>
#include <limits>

namespace tilewright::speculative_decoding {

void Draft::begin(std::span<const int32_t> history) {
  tokens.assign(history.begin(), history.end());
  distributions.clear();
}

void Draft::draw(std::span<const float> logits, const tw_rt_sampler &sampler) {
  const float *from = logits.data();
  if (const size_t choices = static_cast<size_t>(sampler.choices); logits.size() < choices) {
    row.assign(choices, -std::numeric_limits<float>::infinity());
    std::copy(logits.begin(), logits.end(), row.begin());
    from = row.data();
  }
  const tw_rt_choice *choices = nullptr;
  int64_t count = 0;
  if (const tw_status status = sampler.distribution(sampler.data, from, tokens.data(),
                                                    static_cast<int64_t>(tokens.size()), &choices, &count))
    throw Fault(status, "");
  distributions.emplace_back(choices, choices + count);
  tokens.push_back(inverseCdf(distributions.back(), sampler.uniform(sampler.data)));
}

} // namespace tilewright::speculative_decoding
