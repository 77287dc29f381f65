// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/api/Generate.h"

#include "runtime/api/DraftPolicy.h"
#include "runtime/api/Handles.h"
#include "runtime/api/OutcomeOf.h"
#include "runtime/api/Requests.h"
#include "runtime/tokenize/StreamDecoder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <numeric>
#include <optional>

namespace tilewright {
namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Generation {
public:
  Generation(tw_model *model, tw_session *session, const GenerateOptions &options, const TokenCallback &callback,
             GenerateResult &result)
      : model(model), session(session), options(options), callback(callback), result(result), sampler(options.sampling),
        tokenizer(model->model->tokenizer()), logits(static_cast<size_t>(model->model->vocabSize())) {
    if (!tokenizer)
      return;
    decoder.emplace(*tokenizer, !options.showSpecial, /*continues=*/true);
    if (const size_t meaningful = tokenizer->meaningfulSize())
      choiceCount = std::min(choiceCount, meaningful);
  }

  void run(std::span<const int32_t> given) {
    const std::vector<int32_t> prompt = begin(given);
    mostTokens = options.maxTokens;
    setMinLength(static_cast<int64_t>(prompt.size()));
    const int64_t held = tw_session_length(session) + static_cast<int64_t>(prompt.size());
    if (options.maxLength > 0) {
      if (held > options.maxLength)
        throw Error(TW_INVALID, "the prompt ends at token " + std::to_string(held) + ", behind the max-length of " +
                                    std::to_string(options.maxLength));
      mostTokens = std::min(mostTokens, options.maxLength - held);
    }
    if (options.beams.beams > 1)
      return searchBeams(prompt);
    if (!options.policy.empty()) {
      policy.emplace(model->model->runtimeHalf(options.policy), model, session, options.policyOptions);
      outputs.resize(policy->outputs().size());
      Session &own = *session->session; // that takes back what does not stand
      own.setRollback(std::max(own.rollback(), options.mostDrafted));
    }
    readPrompt(prompt);
    const auto start = std::chrono::steady_clock::now();
    if (mostTokens == 0)
      stop(StopReason::MaxTokens);
    else if (take(choose()))
      while (policy ? decodeDraft() : decodeOne())
        ;
    finishText();
    result.decodeSeconds = secondsSince(start);
  }

private:
  /// The source is read; the prompt with which the text begins.
  std::vector<int32_t> begin(std::span<const int32_t> given) {
    const artifact::Generation *own = model->model->loaded().manifest()->generation();
    rules.noRepeatNgram = options.noRepeatNgram;
    if (own) {
      rules.forcedBegin = own->forced_bos_id();
      rules.forcedEnd = own->forced_eos_id();
      if (own->bad_ids())
        rules.bad.assign(own->bad_ids()->begin(), own->bad_ids()->end());
    }
    if (!options.source.empty()) {
      const auto start = std::chrono::steady_clock::now();
      tw_encode_request request = {};
      request.size = sizeof request;
      request.session = session;
      request.tokens = options.source.data();
      request.count = static_cast<int64_t>(options.source.size());
      if (const tw_status status = tw_encode(model, &request, 1))
        throw Error(status, tw_last_error());
      result.promptSeconds += secondsSince(start);
      result.promptTokens += request.count;
    }
    std::vector<int32_t> prompt(given.begin(), given.end());
    if (prompt.empty() && model->model->kind() == TW_MODEL_ENCODER_DECODER) {
      if (!own || own->decoder_start_id() < 0)
        throw Error(TW_INVALID, "no prompt, and the model does not say with which token its texts start");
      prompt.push_back(own->decoder_start_id());
    }
    return prompt;
  }

  /// Ends are put off until the text is long enough, the prompt counted with it.
  void setMinLength(int64_t begun) {
    rules.minLength = std::max(options.minLength, options.minNewTokens > 0 ? begun + options.minNewTokens : 0);
    if (rules.minLength <= begun)
      rules.minLength = 0;
    for (size_t id = 0; rules.minLength > 0 && id < choiceCount; ++id)
      if (ends(static_cast<int32_t>(id)))
        rules.ends.push_back(static_cast<int32_t>(id));
    if (!options.policy.empty() && rules.any())
      throw Error(TW_UNSUPPORTED, "drafted tokens together with forced, forbidden or unrepeated ones, or with a least "
                                  "length of the text");
  }

  void finishText() {
    if (callback && decoder)
      if (const std::string rest = decoder->finish(); !rest.empty())
        callback(-1, rest);
  }

  /// The next token by the rules and the sampler.
  int32_t choose() {
    const TraceSpan span(model->model->trace(), "sample");
    if (rules.any())
      rules.apply(std::span(logits).first(choiceCount), history, mostLength());
    return sampler.sample(choices(), history);
  }

  /// Of the text with its prompt.
  int64_t mostLength() const { return static_cast<int64_t>(history.size() - result.tokens.size()) + mostTokens; }

  void searchBeams(std::span<const int32_t> prompt) {
    if (options.sampling.temperature > 0 || !options.policy.empty())
      throw Error(TW_INVALID, "beam search chooses by itself: wanted temperature 0 and no drafts with " +
                                  std::to_string(options.beams.beams) + " beams");
    const int64_t begun = static_cast<int64_t>(prompt.size());
    const int64_t room = tw_model_context(model) - tw_session_length(session) - begun + 1;
    mostTokens = std::min(mostTokens, std::max<int64_t>(room, 0));
    BeamSearchOptions search;
    search.settings = options.beams;
    search.rules = rules;
    search.rules.repetitionPenalty = options.sampling.repetitionPenalty;
    search.maxLength = begun + mostTokens;
    search.choices = choiceCount;
    search.ends = [this](int32_t id) { return ends(id); };
    const auto start = std::chrono::steady_clock::now();
    if (mostTokens == 0)
      return readPrompt(prompt);
    const BeamSearchResult found = beamSearch(model, session, prompt, search);
    result.promptSeconds += found.promptSeconds;
    result.promptTokens += begun;
    result.decodeSeconds = secondsSince(start) - found.promptSeconds;
    result.decodeSteps = found.steps;
    result.decodedTokens = found.steps;
    result.score = found.score;
    result.reason = StopReason::MaxTokens;
    for (int32_t id : found.tokens)
      if (!take(id))
        break;
    finishText();
  }

  void readPrompt(std::span<const int32_t> prompt) {
    // A prompt of ids may name such a row; there is no logit to hold it against.
    const auto meaningful = [&](int32_t id) { return static_cast<size_t>(id) < choiceCount; };
    std::copy_if(prompt.begin(), prompt.end(), std::back_inserter(history), meaningful);
    const auto start = std::chrono::steady_clock::now();
    if (const tw_status status = stepRows(prompt, {}))
      throw Error(status, tw_last_error());
    result.promptSeconds += secondsSince(start);
    result.promptTokens += static_cast<int64_t>(prompt.size());
  }

  /// One step of `tokens` that gives logits and outputs for the wanted rows (none named: the last). The status tells an
  /// end of the text from a failure.
  tw_status stepRows(std::span<const int32_t> tokens, std::span<const int64_t> wanted) {
    const size_t rows = std::max<size_t>(wanted.size(), 1);
    std::vector<tw_output> filled;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ModelOutput &output = outputOf(i);
      outputs[i].resize(rows * static_cast<size_t>(output.rowSize));
      filled.push_back({sizeof(tw_output), output.name.c_str(), outputs[i].data()});
    }
    logits.resize(rows * static_cast<size_t>(model->model->vocabSize()));
    tw_step_request request = stepRequest(session, tokens, logits.data());
    request.wanted = wanted.data();
    request.wanted_count = static_cast<int64_t>(wanted.size());
    request.outputs = filled.data();
    request.output_count = static_cast<int64_t>(filled.size());
    chosenRow = 0;
    return tw_step(model, &request, 1);
  }

