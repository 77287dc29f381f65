// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/api/Generate.h"
#include "runtime/tokenize/Tokenizer.h"

#include "tests/unit/runtime/Watchdog.h"
#include "tests/unit/runtime/fake/FakeModel.h"

#include <algorithm>
#include <csignal>
#include <limits>
#include <thread>

using namespace tilewright;
using namespace tilewright::testing;

namespace {

/// A token for each id the fake model makes: 256 byte tokens in the byte alphabet are more than it needs, so these are
/// letters; two ids share no text. Id 255 ends a text, ids 253 and 254 are the halves of one character.
void addTokenizer(artifact::ManifestT &manifest) {
  manifest.tokenizer = std::make_unique<artifact::TokenizerT>();
  auto &t = *manifest.tokenizer;
  t.kind = "gpt2";
  t.pre = "default";
  for (int i = 0; i < 253; ++i)
    t.tokens.push_back("<" + std::to_string(i) + ">");
  t.tokens.push_back("\xc3\x83"); // the byte alphabet's spelling of byte C3
  t.tokens.push_back("\xc2\xa9"); // of byte A9: together U+00E9
  t.tokens.push_back("</s>");
  t.token_types.assign(256, 1);
  t.token_types[255] = 3;
  t.eos_id = 255;
}

/// What the fake model says greedily after `prompt`.
std::vector<int32_t> chain(const std::vector<int32_t> &prompt, size_t count) {
  std::vector<int32_t> result;
  int token = prompt.back(), position = static_cast<int>(prompt.size()) - 1;
  while (result.size() < count) {
    token = fake_next_token(token, position++);
    result.push_back(token);
  }
  return result;
}

/// A prompt after which the fake model says `wanted` next.
std::vector<int32_t> promptFor(int wanted) {
  for (int token = 0; token < 256; ++token)
    if (fake_next_token(token, 1) == wanted)
      return {1, token};
  return {};
}

} // namespace

TEST(Generate, ContinuesGreedilyAndCounts) {
  FakeModel model;
  FakeSession session(model);
  const std::vector<int32_t> prompt = someTokens(30);
  std::vector<int32_t> seen;
  GenerateResult result;
  GenerateOptions options;
  options.maxTokens = 12;
  const Outcome outcome = generate(
      model, session, prompt, options,
      [&](int32_t id, std::string_view text) {
        seen.push_back(id);
        EXPECT_TRUE(text.empty());
        return true;
      },
      result);
  ASSERT_TRUE(outcome.ok()) << outcome.message;
  EXPECT_EQ(result.tokens, chain(prompt, 12));
  EXPECT_EQ(seen, result.tokens);
  EXPECT_EQ(result.reason, StopReason::MaxTokens);
  EXPECT_STREQ(stopReasonName(result.reason), "max-tokens");
  EXPECT_EQ(result.promptTokens, 30);
  EXPECT_EQ(result.decodeSteps, 11);
  EXPECT_GT(result.promptTokensPerSecond(), 0);
  EXPECT_GT(result.decodeTokensPerSecond(), 0);
  EXPECT_EQ(result.memory.caches, 8192u);
  EXPECT_EQ(session.length(), 41);

  GenerateOptions none;
  none.maxTokens = 0;
  ASSERT_TRUE(generate(model, session, std::vector<int32_t>{3}, none, {}, result).ok());
  EXPECT_TRUE(result.tokens.empty());
  EXPECT_EQ(session.length(), 42);
}

// A text is long enough by itself, or by what is new in it.
TEST(Generate, TextsOfALeastLength) {
  FakeModel model({}, {.change = addTokenizer});
  auto newTokens = [&](int64_t minLength, int64_t minNewTokens) {
    FakeSession session(model);
    GenerateResult result;
    GenerateOptions options;
    options.maxTokens = 8;
    options.minLength = minLength;
    options.minNewTokens = minNewTokens;
    const Outcome outcome = generate(model, session, promptFor(255), options, {}, result);
    return outcome.ok() ? std::to_string(result.tokens.size()) : outcome.message;
  };
  const auto begun = static_cast<int64_t>(promptFor(255).size());
  EXPECT_EQ(newTokens(0, 0), "0");
  EXPECT_EQ(newTokens(begun, 0), "0");
  EXPECT_GE(std::stoi(newTokens(begun + 3, 0)), 3);
  EXPECT_GE(std::stoi(newTokens(0, 2)), 2);
  EXPECT_EQ(newTokens(-1, 0), "min-length -1, wanted 0 or more");
  EXPECT_EQ(newTokens(0, -1), "min-new-tokens -1, wanted 0 or more");
}

