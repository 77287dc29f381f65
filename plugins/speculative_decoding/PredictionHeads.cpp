// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/speculative_decoding/PredictionHeads.h"

#include "plugins/speculative_decoding/Fault.h"

#include <algorithm>

namespace tilewright::speculative_decoding {

PredictionHeads::PredictionHeads(const tw_rt_host &host, const tw_model *model)
    : vocabulary(static_cast<size_t>(host.model_vocab_size(model))) {
  for (;;) {
    std::string name = "prediction_head_" + std::to_string(names.size() + 1);
    const int64_t numbers = host.model_output_size(model, name.c_str());
    if (numbers < 0)
      break;
    if (numbers != static_cast<int64_t>(vocabulary))
      throw Fault(TW_UNSUPPORTED, "output '" + name + "' has rows of " + std::to_string(numbers) +
                                      " numbers, wanted logits of the " + std::to_string(vocabulary) + " tokens");
    names.push_back(std::move(name));
  }
  if (names.empty()) {
    std::string found;
    for (int64_t i = 0; i < host.model_output_count(model); ++i)
      found += (found.empty() ? "" : ", ") + std::string(host.model_output_name(model, i));
    throw Fault(TW_UNSUPPORTED,
                "the model has no prediction heads to draft with: wanted an output prediction_head_1, " +
                    (found.empty() ? std::string("found no outputs") : "found " + found));
  }
  for (const std::string &name : names)
    pointers.push_back(name.c_str());
}

void PredictionHeads::draw(std::span<const int32_t> history, size_t capacity, const float *const *rows,
                           const tw_rt_sampler &sampler, Draft &draft) const {
  draft.begin(history);
  while (draft.size() < std::min(capacity, names.size()))
    draft.draw({rows[draft.size()], vocabulary}, sampler);
}

} // namespace tilewright::speculative_decoding
