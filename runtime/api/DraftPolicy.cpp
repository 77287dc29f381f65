// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/api/DraftPolicy.h"

#include "runtime/api/Error.h"
#include "runtime/api/Handles.h"

#include <algorithm>
#include <cstddef>

namespace tilewright {
namespace {

/// What `data` of a request's sampler points to.
struct SamplerCall {
  Sampler &sampler;
  size_t choices;
  std::string problem; ///< of the last call that failed; a policy that fails of it may say nothing itself
};

template <typename Body> tw_status guardedSample(void *data, Body &&body) noexcept {
  auto &call = *static_cast<SamplerCall *>(data);
  try {
    body(call);
    return TW_OK;
  } catch (const Error &error) {
    call.problem = error.message();
    return error.code();
  } catch (const std::exception &error) {
    call.problem = error.what();
    return TW_INTERNAL;
  }
}

tw_status sampleRow(void *data, const float *row, const int32_t *history, int64_t count, int32_t *id) {
  return guardedSample(data, [&](SamplerCall &call) {
    *id = call.sampler.sample({row, call.choices}, {history, static_cast<size_t>(count)});
  });
}

tw_status distributionOfRow(void *data, const float *row, const int32_t *history, int64_t count,
                            const tw_rt_choice **choices, int64_t *chosenCount) {
  return guardedSample(data, [&](SamplerCall &call) {
    static_assert(sizeof(tw_rt_choice) == sizeof(Sampler::Candidate) &&
                      offsetof(tw_rt_choice, id) == offsetof(Sampler::Candidate, id) &&
                      offsetof(tw_rt_choice, probability) == offsetof(Sampler::Candidate, probability),
                  "candidates are handed out as they lie");
    const auto candidates = call.sampler.distribution({row, call.choices}, {history, static_cast<size_t>(count)});
    *choices = reinterpret_cast<const tw_rt_choice *>(candidates.data());
    *chosenCount = static_cast<int64_t>(candidates.size());
  });
}

double nextUniform(void *data) { return static_cast<SamplerCall *>(data)->sampler.uniform(); }

tw_rt_sampler samplerOf(SamplerCall &call) {
  return {sizeof(tw_rt_sampler), &call,       static_cast<int64_t>(call.choices), &sampleRow,
          &distributionOfRow,    &nextUniform};
}

} // namespace

DraftPolicy::DraftPolicy(const RuntimeHalf &half, tw_model *model, tw_session *session, const std::string &options)
    : half(half) {
  if (!half.functions().policy_create)
    throw Error(TW_UNSUPPORTED, half.path() + ": has no policy that drafts tokens");
  checkHalf(half.path() + ": policy", [&](tw_rt_message *message) {
    return half.functions().policy_create(half.instance(), model, session, options.c_str(), &policy, message);
  });
  if (!half.functions().policy_outputs)
    return;
  int64_t count = 0;
  const char *const *names = half.functions().policy_outputs(policy, &count);
  for (int64_t i = 0; i < count; ++i) {
    const std::optional<size_t> which = model->model->findOutput(names[i]);
    if (!which) {
      half.functions().policy_release(policy);
      throw Error(TW_INTERNAL,
                  half.path() + ": policy_outputs wants '" + names[i] + "', which the model does not have");
    }
    wantedOutputs.push_back(*which);
  }
}

DraftPolicy::~DraftPolicy() { half.functions().policy_release(policy); }

std::vector<int32_t> DraftPolicy::draft(std::span<const int32_t> history, std::span<const float *const> rows,
                                        size_t capacity, size_t choices, Sampler &sampler) {
  std::vector<int32_t> tokens(capacity);
  int64_t count = 0;
  SamplerCall call{sampler, choices, {}};
  const tw_rt_sampler given = samplerOf(call);
  const tw_rt_draft_request request = {
      sizeof request, history.data(), static_cast<int64_t>(history.size()), static_cast<int64_t>(capacity),
      &given,         rows.data()};
  checkHalf(
      half.path() + ": policy_draft",
      [&](tw_rt_message *message) {
        return half.functions().policy_draft(policy, &request, tokens.data(), &count, message);
      },
      call.problem);
  if (count < 0 || count > static_cast<int64_t>(capacity))
    throw Error(TW_INTERNAL, half.path() + ": policy_draft made " + std::to_string(count) + " tokens, wanted at most " +
                                 std::to_string(capacity));
  tokens.resize(static_cast<size_t>(count));
  for (int32_t id : tokens)
    if (id < 0 || static_cast<size_t>(id) >= choices)
      throw Error(TW_INTERNAL, half.path() + ": policy_draft made token " + std::to_string(id) + ", wanted 0 to " +
                                   std::to_string(choices - 1));
  return tokens;
}

DraftPolicy::Verdict DraftPolicy::verify(std::span<const int32_t> history, std::span<const int32_t> draft,
                                         std::span<const float> logits, size_t row, size_t choices, Sampler &sampler) {
  if (!half.functions().policy_verify) {
    // What sampling gives without a draft: the text is the same, only sooner.
    std::vector<int32_t> text(history.begin(), history.end());
    for (size_t i = 0;; ++i) {
      const int32_t id = sampler.sample(logits.subspan(i * row, choices), text);
      if (i == draft.size() || id != draft[i])
        return {i, id};
      text.push_back(id);
    }
  }
  SamplerCall call{sampler, choices, {}};
  const tw_rt_sampler given = samplerOf(call);
  const tw_rt_verdict_request request = {sizeof request,
                                         history.data(),
                                         static_cast<int64_t>(history.size()),
                                         draft.data(),
                                         static_cast<int64_t>(draft.size()),
                                         logits.data(),
                                         static_cast<int64_t>(row),
                                         &given};
  int64_t accepted = 0;
  int32_t next = -1;
  checkHalf(
      half.path() + ": policy_verify",
      [&](tw_rt_message *message) {
        return half.functions().policy_verify(policy, &request, &accepted, &next, message);
      },
      call.problem);
  if (accepted < 0 || accepted > static_cast<int64_t>(draft.size()) || next < 0 || static_cast<size_t>(next) >= choices)
    throw Error(TW_INTERNAL, half.path() + ": policy_verify accepted " + std::to_string(accepted) + " of " +
                                 std::to_string(draft.size()) + " tokens and chose token " + std::to_string(next) +
                                 " of " + std::to_string(choices));
  return {static_cast<size_t>(accepted), next};
}

} // namespace tilewright
