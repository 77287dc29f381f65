// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// States that have a window: which pages sessions keep, what can be taken back, and that nothing else is seen of it.
#include "runtime/api/abi.h"
#include "runtime/exec/StepPlan.h"
#include "tests/unit/runtime/fake/FakeModel.h"

#include <algorithm>

using namespace tilewright;
using namespace tilewright::testing;

namespace {

constexpr int64_t kWindows[] = {1, 64, 70};
constexpr int64_t kPageBytes = int64_t{2} * FAKE_HEADS * FAKE_DIM * TW_PAGE_TOKENS * 4; // of a layer

int64_t pagesOf(int64_t tokens) { return roundUp(tokens, TW_PAGE_TOKENS) / TW_PAGE_TOKENS; }

/// The fake model whose last layer has a window.
class WindowModel : public FakeModel {
public:
  explicit WindowModel(int64_t window, const std::function<void(tw_model_options &)> &set = {})
      : FakeModel(set, {.code = "fake_model_window_" + std::to_string(window),
                        .change =
                            [window](artifact::ManifestT &m) {
                              m.format_version = 3;
                              m.states[FAKE_LAYERS - 1]->window = static_cast<uint32_t>(window);
                            }}),
        window(window) {}

  /// Pages in use by the windowed layer, when sessions of `tokens` tokens in all have the other one's.
  int64_t windowPages(std::initializer_list<int64_t> tokens) const {
    const auto caches = static_cast<int64_t>(memory().caches);
    int64_t whole = 0;
    for (int64_t each : tokens)
      whole += pagesOf(each);
    EXPECT_EQ(caches % kPageBytes, 0);
    return caches / kPageBytes - whole * (FAKE_LAYERS - 1);
  }
  std::vector<float> logits(const std::vector<int32_t> &tokens) const {
    return fakeLogits(tokens, 1, {}, static_cast<size_t>(window));
  }

  const int64_t window;
};

} // namespace

TEST(Windows, DecodeKeepsAWindowOfPagesAndOne) {
  for (int64_t window : kWindows) {
    WindowModel model(window);
    FakeSession session(model);
    std::vector<int32_t> text = someTokens(3);
    ASSERT_EQ(session.step(text), TW_OK) << tw_last_error();
    int64_t most = 0;
    for (int i = 0; i < 600; ++i) {
      text.push_back((i * 7 + 1) % 250);
      ASSERT_EQ(session.step({text.back()}), TW_OK) << tw_last_error();
      ASSERT_EQ(session.logits, model.logits(text)) << window << " after " << text.size();
      most = std::max(most, model.windowPages({session.length()}));
    }
    EXPECT_LE(most, pagesOf(window) + 1);
    EXPECT_GE(most, pagesOf(window));
  }
}

// Steps of a prompt give back what the next ones do not see: the peak is a window and a step, not the prompt.
TEST(Windows, ALongPromptGivesPagesBackOnItsWay) {
  for (int64_t window : kWindows) {
    WindowModel model(window, [](tw_model_options &o) { o.max_rows = 32; });
    FakeSession session(model);
    const std::vector<int32_t> text = someTokens(1500);
    ASSERT_EQ(session.step(text), TW_OK) << tw_last_error();
    EXPECT_EQ(session.logits, model.logits(text));
    EXPECT_LE(model.windowPages({1500}), pagesOf(window) + 1);
    const tw_memory memory = model.memory();
    const int64_t peak = static_cast<int64_t>(memory.peak - memory.arenas) / kPageBytes;
    EXPECT_LE(peak, pagesOf(1500) + pagesOf(window + 32) + 1) << window;

    // In two prompts of one call as well.
    FakeSession first(model), second(model);
    const std::vector<int32_t> others[] = {someTokens(700, 1), someTokens(801, 2)};
    std::vector<float> logits(2 * FAKE_VOCAB);
    std::vector<tw_step_request> requests;
    for (int i = 0; i < 2; ++i)
      requests.push_back(stepRequest(i ? second : first, others[i], logits.data() + i * FAKE_VOCAB));
    ASSERT_EQ(tw_step(model, requests.data(), 2), TW_OK) << tw_last_error();
    EXPECT_EQ(std::vector<float>(logits.begin(), logits.begin() + FAKE_VOCAB), model.logits(others[0]));
    EXPECT_EQ(std::vector<float>(logits.begin() + FAKE_VOCAB, logits.end()), model.logits(others[1]));
    EXPECT_LE(model.windowPages({1500, 700, 801}), 3 * (pagesOf(window) + 1));
  }
}