TEST(Generate, StreamsWholeCharactersAndStopsAtTheEnd) {
  FakeModel model({}, {.change = addTokenizer});
  {
    FakeSession session(model);
    GenerateResult result;
    ASSERT_TRUE(generate(model, session, promptFor(255), {}, {}, result).ok());
    EXPECT_EQ(result.reason, StopReason::EndToken);
    EXPECT_EQ(result.endToken, 255);
    EXPECT_TRUE(result.tokens.empty());
  }
  {
    FakeSession session(model);
    GenerateResult result;
    GenerateOptions options;
    options.stopAtEnd = false;
    options.maxTokens = 1;
    std::string text;
    auto collect = [&](int32_t, std::string_view piece) {
      text += piece;
      return true;
    };
    ASSERT_TRUE(generate(model, session, promptFor(255), options, collect, result).ok());
    EXPECT_EQ(result.tokens, std::vector<int32_t>{255});
    EXPECT_EQ(text, "") << "control tokens have no text";
    ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
    options.showSpecial = true;
    ASSERT_TRUE(generate(model, session, promptFor(255), options, collect, result).ok());
    EXPECT_EQ(text, "</s>");
    text.clear();
    ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
    options.stopIds = {255};
    ASSERT_TRUE(generate(model, session, promptFor(255), options, collect, result).ok());
    EXPECT_EQ(result.reason, StopReason::EndToken);
    ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
    // Half a character is held back, and comes with the last call.
    std::vector<std::pair<int32_t, std::string>> pieces;
    ASSERT_TRUE(generate(
                    model, session, promptFor(253), options,
                    [&](int32_t id, std::string_view piece) {
                      pieces.emplace_back(id, piece);
                      return true;
                    },
                    result)
                    .ok());
    EXPECT_EQ(pieces, (std::vector<std::pair<int32_t, std::string>>{{253, ""}, {-1, "\xc3"}}));
  }
}

TEST(Generate, ContinuesATextWithItsPrompt) {
  FakeModel model({}, {.change = addTokenizer});
  const std::vector<int32_t> prompt = {253, 254};
  GenerateOptions options;
  options.maxLength = 9;
  options.stopAtEnd = false;
  std::string wanted = "\xc3\xa9", text;
  GenerateResult result;
  FakeSession session(model);
  const auto collect = [&](int32_t, std::string_view piece) {
    wanted += piece;
    return true;
  };
  ASSERT_TRUE(generate(model, session, prompt, options, collect, result).ok());
  ASSERT_TRUE(continueText(model, "\xc3\xa9", options, text, result).ok());
  EXPECT_EQ(text, wanted);
  EXPECT_EQ(result.tokens, chain(prompt, 7));

  // A tokenizer of one's own reads and writes.
  TokenizerData data;
  data.kind = "gpt2";
  for (int i = 0; i < FAKE_VOCAB; ++i)
    data.tokens.push_back("[" + std::to_string(i) + "]");
  data.tokens[5] = "a";
  const Tokenizer own(data);
  wanted = "aa";
  for (int32_t id : chain({5, 5}, 7))
    wanted += data.tokens[id];
  ASSERT_TRUE(continueText(model, "aa", options, text, result, &own).ok());
  EXPECT_EQ(text, wanted);

  options.maxLength = 1;
  EXPECT_EQ(continueText(model, "aa", options, text, result, &own).message,
            "the prompt ends at token 2, behind the max-length of 1");
  EXPECT_EQ(text, "aa");
  EXPECT_EQ(continueText(nullptr, "aa", options, text, result).message, "continueText: model is NULL");
  EXPECT_EQ(continueText(FakeModel(), "aa", options, text, result).message, "the model has no tokenizer");
}

// The model's table has more rows than the tokenizer has tokens, or the last tokens are unused: such a row is never
// chosen, however large its logit, nor does a prompt that names it disturb the penalty.
TEST(Generate, NeverChoosesRowsThatFillUpTheTable) {
  for (bool unused : {false, true}) {
    FakeModel model({}, {.change = [&](artifact::ManifestT &manifest) {
                      addTokenizer(manifest);
                      auto &t = *manifest.tokenizer;
                      if (unused) {
                        std::fill(t.token_types.begin() + 200, t.token_types.end(), 5);
                        return;
                      }
                      t.tokens.resize(200);
                      t.token_types.resize(200);
                      t.eos_id = 7;
                    }});
    for (double temperature : {0.0, 2.0}) {
      FakeSession session(model);
      GenerateResult result;
      GenerateOptions options;
      options.maxTokens = 60;
      options.stopAtEnd = false;
      options.sampling.temperature = temperature;
      options.sampling.repetitionPenalty = 1.5;
      std::vector<int32_t> prompt = promptFor(230); // what the model wants to say next
      prompt.insert(prompt.begin(), {250, 299});
      const Outcome outcome = generate(model, session, prompt, options, {}, result);
      ASSERT_TRUE(outcome.ok()) << outcome.message;
      ASSERT_EQ(result.tokens.size(), 60u);
      for (int32_t id : result.tokens)
        EXPECT_LT(id, 200);
    }
  }
}

