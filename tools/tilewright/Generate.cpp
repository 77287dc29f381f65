// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text from a compiled model, token by token.
#include "tools/tilewright/Model.h"

#include "runtime/api/Error.h"
#include "runtime/api/Generate.h"
#include "runtime/api/Handles.h"
#include "runtime/module/RuntimeHalf.h"
#include "runtime/tokenize/ChatTemplate.h"
#include "tools/files/OutputFile.h"
#include "tools/files/StandardOutput.h"
#include "tools/options/Options.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <utility>

namespace tilewright::cli {
namespace {

struct GenerateCommand {
  ModelOptions model;
  std::string prompt;
  std::vector<int32_t> promptIds, stopIds;
  std::optional<std::string> system;
  bool chat = false, ignoreEnd = false;
  int64_t maxTokens = 256, maxLength = 0;
  SamplerOptions sampling;
  BeamSettings beams;
  int64_t noRepeatNgram = 0;
  int64_t minLength = 0, minNewTokens = 0;
  std::string speculate;
  std::string idsOut;
};

const Tokenizer &tokenizerOf(tw_model *model) {
  const Tokenizer *tokenizer = model->model->tokenizer();
  if (!tokenizer)
    throw Failure(Unsupported, "the model has no tokenizer; give --prompt-ids");
  return *tokenizer;
}

std::string tokenText(const Tokenizer &tokenizer, int32_t id) { return id < 0 ? "" : tokenizer.tokenText(id); }

/// What a chat template's `strftime_now` writes: the time in TILEWRIGHT_NOW, so that a prompt can be repeated, or now.
std::tm templateTime() {
  const char *text = std::getenv("TILEWRIGHT_NOW");
  if (!text)
    return localTime();
  constexpr std::time_t endOfYears = 253402300800; // 10000-01-01
  const char *end = text + std::strlen(text);
  std::time_t seconds = 0;
  std::tm fields{};
  const auto [read, error] = std::from_chars(text, end, seconds);
  if (error != std::errc() || read != end || seconds < 0 || seconds >= endOfYears || !gmtime_r(&seconds, &fields))
    throw Failure(BadInput, "TILEWRIGHT_NOW is '" + std::string(text) +
                                "', wanted the seconds from 1970-01-01 00:00 UTC to the time that the chat template "
                                "sees, before the year 10000");
  return fields;
}

/// Given ids, or the prompt's: plain text may name special tokens; under --chat the model's template does, the user's
/// text not.
std::vector<int32_t> promptIds(const GenerateCommand &options, tw_model *model) {
  for (int32_t id : options.promptIds)
    if (id < 0 || id >= tw_model_vocab_size(model))
      throw Failure(BadInput, "--prompt-ids: " + std::to_string(id) + "; the vocabulary has " +
                                  std::to_string(tw_model_vocab_size(model)) + " tokens");
  if (!options.promptIds.empty())
    return options.promptIds;
  const Tokenizer &tokenizer = tokenizerOf(model);
  // What an encoder reads is a whole text.
  const bool whole = tw_model_kind_of(model) == TW_MODEL_ENCODER_DECODER;
  if (!options.chat)
    return tokenizer.encode(options.prompt, EncodeOptions{.parseSpecial = true, .addBegin = true, .addEnd = whole});
  if (tokenizer.chatTemplate().empty())
    throw Failure(Unsupported, "the model has no chat template; leave out --chat");
  ChatInput input;
  if (options.system)
    input.messages.push_back({"system", *options.system});
  input.messages.push_back({"user", options.prompt});
  input.bosToken = tokenText(tokenizer, tokenizer.bosId());
  input.eosToken = tokenText(tokenizer, tokenizer.eosId());
  input.clock = templateTime;
  std::vector<TextSegment> segments = ChatTemplate(tokenizer.chatTemplate()).render(input);
  return tokenizer.encode(segments, EncodeOptions{.addBegin = true});
}

void writeIds(const std::string &path, const std::vector<int32_t> &prompt, const GenerateResult &result) {
  std::vector<int32_t> ids = result.tokens;
  if (result.endToken >= 0)
    ids.push_back(result.endToken);
  const std::string text = nlohmann::json{{"prompt_ids", prompt}, {"ids", ids}}.dump() + "\n";
  OutputFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

void printStatistics(const GenerateResult &result, tw_model *model) {
  auto description = nlohmann::json::parse(tw_model_describe(model));
  std::fprintf(stderr,
               "\nprompt %lld tokens, %.1f tokens/s; decode %lld tokens, %.1f tokens/s; numerics %s, K/V "
               "%s, %s\n",
               static_cast<long long>(result.promptTokens), result.promptTokensPerSecond(),
               static_cast<long long>(result.decodedTokens), result.decodeTokensPerSecond(),
               description.value("numerics", "").c_str(), description.value("kv_element", "").c_str(),
               description.value("level", "").c_str());
  if (const int64_t drafted = result.draftedTokens(), accepted = result.acceptedTokens();
      result.decodeSteps > 0 && drafted > 0) {
    std::fprintf(stderr, "drafted %lld tokens, %lld stood (%.0f %%): %.2f tokens a step\n",
                 static_cast<long long>(drafted), static_cast<long long>(accepted),
                 100.0 * static_cast<double>(accepted) / static_cast<double>(drafted),
                 static_cast<double>(result.decodedTokens) / static_cast<double>(result.decodeSteps));
    std::fprintf(stderr, "stood by place in the draft:");
    for (size_t i = 0; i < result.draftedAt.size(); ++i)
      std::fprintf(stderr, " %.0f %%",
                   100.0 * static_cast<double>(result.acceptedAt[i]) / static_cast<double>(result.draftedAt[i]));
    std::fputc('\n', stderr);
  }
  std::fprintf(stderr, "memory: weights %.1f MB, caches %.1f MB, activations %.1f MB\n",
               static_cast<double>(result.memory.weights) / 1e6, static_cast<double>(result.memory.caches) / 1e6,
               static_cast<double>(result.memory.arenas) / 1e6);
}

void runGenerate(const GenerateCommand &options) {
  try {
    checkSamplerOptions(options.sampling);
    checkBeamSettings(options.beams);
  } catch (const Error &error) {
    throw Failure(Usage, error.what());
  }
  if (!options.idsOut.empty())
    OutputFile::check(options.idsOut);
  std::string policy;
  if (!options.speculate.empty())
    policy = pluginOfPolicy(options.speculate);
  ModelPointer model = loadModel(options.model, {options.idsOut});
  std::vector<int32_t> prompt = promptIds(options, model.get());
  const bool hasText = model.get()->model->tokenizer();
  const bool reads = tw_model_kind_of(model.get()) == TW_MODEL_ENCODER_DECODER;
  if (prompt.empty())
    throw Failure(BadInput, reads ? "the prompt, which the model reads as its source, is empty"
                                  : "the prompt is empty and the model has no begin token");
  const int64_t context = tw_model_context(model.get());
  if (static_cast<int64_t>(prompt.size()) > context)
    throw Failure(BadInput, "the prompt has " + std::to_string(prompt.size()) + " tokens; the context holds " +
                                std::to_string(context));

  const bool showsPrompt = !options.chat && !reads && options.promptIds.empty();
  bool hasBegun = false;
  // With the first new token, so that no half line stands there when the prompt or an option is refused.
  const auto begin = [&] {
    if (!std::exchange(hasBegun, true) && showsPrompt)
      std::fputs(options.prompt.c_str(), stdout);
  };
  GenerateResult result;
  bool wasInterrupted = false;
  if (options.maxTokens > 0) {
    SessionPointer session = newSession(model.get());
    CancelOnInterrupt interrupt(session.get());
    GenerateOptions wanted;
    wanted.maxTokens = options.maxTokens;
    wanted.maxLength = options.maxLength;
    wanted.sampling = options.sampling;
    wanted.stopAtEnd = !options.ignoreEnd;
    wanted.policy = policy;
    wanted.policyOptions = options.speculate;
    wanted.stopIds = options.stopIds;
    wanted.beams = options.beams;
    wanted.noRepeatNgram = options.noRepeatNgram;
    wanted.minLength = options.minLength;
    wanted.minNewTokens = options.minNewTokens;
    if (reads)
      wanted.source = prompt;
    std::optional<std::string> unwritable;
    Outcome outcome = generate(
        model.get(), session.get(), reads ? std::vector<int32_t>() : prompt, wanted,
        [&](int32_t id, std::string_view text) {
          begin();
          if (!hasText && id >= 0)
            std::printf("%d ", id);
          std::fwrite(text.data(), 1, text.size(), stdout);
          unwritable = flushStandardOutput();
          return !unwritable;
        },
        result);
    if (unwritable)
      throw Failure(WorkFailed, *unwritable);
    wasInterrupted = interrupt.interrupted();
    const bool isGood = outcome.ok() || wasInterrupted;
    if (isGood)
      begin();
    if (hasBegun)
      std::fputc('\n', stdout);
    if (!isGood)
      throw Failure(exitCodeOf(outcome.code), outcome.message);
    if (result.reason == StopReason::ContextFull)
      std::fprintf(stderr, "tilewright: warning: the context of %lld tokens is full\n",
                   static_cast<long long>(context));
    if (!options.model.quiet)
      printStatistics(result, model.get());
  } else if (showsPrompt) {
    begin();
    std::fputc('\n', stdout);
  }
  if (!options.idsOut.empty())
    writeIds(options.idsOut, prompt, result);
  if (wasInterrupted)
    throw Failure(Interrupted, "interrupted");
}

} // namespace

void addGenerate(CLI::App &app) {
  auto options = std::make_shared<GenerateCommand>();
  CLI::App *command = app.add_subcommand("generate", "Continue a prompt");
  addModelOptions(*command, options->model);
  CLI::Option *prompt =
      command->add_option("--prompt", options->prompt,
                          "The text to continue, or that an encoder-decoder reads; with --chat, what the user says");
  // CLI11 takes an empty text for 0, which is a token.
  const CLI::Validator wantsIds = notEmpty("token ids");
  CLI::Option *ids = command->add_option("--prompt-ids", options->promptIds, "Token ids in place of a text: 1,2,3")
                         ->delimiter(',')
                         ->check(wantsIds)
                         ->excludes(prompt);
  command->add_option("--stop-id", options->stopIds, "A further token that ends the text; may be given several times")
      ->check(wantsIds);
  CLI::Option *chat = command->add_flag(
      "--chat", options->chat,
      "Use the model's own chat template; where it names the date, that is today's, or TILEWRIGHT_NOW's (in "
      "seconds since 1970, UTC)");
  chat->excludes(ids);
  command
      ->add_option_function<std::string>(
          "--system", [options](const std::string &text) { options->system = text; },
          "With --chat: the system message; an empty one takes the place of the template's own, too")
      ->needs(chat);
  command->add_option("--max-tokens", options->maxTokens, "New tokens at most; 0 prints the prompt")
      ->check(numberFrom(0))
      ->capture_default_str();
  command
      ->add_option("--max-length", options->maxLength, "Tokens of prompt and text at most; 0: what the context holds")
      ->check(numberFrom(0))
      ->capture_default_str();
  command
      ->add_option("--min-length", options->minLength,
                   "Tokens of prompt and text before the text may end; of an encoder-decoder its start token and text")
      ->check(numberFrom(0))
      ->capture_default_str();
  command->add_option("--min-new-tokens", options->minNewTokens, "New tokens before the text may end")
      ->check(numberFrom(0))
      ->capture_default_str();
  command->add_option("--temperature", options->sampling.temperature, "0 takes the most probable token")
      ->capture_default_str();
  command->add_option("--top-k", options->sampling.topK, "Sample from the k most probable tokens; 0: all")
      ->capture_default_str();
  command->add_option("--top-p", options->sampling.topP, "Sample from the fewest tokens that reach this probability")
      ->capture_default_str();
  command
      ->add_option("--min-p", options->sampling.minP, "Leave out tokens below this share of the best one's probability")
      ->capture_default_str();
  command->add_option("--repeat-penalty", options->sampling.repetitionPenalty, "Penalty for tokens seen; 1: none")
      ->capture_default_str();
  command->add_option("--seed", options->sampling.seed, "Of the sampler; the same seed gives the same text")
      ->capture_default_str();
  CLI::Option *beams = command
                           ->add_option("--num-beams", options->beams.beams,
                                        "Beam search: so many texts grow side by side, the best is written")
                           ->capture_default_str();
  command
      ->add_option("--length-penalty", options->beams.lengthPenalty,
                   "Of a beam search: a text's log-probability is divided by its length to this power")
      ->capture_default_str()
      ->needs(beams);
  command
      ->add_option(
          "--early-stopping", options->beams.earlyStopping,
          "Of a beam search, once as many texts ended as there are beams: stop (on), when the best running one is "
          "worse (off), or when none could become better (never)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, EarlyStopping>{
          {"off", EarlyStopping::Off}, {"on", EarlyStopping::On}, {"never", EarlyStopping::Never}}))
      ->default_str("off")
      ->needs(beams);
  command
      ->add_option("--no-repeat-ngram-size", options->noRepeatNgram,
                   "No sequence of so many tokens is written twice; 0: any may")
      ->check(numberFrom(0))
      ->capture_default_str();
  command
      ->add_option("--speculate", options->speculate,
                   "Draft tokens, and compute the logits of several in one step: a plugin's policy, as ngram:4")
      ->type_name("POLICY[:ARGUMENT][,SETTING=VALUE...]")
      ->check(notEmpty("a policy"));
  command->add_flag("--ignore-end", options->ignoreEnd, "Go on behind the end-of-text token");
  command
      ->add_option("--ids-out", options->idsOut,
                   "Write {\"prompt_ids\": [...], \"ids\": [...]}, the end token included")
      ->check(notEmpty("a file"));
  command->footer("Examples:\n  tilewright generate smollm2/ --prompt \"The capital of France is\" --max-tokens 64\n"
                  "  tilewright generate model.gguf --chat --prompt \"What is gravity?\"\n"
                  "  tilewright generate model.gguf --prompt \"def add(a, b):\" --speculate ngram,max=4\n"
                  "  tilewright generate translator/ --prompt \"How are you?\" --num-beams 4 --length-penalty 0.6");
  command->callback([options, prompt, ids] {
    if (!*prompt && !*ids)
      throw CLI::RequiredError("--prompt or --prompt-ids");
    runGenerate(*options);
  });
}

} // namespace tilewright::cli
