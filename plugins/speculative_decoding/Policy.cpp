// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime half: policies ngram, draft and mtp. Nothing is thrown across its C interface.
#include "plugins/speculative_decoding/DraftModel.h"
#include "plugins/speculative_decoding/Fault.h"
#include "plugins/speculative_decoding/Lookup.h"
#include "plugins/speculative_decoding/Options.h"
#include "plugins/speculative_decoding/PredictionHeads.h"

#include <algorithm>
#include <cstring>
#include <optional>

TW_RT_NOTE(TILEWRIGHT_PLUGIN_NAME, TILEWRIGHT_PLUGIN_VERSION, "ngram draft mtp")

using namespace tilewright::speculative_decoding;

struct tw_rt_policy {
  tw_rt_policy(const tw_rt_host &host, tw_model *target, const char *words) : options(parseOptions(words)) {
    if (options.source == Options::Source::DraftModel)
      draftModel.emplace(host, target, options.draftModel);
    if (options.source == Options::Source::PredictionHeads)
      heads.emplace(host, target);
  }

  std::vector<int32_t> draft(const tw_rt_draft_request &request) {
    const std::span history(request.history, static_cast<size_t>(request.history_count));
    const auto capacity = static_cast<size_t>(std::min(request.capacity, options.drafted));
    if (options.source == Options::Source::Ngram) {
      const auto found = lookUp(history, capacity);
      return {found.begin(), found.end()};
    }
    if (draftModel)
      draftModel->draw(history, capacity, *request.sampler, drawn);
    else
      heads->draw(history, capacity, request.outputs, *request.sampler, drawn);
    return drawn.drawn();
  }

  Verdict verify(const tw_rt_verdict_request &request) {
    const tw_rt_sampler &sampler = *request.sampler;
    const std::span drafted(request.draft, static_cast<size_t>(request.drafted));
    std::vector<int32_t> text(request.history, request.history + request.history_count);
    text.insert(text.end(), drafted.begin(), drafted.end());
    if (options.lossyUnverified)
      return {drafted.size(), sampled(request, text, request.drafted)};
    const bool isCertain = options.source == Options::Source::Ngram;
    if (isCertain && options.lossyThreshold == 0)
      return judgeBySampling(request, text);
    Judgement from;
    from.target = [&](size_t i) -> Distribution {
      const auto place = static_cast<int64_t>(i);
      const tw_rt_choice *choices = nullptr;
      int64_t count = 0;
      if (const tw_status status = sampler.distribution(sampler.data, request.logits + place * request.row, text.data(),
                                                        request.history_count + place, &choices, &count))
        throw Fault(status, "");
      return {choices, static_cast<size_t>(count)};
    };
    from.draft = [&](size_t i) { return isCertain ? Distribution() : drawn.distribution(i); };
    from.uniform = [&] { return sampler.uniform(sampler.data); };
    from.lossyThreshold = options.lossyThreshold;
    return judge(drafted, from);
  }

  /// For drafts that are certain: one stands if sampling gives just it. That is the rule of a one-hot distribution, and
  /// the text is, number for number, the one without a policy.
  static Verdict judgeBySampling(const tw_rt_verdict_request &request, std::span<const int32_t> text) {
    for (int64_t i = 0;; ++i)
      if (const int32_t id = sampled(request, text, i); i == request.drafted || id != request.draft[i])
        return {static_cast<size_t>(i), id};
  }

  /// What sampling gives at place `i` of the draft.
  static int32_t sampled(const tw_rt_verdict_request &request, std::span<const int32_t> text, int64_t i) {
    int32_t id = 0;
    if (const tw_status status = request.sampler->sample(request.sampler->data, request.logits + i * request.row,
                                                         text.data(), request.history_count + i, &id))
      throw Fault(status, "");
    return id;
  }

  const Options options;
  std::optional<DraftModel> draftModel;
  std::optional<PredictionHeads> heads;
  Draft drawn; ///< the last one, from either
};

namespace {

template <typename Body> tw_status guarded(tw_rt_message *message, Body &&body) noexcept {
  auto say = [&](const char *text) {
    if (message->capacity)
      std::strncat(message->text, text, message->capacity - 1);
  };
  if (message->capacity)
    message->text[0] = 0;
  try {
    body();
    return TW_OK;
  } catch (const Fault &fault) {
    say(fault.what());
    return fault.status;
  } catch (const std::bad_alloc &) {
    return TW_EXHAUSTED;
  } catch (const std::exception &error) {
    say(error.what());
    return TW_INTERNAL;
  }
}

tw_status attach(const tw_rt_host *host, const char *, void **instance, tw_rt_message *message) {
  return guarded(message, [&] {
    if (host->size < sizeof *host)
      throw Fault(TW_INCOMPATIBLE, "the host's table has " + std::to_string(host->size) + " bytes, wanted " +
                                       std::to_string(sizeof *host) + "; build the plugin for this Tilewright");
    *instance = const_cast<tw_rt_host *>(host);
  });
}

tw_status createPolicy(void *instance, tw_model *model, tw_session *, const char *options, tw_rt_policy **out,
                       tw_rt_message *message) {
  return guarded(message, [&] { *out = new tw_rt_policy(*static_cast<const tw_rt_host *>(instance), model, options); });
}

void releasePolicy(tw_rt_policy *policy) { delete policy; }

tw_status draft(tw_rt_policy *policy, const tw_rt_draft_request *request, int32_t *tokens, int64_t *drafted,
                tw_rt_message *message) {
  return guarded(message, [&] {
    const std::vector<int32_t> made = policy->draft(*request);
    std::copy(made.begin(), made.end(), tokens);
    *drafted = static_cast<int64_t>(made.size());
  });
}

tw_status verify(tw_rt_policy *policy, const tw_rt_verdict_request *request, int64_t *accepted, int32_t *next,
                 tw_rt_message *message) {
  return guarded(message, [&] {
    const Verdict verdict = policy->verify(*request);
    *accepted = static_cast<int64_t>(verdict.accepted);
    *next = verdict.next;
  });
}

const char *const *outputs(tw_rt_policy *policy, int64_t *count) {
  const auto names = policy->heads ? policy->heads->outputs() : std::span<const char *const>();
  *count = static_cast<int64_t>(names.size());
  return names.data();
}

} // namespace

extern "C" const tw_rt_half *tilewrightRuntimeHalf(void) {
  static const tw_rt_half half = {sizeof half,
                                  TW_RT_API_VERSION,
                                  TILEWRIGHT_PLUGIN_NAME,
                                  TILEWRIGHT_PLUGIN_VERSION,
                                  attach,
                                  nullptr,
                                  createPolicy,
                                  releasePolicy,
                                  draft,
                                  verify,
                                  outputs};
  return &half;
}
