// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/api/Generate.h"

#include "runtime/api/Handles.h"
#include "runtime/api/OutcomeOf.h"
#include "runtime/tokenize/StreamDecoder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>

namespace tilewright {
namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One step of `tokens` with the last row's logits; the status tells an end of the text from a failure.
tw_status stepLast(tw_model *model, tw_session *session, std::span<const int32_t> tokens, std::vector<float> &logits) {
  const tw_step_request request = {sizeof request, session, tokens.data(), static_cast<int64_t>(tokens.size()),
                                   nullptr,        0,       logits.data(), nullptr};
  return tw_step(model, &request, 1);
}

class Generation {
public:
  Generation(tw_model *model, tw_session *session, const GenerateOptions &options, const TokenCallback &callback,
             GenerateResult &result)
      : model(model), session(session), options(options), callback(callback), result(result), sampler(options.sampling),
        tokenizer(model->model->tokenizer()), logits(static_cast<size_t>(model->model->vocabSize())) {
    if (!tokenizer)
      return;
    decoder.emplace(*tokenizer, !options.showSpecial);
    if (const size_t meaningful = tokenizer->meaningfulSize())
      choiceCount = std::min(choiceCount, meaningful);
  }

  void run(std::span<const int32_t> prompt) {
    readPrompt(prompt);
    const auto start = std::chrono::steady_clock::now();
    while (next())
      ;
    if (callback && decoder)
      if (const std::string rest = decoder->finish(); !rest.empty())
        callback(-1, rest);
    result.decodeSeconds = secondsSince(start);
  }

private:
  void readPrompt(std::span<const int32_t> prompt) {
    // A prompt of ids may name such a row; there is no logit to hold it against.
    const auto meaningful = [&](int32_t id) { return static_cast<size_t>(id) < choiceCount; };
    std::copy_if(prompt.begin(), prompt.end(), std::back_inserter(history), meaningful);
    const auto start = std::chrono::steady_clock::now();
    if (const tw_status status = stepLast(model, session, prompt, logits))
      throw Error(status, tw_last_error());
    result.promptSeconds = secondsSince(start);
    result.promptTokens = static_cast<int64_t>(prompt.size());
  }

  bool stop(StopReason reason) {
    result.reason = reason;
    return false;
  }

  /// The logits of what may be chosen: rows behind the tokenizer's last token fill up the model's table and mean nothing.
  std::span<const float> choices() const { return std::span<const float>(logits).first(choiceCount); }

  bool ends(int32_t id) const {
    return (options.stopAtEnd && tokenizer && tokenizer->isEnd(id)) ||
           std::find(options.stopIds.begin(), options.stopIds.end(), id) != options.stopIds.end();
  }

  /// Samples one token, hands it out and computes the logits behind it. False: the text is over.
  bool next() {
    if (static_cast<int64_t>(result.tokens.size()) >= options.maxTokens)
      return stop(StopReason::MaxTokens);
    const int32_t id = sampler.sample(choices(), history);
    if (ends(id)) {
      result.endToken = id;
      return stop(StopReason::EndToken);
    }
    result.tokens.push_back(id);
    history.push_back(id);
    if (callback && !callback(id, decoder ? decoder->push(id) : std::string()))
      return stop(StopReason::Caller);
    if (static_cast<int64_t>(result.tokens.size()) >= options.maxTokens)
      return stop(StopReason::MaxTokens);
    switch (const tw_status status = stepLast(model, session, {&result.tokens.back(), 1}, logits)) {
    case TW_OK:
      ++result.decodeSteps;
      return true;
    case TW_CANCELLED:
      return stop(StopReason::Cancelled);
    case TW_CONTEXT_FULL:
      return stop(StopReason::ContextFull);
    default:
      throw Error(status, tw_last_error());
    }
  }

  tw_model *model;
  tw_session *session;
  const GenerateOptions &options;
  const TokenCallback &callback;
  GenerateResult &result;
  Sampler sampler;
  const Tokenizer *tokenizer;
  std::optional<StreamDecoder> decoder;
  std::vector<float> logits;
  size_t choiceCount = logits.size();
  std::vector<int32_t> history;
};

std::atomic<tw_session *> interruptedSession{nullptr};
std::atomic<bool> wasInterrupted{false};
struct sigaction actionBefore;

/// Only lock-free stores happen here: tw_cancel allocates and locks nothing unless it is given NULL.
void onInterrupt(int) {
  wasInterrupted.store(true);
  if (tw_session *session = interruptedSession.load())
    tw_cancel(session);
  sigaction(SIGINT, &actionBefore, nullptr);
}

} // namespace

const char *stopReasonName(StopReason reason) {
  switch (reason) {
  case StopReason::MaxTokens:
    return "max-tokens";
  case StopReason::EndToken:
    return "end-token";
  case StopReason::ContextFull:
    return "context-full";
  case StopReason::Cancelled:
    return "cancelled";
  case StopReason::Caller:
    return "caller";
  }
  return "unknown";
}

Outcome generate(tw_model *model, tw_session *session, std::span<const int32_t> prompt, const GenerateOptions &options,
                 const TokenCallback &callback, GenerateResult &result) {
  result = {};
  Outcome outcome = outcomeOf([&] {
    if (!model || !session)
      throw Error(TW_INVALID, "generate: model or session is NULL");
    if (options.maxTokens < 0)
      throw Error(TW_INVALID, "max-tokens " + std::to_string(options.maxTokens) + ", wanted 0 or more");
    Generation(model, session, options, callback, result).run(prompt);
  });
  result.memory.size = sizeof result.memory;
  if (model)
    tw_model_memory(model, &result.memory);
  return outcome;
}

CancelOnInterrupt::CancelOnInterrupt(tw_session *session) {
  wasInterrupted = false;
  interruptedSession = session;
  struct sigaction action{};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &actionBefore);
}

CancelOnInterrupt::~CancelOnInterrupt() {
  sigaction(SIGINT, &actionBefore, nullptr);
  interruptedSession = nullptr;
}

bool CancelOnInterrupt::interrupted() const { return wasInterrupted.load(); }

} // namespace tilewright