  /// That the policy's i-th output is.
  const ModelOutput &outputOf(size_t i) const { return model->model->outputs()[policy->outputs()[i]]; }

  bool stop(StopReason reason) {
    result.reason = reason;
    return false;
  }

  /// The logits of what may be chosen: rows behind the tokenizer's last token fill up the model's table and mean
  /// nothing.
  std::span<const float> choices() const { return std::span<const float>(logits).first(choiceCount); }

  bool ends(int32_t id) const {
    return (options.stopAtEnd && tokenizer && tokenizer->isEnd(id)) ||
           std::find(options.stopIds.begin(), options.stopIds.end(), id) != options.stopIds.end();
  }

  /// Takes a token that was chosen: ends the text or hands it out. False: the text is over.
  bool take(int32_t id) {
    if (ends(id)) {
      result.endToken = id;
      return stop(StopReason::EndToken);
    }
    result.tokens.push_back(id);
    history.push_back(id);
    if (callback && !callback(id, decoder ? decoder->push(id) : std::string()))
      return stop(StopReason::Caller);
    return static_cast<int64_t>(result.tokens.size()) < mostTokens || stop(StopReason::MaxTokens);
  }

  /// One step behind the prompt. False: the text is over.
  bool step(std::span<const int32_t> tokens, std::span<const int64_t> wanted) {
    switch (const tw_status status = stepRows(tokens, wanted)) {
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

  /// The logits behind the last token, and the token they give.
  bool decodeOne() {
    if (!step({&result.tokens.back(), 1}, {}))
      return false;
    ++result.decodedTokens;
    return take(choose());
  }

  /// The same with drafted tokens behind the last one; the session keeps those that stand.
  bool decodeDraft() {
    const int64_t before = tw_session_length(session);
    const int64_t room =
        std::min(mostTokens - static_cast<int64_t>(result.tokens.size()), tw_model_context(model) - before) - 1;
    std::vector<const float *> outputRows;
    for (size_t i = 0; i < outputs.size(); ++i)
      outputRows.push_back(outputs[i].data() + chosenRow * static_cast<size_t>(outputOf(i).rowSize));
    const std::vector<int32_t> draft =
        policy->draft(history, outputRows, static_cast<size_t>(std::clamp<int64_t>(room, 0, options.mostDrafted)),
                      choiceCount, sampler);
    std::vector<int32_t> tokens = {result.tokens.back()};
    tokens.insert(tokens.end(), draft.begin(), draft.end());
    std::vector<int64_t> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    if (!step(tokens, rows))
      return false;
    const DraftPolicy::Verdict verdict =
        policy->verify(history, draft, logits, static_cast<size_t>(model->model->vocabSize()), choiceCount, sampler);
    chosenRow = verdict.accepted;
    result.draftedAt.resize(std::max(result.draftedAt.size(), draft.size()));
    result.acceptedAt.resize(result.draftedAt.size());
    for (size_t i = 0; i < draft.size(); ++i) {
      ++result.draftedAt[i];
      result.acceptedAt[i] += i < verdict.accepted;
    }
    bool goesOn = true;
    size_t standing = 0; // of the draft
    for (; goesOn && standing < verdict.accepted; ++standing)
      goesOn = take(draft[standing]);
    // As without a draft: the last token of an unfinished text is not in the session, an end token never was.
    if (!goesOn && standing > 0)
      --standing;
    if (const tw_status status = tw_session_truncate(session, before + 1 + static_cast<int64_t>(standing)))
      throw Error(status, tw_last_error());
    result.decodedTokens += static_cast<int64_t>(standing) + 1;
    return goesOn && take(verdict.next);
  }

  tw_model *model;
  tw_session *session;
  const GenerateOptions &options;
  const TokenCallback &callback;
  GenerateResult &result;
  Sampler sampler;
  LogitRules rules; // but for the repetition penalty, which is the sampler's
  const Tokenizer *tokenizer;
  std::optional<StreamDecoder> decoder;
  std::optional<DraftPolicy> policy;
  std::vector<float> logits;               // [rows of the last step, vocabulary]
  std::vector<std::vector<float>> outputs; ///< that the policy wants, each [rows of the last step, its numbers]
  size_t chosenRow = 0;                    ///< of the last step, whose logits gave the last token
  size_t choiceCount = logits.size();      ///< of a row
  std::vector<int32_t> history;
  int64_t mostTokens = 0; ///< new ones
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
    if (options.maxLength < 0)
      throw Error(TW_INVALID, "max-length " + std::to_string(options.maxLength) + ", wanted 0 or more");
    if (options.noRepeatNgram < 0)
      throw Error(TW_INVALID, "no-repeat-ngram-size " + std::to_string(options.noRepeatNgram) + ", wanted 0 or more");
    if (options.minLength < 0)
      throw Error(TW_INVALID, "min-length " + std::to_string(options.minLength) + ", wanted 0 or more");
    if (options.minNewTokens < 0)
      throw Error(TW_INVALID, "min-new-tokens " + std::to_string(options.minNewTokens) + ", wanted 0 or more");
    checkBeamSettings(options.beams);
    if (model->model->kind() == TW_MODEL_ENCODER || !model->model->hasLogits())
      throw Error(TW_UNSUPPORTED, "the model writes no text: it is an encoder");
    if (!options.source.empty() && model->model->kind() != TW_MODEL_ENCODER_DECODER)
      throw Error(TW_UNSUPPORTED, "a source, but the model is no encoder-decoder");
    if (options.mostDrafted < 0)
      throw Error(TW_INVALID, "drafted tokens " + std::to_string(options.mostDrafted) + ", wanted 0 or more");
    for (int32_t id : options.stopIds)
      if (id < 0 || id >= tw_model_vocab_size(model))
        throw Error(TW_INVALID, "stop id " + std::to_string(id) + ", wanted 0 to " +
                                    std::to_string(tw_model_vocab_size(model) - 1));
    Generation(model, session, options, callback, result).run(prompt);
  });
  result.memory.size = sizeof result.memory;
  if (model)
    tw_model_memory(model, &result.memory);
  return outcome;
}