TEST(Windows, WhatIsGivenUpCannotBeComeBackTo) {
  WindowModel model(70);
  FakeSession session(model);
  const std::vector<int32_t> text = someTokens(300);
  ASSERT_EQ(session.step(text), TW_OK);
  // All but the last token: 299 - 70 + 1 = 230 is the first that is read, in page 3; 192 + 70 - 1 tokens read no other.
  const std::string message =
      "tokens: the model's sliding windows have given up tokens that it would read; wanted 0, or "
      "261 to 300";
  for (int64_t length : {1, 69, 260}) {
    expectError(tw_session_truncate(session, length), TW_INVALID,
                "truncate to " + std::to_string(length) + " " + message);
    EXPECT_EQ(session.length(), 300);
  }
  for (int64_t length : {300, 299, 261}) {
    ASSERT_EQ(tw_session_truncate(session, length), TW_OK) << tw_last_error();
    FakeSession other(model);
    ASSERT_EQ(tw_session_assign(other, session), TW_OK);
    ASSERT_EQ(other.step({9}), TW_OK) << tw_last_error();
    EXPECT_EQ(other.logits, model.logits(joined(firstOf(text, length), {9}))) << length;
  }
  ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
  EXPECT_EQ(model.windowPages({0}), 0);
  ASSERT_EQ(session.step(someTokens(80)), TW_OK);
  EXPECT_EQ(session.logits, model.logits(someTokens(80)));
}

TEST(Windows, ARollbackKeepsAsMuchAsItNames) {
  for (int64_t window : kWindows)
    for (int64_t rollback : {0, 1, 5, 64, 200}) {
      WindowModel model(window);
      FakeSession session(model);
      ASSERT_EQ(tw_session_set_rollback(session, rollback), TW_OK) << tw_last_error();
      std::vector<int32_t> text = someTokens(400);
      ASSERT_EQ(session.step(text), TW_OK);
      int64_t most = 0;
      // Drafts of up to six tokens, read at once or one by one, of which any number stands.
      for (int64_t round = 0; round < 60; ++round) {
        const int64_t drafted = std::min<int64_t>(rollback, 1 + round % 6),
                      standing = drafted ? round * 5 % drafted : 0;
        const std::vector<int32_t> draft = joined({static_cast<int32_t>(round)}, someTokens(drafted, round));
        if (round % 2)
          ASSERT_EQ(session.step(draft), TW_OK);
        else
          for (int32_t token : draft)
            ASSERT_EQ(session.step({token}), TW_OK);
        EXPECT_EQ(session.logits, model.logits(joined(text, draft))) << window << " " << rollback << " " << round;
        text = joined(text, firstOf(draft, 1 + standing));
        ASSERT_EQ(tw_session_truncate(session, static_cast<int64_t>(text.size())), TW_OK) << tw_last_error();
        most = std::max(most, model.windowPages({session.length()}));
      }
      EXPECT_LE(most, pagesOf(window + rollback - 1) + 1) << window << " " << rollback;
    }
  WindowModel model(70);
  FakeSession session(model);
  expectError(tw_session_set_rollback(session, -1), TW_INVALID, "rollback of -1 tokens, wanted 0 or more");
  expectError(tw_session_set_rollback(nullptr, 1), TW_INVALID, "session is NULL");
}