TEST(Generate, StopsWhenTheCallerOrTheContextSaysSo) {
  FakeModel model([](tw_model_options &o) { o.context = 20; });
  FakeSession session(model);
  GenerateResult result;
  ASSERT_TRUE(generate(model, session, someTokens(15), {}, {}, result).ok());
  EXPECT_EQ(result.reason, StopReason::ContextFull);
  EXPECT_EQ(result.tokens, chain(someTokens(15), 6)) << "the last one found no room";
  EXPECT_EQ(session.length(), 20);

  ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
  int calls = 0;
  ASSERT_TRUE(
      generate(model, session, someTokens(5), {}, [&](int32_t, std::string_view) { return ++calls < 3; }, result).ok());
  EXPECT_EQ(result.reason, StopReason::Caller);
  EXPECT_EQ(result.tokens.size(), 3u);
}

TEST(Generate, StopsAtAnInterrupt) {
  Watchdog watchdog("StopsAtAnInterrupt");
  FakeModel model;
  FakeSession session(model);
  GenerateResult result;
  struct sigaction before{}, after{};
  sigaction(SIGINT, nullptr, &before);
  {
    CancelOnInterrupt interrupt(session);
    EXPECT_FALSE(interrupt.interrupted());
    ASSERT_TRUE(generate(
                    model, session, someTokens(5), {},
                    [n = 0](int32_t, std::string_view) mutable {
                      if (++n == 4)
                        raise(SIGINT);
                      return true;
                    },
                    result)
                    .ok());
    EXPECT_TRUE(interrupt.interrupted());
    sigaction(SIGINT, nullptr, &after);
    EXPECT_EQ(after.sa_handler, before.sa_handler) << "a second one ends the program";
  }
  EXPECT_EQ(result.reason, StopReason::Cancelled);
  EXPECT_EQ(result.tokens, chain(someTokens(5), 4));
  EXPECT_EQ(session.length(), 8);

  // In the middle of a prompt it is a failure, and the session is as before.
  CancelOnInterrupt interrupt(session);
  std::thread other([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    raise(SIGINT);
  });
  const Outcome outcome = generate(model, session, std::vector<int32_t>{FAKE_TOKEN_SLOW}, {}, {}, result);
  other.join();
  EXPECT_EQ(outcome.code, TW_CANCELLED);
  EXPECT_EQ(outcome.message, "the step was cancelled");
  EXPECT_EQ(session.length(), 8);
}

TEST(Generate, SamplesReproducibly) {
  FakeModel model;
  GenerateOptions options;
  options.maxTokens = 20;
  options.sampling.temperature = 1e9; // the fake model's best logit stands out by that much
  options.sampling.seed = 11;
  auto run = [&] {
    FakeSession session(model);
    GenerateResult result;
    EXPECT_TRUE(generate(model, session, someTokens(4), options, {}, result).ok());
    return result.tokens;
  };
  const std::vector<int32_t> first = run();
  EXPECT_EQ(run(), first);
  options.sampling.seed = 12;
  EXPECT_NE(run(), first);
}

TEST(Generate, ReportsFailures) {
  FakeModel model;
  FakeSession session(model);
  GenerateResult result;
  EXPECT_EQ(generate(nullptr, session, someTokens(1), {}, {}, result).message, "generate: model or session is NULL");
  EXPECT_EQ(generate(model, session, {}, {}, {}, result).message, "request 0: no tokens, wanted at least one");
  GenerateOptions options;
  options.maxTokens = -1;
  EXPECT_EQ(generate(model, session, someTokens(1), options, {}, result).message, "max-tokens -1, wanted 0 or more");
  options = {};
  for (int32_t id : {-1, int{FAKE_VOCAB}, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}) {
    EXPECT_EQ(generate(model, session, std::vector<int32_t>{5, id}, {}, {}, result).code, TW_INVALID) << id;
    options.stopIds = {7, id};
    EXPECT_EQ(generate(model, session, someTokens(1), options, {}, result).message,
              "stop id " + std::to_string(id) + ", wanted 0 to " + std::to_string(FAKE_VOCAB - 1));
  }
  options = {};
  options.sampling.topP = 2;
  EXPECT_EQ(generate(model, session, someTokens(1), options, {}, result).code, TW_INVALID);
  EXPECT_EQ(generate(model, session, std::vector<int32_t>{FAKE_TOKEN_FAULT}, {}, {}, result).code, TW_INTERNAL);
  EXPECT_EQ(generate(model, session, someTokens(FAKE_CONTEXT + 1), {}, {}, result).code, TW_CONTEXT_FULL);
  EXPECT_EQ(session.length(), 0);
}