Outcome continueText(tw_model *model, std::string_view prompt, const GenerateOptions &options, std::string &text,
                     GenerateResult &result, const Tokenizer *tokenizer) {
  text.clear();
  result = {};
  return outcomeOf([&] {
    if (!model)
      throw Error(TW_INVALID, "continueText: model is NULL");
    if (!tokenizer)
      tokenizer = model->model->tokenizer();
    if (!tokenizer)
      throw Error(TW_NOT_FOUND, "the model has no tokenizer");
    const std::vector<int32_t> ids = tokenizer->encode(prompt, EncodeOptions{.parseSpecial = true, .addBegin = true});
    tw_session *created = nullptr;
    if (const tw_status status = tw_session_create(model, &created))
      throw Error(status, tw_last_error());
    const std::unique_ptr<tw_session, decltype(&tw_session_release)> session(created, tw_session_release);
    text = prompt;
    StreamDecoder decoder(*tokenizer, !options.showSpecial, /*continues=*/true);
    const TokenCallback take = [&](int32_t id, std::string_view) {
      text += id < 0 ? std::string() : decoder.push(id); // the model's own tokenizer says the last thing, if it has one
      return true;
    };
    const Outcome outcome = generate(model, session.get(), ids, options, take, result);
    text += decoder.finish();
    if (!outcome.ok())
      throw Error(outcome.code, outcome.message);
  });
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
