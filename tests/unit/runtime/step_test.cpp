// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps give the right logits however they are cut, batched and spread over threads, and leave no trace when they fail.
#include "runtime/exec/StepPlan.h"
#include "tests/unit/runtime/Watchdog.h"
#include "tests/unit/runtime/fake/FakeModel.h"
#include "tests/unit/runtime/fake/HostLoop.h"

#include <chrono>
#include <tbb/global_control.h>
#include <thread>

using namespace tilewright;
using namespace tilewright::testing;

TEST(Step, PromptsOfAnyLengthThenTokens) {
  FakeModel model;
  for (size_t length : {1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1025}) {
    FakeSession session(model);
    std::vector<int32_t> tokens = someTokens(length);
    ASSERT_EQ(session.step(tokens), TW_OK) << tw_last_error();
    EXPECT_EQ(session.logits, fakeLogits(tokens)) << length;
    for (int i = 0; i < 3; ++i) {
      tokens.push_back(fake_next_token(tokens.back(), static_cast<int>(tokens.size()) - 1));
      ASSERT_EQ(session.step({tokens.back()}), TW_OK);
      EXPECT_EQ(session.logits, fakeLogits(tokens)) << length;
    }
    EXPECT_EQ(session.length(), static_cast<int64_t>(length) + 3);
  }
}

TEST(Step, CutsLongPromptsWithoutChangingThem) {
  const std::vector<int32_t> tokens = someTokens(300);
  const std::vector<float> wanted = fakeLogits(tokens);
  for (int32_t rows : {1, 7, 64, 100, 299, 300, 4000}) {
    FakeModel model([rows](tw_model_options &o) { o.max_rows = rows; });
    FakeSession session(model);
    ASSERT_EQ(session.step(tokens), TW_OK) << tw_last_error();
    EXPECT_EQ(session.logits, wanted) << rows;
  }
}

TEST(Step, GivesTheWantedRows) {
  for (int32_t maxRows : {0, 4, 5}) {
    FakeModel model([maxRows](tw_model_options &o) { o.max_rows = maxRows; });
    const std::vector<int32_t> tokens = someTokens(21);
    const std::vector<std::vector<int64_t>> choices = {{0}, {20}, {0, 20}, {3, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6, 7}, {}};
    for (const std::vector<int64_t> &wanted : choices) {
      FakeSession session(model);
      std::vector<float> logits(wanted.size() * FAKE_VOCAB + 1, -7);
      const int64_t none = 0;
      const tw_step_request request = {sizeof request,
                                       session,
                                       tokens.data(),
                                       21,
                                       wanted.empty() ? &none : wanted.data(),
                                       static_cast<int64_t>(wanted.size()),
                                       wanted.empty() ? nullptr : logits.data(),
                                       nullptr,
                                       nullptr,
                                       0,
                                       nullptr,
                                       0};
      ASSERT_EQ(tw_step(model, &request, 1), TW_OK) << tw_last_error();
      for (size_t i = 0; i < wanted.size(); ++i)
        EXPECT_EQ(std::vector<float>(logits.begin() + static_cast<std::ptrdiff_t>(i * FAKE_VOCAB),
                                     logits.begin() + static_cast<std::ptrdiff_t>((i + 1) * FAKE_VOCAB)),
                  fakeLogits({tokens.begin(), tokens.begin() + wanted[i] + 1}));
      EXPECT_EQ(logits.back(), -7) << "nothing is written behind the caller's buffer";
    }
  }
}

// Sessions of different lengths in one call: each as if alone.
TEST(Step, BatchesSessions) {
  for (int32_t maxRows : {0, 3, 16}) {
    FakeModel model([maxRows](tw_model_options &o) { o.max_rows = maxRows; });
    std::vector<std::unique_ptr<FakeSession>> sessions;
    std::vector<std::vector<int32_t>> histories;
    const size_t lengths[] = {1, 70, 5, 0, 130};
    for (size_t i = 0; i < 5; ++i) {
      sessions.push_back(std::make_unique<FakeSession>(model));
      histories.push_back(someTokens(lengths[i], static_cast<int>(i)));
      if (lengths[i]) {
        ASSERT_EQ(sessions[i]->step(histories[i]), TW_OK);
      }
    }
    for (size_t round = 0; round < 4; ++round) {
      std::vector<std::vector<int32_t>> added;
      std::vector<std::vector<float>> logits(5, std::vector<float>(FAKE_VOCAB));
      std::vector<tw_step_request> requests;
      for (size_t i = 0; i < 5; ++i)
        added.push_back(someTokens(round == 3 ? 1 : 1 + i * 9 * round, static_cast<int>(40 + i)));
      for (size_t i = 0; i < 5; ++i)
        requests.push_back({sizeof(tw_step_request), *sessions[i], added[i].data(),
                            static_cast<int64_t>(added[i].size()), nullptr, 0, logits[i].data(), nullptr, nullptr, 0,
                            nullptr, 0});
      ASSERT_EQ(tw_step(model, requests.data(), 5), TW_OK) << tw_last_error();
      for (size_t i = 0; i < 5; ++i) {
        histories[i] = joined(histories[i], added[i]);
        EXPECT_EQ(logits[i], fakeLogits(histories[i])) << "session " << i << " round " << round;
        EXPECT_EQ(sessions[i]->length(), static_cast<int64_t>(histories[i].size()));
      }
    }
  }
}