// As much as there is: no text is too short for it.
TEST(Windows, ARollbackOfAnyNumberKeepsAll) {
  for (int64_t window : kWindows) {
    WindowModel model(window);
    FakeSession session(model);
    ASSERT_EQ(tw_session_set_rollback(session, INT64_MAX), TW_OK) << tw_last_error();
    std::vector<int32_t> text = someTokens(3);
    ASSERT_EQ(session.step(text), TW_OK) << tw_last_error();
    for (size_t added : {64, 200}) {
      const std::vector<int32_t> more = someTokens(added, 1);
      text = joined(text, more);
      ASSERT_EQ(session.step(more), TW_OK) << tw_last_error();
      EXPECT_EQ(session.logits, model.logits(text)) << window;
      EXPECT_EQ(model.windowPages({session.length()}), pagesOf(session.length())) << window;
    }
    ASSERT_EQ(tw_session_truncate(session, 1), TW_OK) << tw_last_error();
    ASSERT_EQ(session.step({9}), TW_OK);
    EXPECT_EQ(session.logits, model.logits({text.front(), 9})) << window;
  }
}

// A step that fails behind parts that were read: pages that the session had are still there, those of the step are not.
TEST(Windows, AFailedStepGivesNothingUp) {
  for (int64_t window : kWindows)
    for (int64_t held : {0, 1, 63, 64, 130, 200}) {
      WindowModel model(window, [](tw_model_options &o) { o.max_rows = 16; });
      FakeSession session(model);
      const std::vector<int32_t> text = someTokens(static_cast<size_t>(held));
      if (held)
        ASSERT_EQ(session.step(text), TW_OK);
      const int64_t before = model.windowPages({held});
      ASSERT_EQ(session.step(joined(someTokens(500, 3), {FAKE_TOKEN_FAULT})), TW_INTERNAL);
      EXPECT_EQ(session.length(), held);
      EXPECT_EQ(model.windowPages({held}), before) << window << " " << held;
      ASSERT_EQ(session.step({7}), TW_OK) << tw_last_error();
      EXPECT_EQ(session.logits, model.logits(joined(text, {7}))) << window << " " << held;
    }
}

// Assigned sessions share what is there; each gives up its own part.
TEST(Windows, AssignedSessionsGiveUpForThemselves) {
  WindowModel model(70);
  for (size_t length : {10, 64, 200, 333}) {
    FakeSession first(model), second(model);
    std::vector<int32_t> one = someTokens(length), other = one;
    ASSERT_EQ(first.step(one), TW_OK);
    ASSERT_EQ(tw_session_assign(second, first), TW_OK);
    for (int i = 0; i < 200; ++i) {
      one.push_back(i);
      ASSERT_EQ(first.step({one.back()}), TW_OK);
    }
    EXPECT_EQ(first.logits, model.logits(one));
    for (int i = 0; i < 5; ++i) {
      other.push_back(i + 50);
      ASSERT_EQ(second.step({other.back()}), TW_OK);
    }
    EXPECT_EQ(second.logits, model.logits(other)) << length;
    // As it was before: what the other one gave up, the first still has to read.
    ASSERT_EQ(tw_session_assign(second, first), TW_OK);
    ASSERT_EQ(second.step({3}), TW_OK);
    EXPECT_EQ(second.logits, model.logits(joined(one, {3})));
  }
  EXPECT_EQ(model.windowPages({}), 0);
}

TEST(Windows, ALimitOnMemoryLetsLongTextsFit) {
  // Room for the whole layer's 1000 tokens, for a window of the other one with a step, and for the arena.
  constexpr uint64_t arena = 8192;
  WindowModel model(64, [](tw_model_options &o) {
    o.memory_limit = static_cast<uint64_t>((pagesOf(1000) + 4) * kPageBytes) + arena;
    o.max_rows = 32;
  });
  FakeSession session(model);
  const std::vector<int32_t> text = someTokens(1000);
  ASSERT_EQ(session.step(text), TW_OK) << tw_last_error();
  EXPECT_EQ(session.logits, model.logits(text));
  FakeSession second(model);
  expectError(second.step(someTokens(500)), TW_EXHAUSTED, "allowed");
  EXPECT_EQ(second.length(), 0);
}