// Positions are the model's; which tokens a row sees is decided by their order.
TEST(Step, TakesPositionsFromTheCaller) {
  for (int32_t maxRows : {0, 4}) {
    FakeModel model([maxRows](tw_model_options &o) { o.max_rows = maxRows; });
    FakeSession session(model);
    const std::vector<int32_t> tokens = someTokens(70);
    std::vector<int32_t> positions;
    for (int i = 0; i < 70; ++i)
      positions.push_back(i % 3 == 0 ? FAKE_CONTEXT - 1 - i : 5);
    std::vector<float> logits(FAKE_VOCAB);
    tw_step_request request = {sizeof request, session,          tokens.data(), 70, nullptr, 0,
                               logits.data(),  positions.data(), nullptr,       0,  nullptr, 0};
    ASSERT_EQ(tw_step(model, &request, 1), TW_OK) << tw_last_error();
    EXPECT_EQ(logits, fakeLogits(tokens, 1, positions));

    // Without positions a session counts on from its length.
    ASSERT_EQ(session.step({3}), TW_OK);
    positions.push_back(70);
    EXPECT_EQ(session.logits, fakeLogits(joined(tokens, {3}), 1, positions));

    for (int32_t bad : {-1, INT32_MIN, static_cast<int32_t>(FAKE_CONTEXT), INT32_MAX}) {
      positions[7] = bad;
      expectError(tw_step(model, &request, 1), TW_INVALID,
                  ("request 0: position 7 is " + std::to_string(bad) + ", wanted 0 to 1999").c_str());
    }
    EXPECT_EQ(session.length(), 71);

    // A caller with the first version's header: its struct ends before the positions, which are not read.
    request.size = offsetof(tw_step_request, positions);
    ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
    ASSERT_EQ(tw_step(model, &request, 1), TW_OK) << tw_last_error();
    EXPECT_EQ(logits, fakeLogits(tokens));
  }
}

TEST(Step, TruncatesByToken) {
  FakeModel model;
  FakeSession session(model);
  const std::vector<int32_t> tokens = someTokens(200);
  for (size_t kept : {199, 192, 191, 129, 128, 127, 65, 64, 63, 1, 0}) {
    ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
    ASSERT_EQ(session.step(tokens), TW_OK);
    ASSERT_EQ(tw_session_truncate(session, static_cast<int64_t>(kept)), TW_OK);
    EXPECT_EQ(session.length(), static_cast<int64_t>(kept));
    const std::vector<int32_t> more = someTokens(3, 9);
    ASSERT_EQ(session.step(more), TW_OK);
    EXPECT_EQ(session.logits,
              fakeLogits(joined({tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(kept)}, more)))
        << kept;
  }
  expectError(tw_session_truncate(session, 4), TW_INVALID, "truncate to 4 tokens, the session holds 3");
  expectError(tw_session_truncate(session, -1), TW_INVALID, "truncate to -1 tokens");
}

TEST(Step, StopsWhenTheContextIsFull) {
  FakeModel model([](tw_model_options &o) { o.context = 70; });
  EXPECT_EQ(tw_model_context(model), 70);
  FakeSession session(model);
  expectError(session.step(someTokens(71)), TW_CONTEXT_FULL, "holds 0 tokens of a context of 70, 71 more do not fit");
  ASSERT_EQ(session.step(someTokens(69)), TW_OK);
  expectError(session.step(someTokens(2)), TW_CONTEXT_FULL, "holds 69 tokens of a context of 70, 2 more do not fit");
  EXPECT_EQ(session.length(), 69);
  ASSERT_EQ(session.step({7}), TW_OK);
  EXPECT_EQ(session.logits, fakeLogits(joined(someTokens(69), {7})));
  expectError(session.step({7}), TW_CONTEXT_FULL, "1 more do not fit");
}

// A failing step between good ones: the session goes on as if it had not been, also when pieces before the failure
// were already computed.
TEST(Step, LeavesNoTraceOfAFailure) {
  for (int32_t maxRows : {0, 8}) {
    FakeModel model([maxRows](tw_model_options &o) { o.max_rows = maxRows; });
    FakeSession session(model), other(model);
    std::vector<int32_t> history = someTokens(60);
    ASSERT_EQ(session.step(history), TW_OK);
    const std::vector<int32_t> bad = joined(someTokens(150, 3), {FAKE_TOKEN_FAULT});
    expectError(session.step(bad), TW_INTERNAL, "compiled step 'step_");
    EXPECT_NE(std::string(tw_last_error()).find("failed with 5"), std::string::npos);
    expectError(session.step({FAKE_TOKEN_FAULT}), TW_INTERNAL, "compiled step 'step_one' failed with 5");
    expectError(session.step({FAKE_TOKEN_BAD_PHASE}), TW_INTERNAL, "negative or overflowing number of chunks");
    EXPECT_EQ(session.length(), 60);

    // In a batch the innocent session stays as it was, too.
    std::vector<float> logits(2 * FAKE_VOCAB);
    const std::vector<int32_t> good = {1, 2, 3};
    const tw_step_request both[2] = {
        {sizeof(tw_step_request), other, good.data(), 3, nullptr, 0, logits.data(), nullptr, nullptr, 0, nullptr, 0},
        {sizeof(tw_step_request), session, bad.data(), static_cast<int64_t>(bad.size()), nullptr, 0,
         &logits[FAKE_VOCAB], nullptr, nullptr, 0, nullptr, 0}};
    EXPECT_EQ(tw_step(model, both, 2), TW_INTERNAL);
    EXPECT_EQ(other.length(), 0);

    const std::vector<int32_t> more = someTokens(20, 4);
    ASSERT_EQ(session.step(more), TW_OK);
    EXPECT_EQ(session.logits, fakeLogits(joined(history, more)));
    ASSERT_EQ(other.step(good), TW_OK);
    EXPECT_EQ(other.logits, fakeLogits(good));
  }
}

TEST(Step, CancelsFromAnotherThread) {
  Watchdog watchdog("CancelsFromAnotherThread");
  for (int threads : {1, 2}) {
    FakeModel model([threads](tw_model_options &o) { o.threads = threads; });
    FakeSession session(model);
    const std::vector<int32_t> history = someTokens(70);
    ASSERT_EQ(session.step(history), TW_OK);
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      EXPECT_EQ(tw_cancel(session), TW_OK);
    });
    expectError(session.step(joined(someTokens(80), {FAKE_TOKEN_SLOW})), TW_CANCELLED, "the step was cancelled");
    canceller.join();
    EXPECT_EQ(session.length(), 70);
    ASSERT_EQ(session.step({5}), TW_OK) << "a cancellation holds for one step";
    EXPECT_EQ(session.logits, fakeLogits(joined(history, {5})));
    ASSERT_EQ(tw_cancel(session), TW_OK);
    expectError(session.step({6}), TW_CANCELLED, "the step was cancelled");
    ASSERT_EQ(session.step({6}), TW_OK);
    EXPECT_EQ(session.logits, fakeLogits(joined(history, {5, 6})));
  }
}

TEST(Step, RefusesASessionInUse) {
  Watchdog watchdog("RefusesASessionInUse");
  FakeModel model;
  FakeSession session(model);
  std::thread owner([&] {
    // Refused itself while the other thread's truncation has the session.
    tw_status status;
    while ((status = session.step({FAKE_TOKEN_SLOW})) == TW_INVALID)
      std::this_thread::yield();
    EXPECT_EQ(status, TW_CANCELLED);
  });
  // Keeping all tokens changes nothing, and is refused from when the owner's step runs.
  while (tw_session_truncate(session, 0) == TW_OK)
    std::this_thread::yield();
  std::vector<float> logits(FAKE_VOCAB);
  const int32_t token = 1;
  const tw_step_request request = {sizeof request, session, &token,  1, nullptr, 0,
                                   logits.data(),  nullptr, nullptr, 0, nullptr, 0};
  expectError(tw_step(model, &request, 1), TW_INVALID, "its session is in use");
  expectError(tw_session_truncate(session, 0), TW_INVALID, "the session is in use by another thread");
  tw_cancel(session);
  owner.join();
}

// Two sessions on one pool at once, many times over: always the same bits.
TEST(Step, SessionsOfSeveralThreadsRepeatBitEqual) {
  Watchdog watchdog("SessionsOfSeveralThreadsRepeatBitEqual");
  FakeModel model;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&model, t] {
      const std::vector<int32_t> tokens = someTokens(20, t);
      const std::vector<float> wanted = fakeLogits(tokens);
      for (int i = 0; i < 500; ++i) {
        FakeSession session(model);
        ASSERT_EQ(session.step(tokens), TW_OK) << tw_last_error();
        ASSERT_EQ(session.logits, wanted) << i;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Step, CompletesWithAnyThreadLimit) {
  Watchdog watchdog("CompletesWithAnyThreadLimit");
  const std::vector<int32_t> tokens = someTokens(100);
  const std::vector<float> wanted = fakeLogits(tokens);
  for (size_t limit : {1, 2, 3, 64}) {
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, limit);
    for (int count : {1, 2, 3, 64}) {
      FakeModel model([count](tw_model_options &o) { o.threads = count; });
      hostLoop(3, [&](int) {
        FakeSession session(model);
        ASSERT_EQ(session.step(tokens), TW_OK) << tw_last_error();
        EXPECT_EQ(session.logits, wanted);
      });
    }
  }
}

TEST(Step, RunsOnAHostsThreads) {
  tw_executor host = {sizeof host, nullptr, 2, [](void *, void (*body)(void *), void *data) {
                        std::thread second(body, data);
                        body(data);
                        second.join();
                      }};
  FakeModel model([&host](tw_model_options &o) { o.executor = &host; });
  FakeSession session(model);
  ASSERT_EQ(session.step(someTokens(90)), TW_OK) << tw_last_error();
  EXPECT_EQ(session.logits, fakeLogits(someTokens(90)));
}

TEST(Step, KeepsToTheMemoryLimit) {
  // A page of the fake model: 4 buffers of 2 heads, 64 tokens, 4 floats.
  constexpr uint64_t kPage = 4 * 2 * 64 * 4 * 4;
  FakeModel model([](tw_model_options &o) { o.memory_limit = 4 * kPage + 8192; });
  FakeSession first(model), second(model);
  ASSERT_EQ(first.step(someTokens(64)), TW_OK) << tw_last_error();
  expectError(second.step(someTokens(64 * 4)), TW_EXHAUSTED,
              "planned in all " + std::to_string(5 * kPage + 8192) + ", allowed " + std::to_string(4 * kPage + 8192));
  EXPECT_EQ(second.length(), 0);
  const tw_memory memory = model.memory();
  EXPECT_EQ(memory.caches, kPage);
  EXPECT_EQ(memory.arenas, 8192u) << "arena of 912 bytes and 4 padded rows of logits";
  EXPECT_EQ(memory.peak, kPage + 8192);
  EXPECT_EQ(memory.weights, std::filesystem::file_size(model.path() + "/model.tww"));
  ASSERT_EQ(second.step(someTokens(64)), TW_OK) << tw_last_error();
  EXPECT_EQ(second.logits, fakeLogits(someTokens(64)));
}

TEST(Step, RefusesAnArenaBeyondAnyMemory) {
  for (const auto &[perRow, part] : {std::pair<uint64_t, const char *>{UINT64_MAX / 2, "is larger than 2^63 bytes"},
                                     {uint64_t{1} << 45, "arena: no memory for"}}) {
    FakeArtifactOptions options;
    options.change = [bytes = perRow](artifact::ManifestT &m) { m.levels[0]->steps[1]->arena->per_row = bytes; };
    FakeModel model({}, options);
    FakeSession session(model);
    ASSERT_EQ(session.step({1}), TW_OK) << tw_last_error();
    expectError(session.step(someTokens(64)), TW_EXHAUSTED, part);
    EXPECT_EQ(session.length(), 1);
    ASSERT_EQ(session.step({2}), TW_OK);
    EXPECT_EQ(session.logits, fakeLogits({1, 2}));
  }
}

TEST(StepPlan, CutsRequestsIntoFullSteps) {
  auto cut = [](std::vector<int64_t> rows, int64_t maxRows) {
    std::string text;
    for (const auto &step : cutRequests(rows, maxRows)) {
      for (const RequestPart &part : step)
        text +=
            std::to_string(part.request) + ":" + std::to_string(part.first) + "+" + std::to_string(part.count) + " ";
      text += "| ";
    }
    return text;
  };
  EXPECT_EQ(cut({1}, 512), "0:0+1 | ");
  EXPECT_EQ(cut({1, 1, 1}, 512), "0:0+1 1:0+1 2:0+1 | ");
  EXPECT_EQ(cut({5, 7}, 4), "0:0+4 | 0:4+1 1:0+3 | 1:3+4 | ");
  EXPECT_EQ(cut({4, 4}, 4), "0:0+4 | 1:0+4 | ");
}
