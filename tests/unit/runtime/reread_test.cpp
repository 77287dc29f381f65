// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rows are told of their sequence's length, and sessions that are read again where they grow past the model's
// reread_length or shrink back: always as if they had been read at once.
#include "runtime/exec/StepPlan.h"
#include "tests/unit/runtime/fake/FakeModel.h"

using namespace tilewright;
using namespace tilewright::testing;

namespace {

constexpr size_t limit = FAKE_REREAD_LENGTH;

const FakeArtifactOptions rereads = {.code = "fake_model_reread", .change = [](artifact::ManifestT &m) {
                                       m.format_version = 3;
                                       m.reread_length = limit;
                                     }};

/// Logits behind `tokens` read at once.
std::vector<float> readAtOnce(const std::vector<int32_t> &tokens) {
  std::vector<int32_t> positions;
  for (size_t i = 0; i < tokens.size(); ++i)
    positions.push_back(static_cast<int32_t>(i + (tokens.size() > limit)));
  return fakeLogits(tokens, 1, positions);
}

} // namespace

TEST(Reread, TokenByTokenAsAtOnce) {
  for (int32_t maxRows : {0, 7}) {
    FakeModel model([maxRows](tw_model_options &o) { o.max_rows = maxRows; }, rereads);
    FakeSession session(model);
    const std::vector<int32_t> tokens = someTokens(limit + 5);
    ASSERT_EQ(session.step(firstOf(tokens, limit - 3)), TW_OK) << tw_last_error();
    for (size_t count = limit - 2; count <= tokens.size(); ++count) {
      ASSERT_EQ(session.step({tokens[count - 1]}), TW_OK) << tw_last_error();
      EXPECT_EQ(session.logits, readAtOnce(firstOf(tokens, count))) << count << " tokens";
      EXPECT_EQ(session.length(), static_cast<int64_t>(count));
    }
  }
}

// A prompt longer than the limit in pieces: its first rows know already how long it is.
TEST(Reread, CutPrompts) {
  for (int32_t maxRows : {0, 1, 16, 64}) {
    FakeModel model([maxRows](tw_model_options &o) { o.max_rows = maxRows; }, rereads);
    FakeSession session(model);
    for (size_t count : {limit, limit + 1, 3 * limit}) {
      ASSERT_EQ(session.step(someTokens(count)), TW_OK) << tw_last_error();
      EXPECT_EQ(session.logits, readAtOnce(someTokens(count)));
      ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
    }
  }
}

TEST(Reread, SeveralRowsOverTheLimitAndBack) {
  FakeModel model({}, rereads);
  FakeSession session(model);
  const std::vector<int32_t> tokens = someTokens(limit + 40);
  ASSERT_EQ(session.step(firstOf(tokens, 70)), TW_OK);
  ASSERT_EQ(session.step({tokens.begin() + 70, tokens.end()}), TW_OK) << tw_last_error();
  EXPECT_EQ(session.logits, readAtOnce(tokens));

  // Wanted rows are those of the request alone.
  ASSERT_EQ(tw_session_truncate(session, 90), TW_OK);
  const std::vector<int32_t> more = someTokens(20, 5);
  const int64_t wanted[] = {3, 19};
  std::vector<float> logits(2 * FAKE_VOCAB);
  tw_step_request request = stepRequest(session, more, logits.data());
  request.wanted = wanted;
  request.wanted_count = 2;
  ASSERT_EQ(tw_step(model, &request, 1), TW_OK) << tw_last_error();
  const std::vector<int32_t> now = joined(firstOf(tokens, 90), more);
  EXPECT_EQ(std::vector<float>(logits.begin() + FAKE_VOCAB, logits.end()), readAtOnce(now));
  EXPECT_EQ(session.length(), 110);

  // Truncated below the limit: what is kept was read for a longer text.
  ASSERT_EQ(tw_session_truncate(session, 60), TW_OK);
  ASSERT_EQ(session.step({4}), TW_OK) << tw_last_error();
  EXPECT_EQ(session.logits, readAtOnce(joined(firstOf(tokens, 60), {4})));
  EXPECT_EQ(session.length(), 61);
}

TEST(Reread, OneOfABatchAlone) {
  FakeModel model([](tw_model_options &o) { o.max_rows = 48; }, rereads);
  std::vector<std::unique_ptr<FakeSession>> sessions;
  std::vector<std::vector<int32_t>> texts = {
      someTokens(limit, 1), someTokens(limit - 1, 2), someTokens(limit + 9, 3), {}};
  std::vector<std::vector<float>> logits(texts.size(), std::vector<float>(FAKE_VOCAB));
  std::vector<tw_step_request> requests;
  const std::vector<int32_t> next = {9};
  for (size_t i = 0; i < texts.size(); ++i) {
    sessions.push_back(std::make_unique<FakeSession>(model));
    if (!texts[i].empty()) {
      ASSERT_EQ(sessions[i]->step(texts[i]), TW_OK);
    }
    requests.push_back(stepRequest(*sessions[i], next, logits[i].data()));
  }
  ASSERT_EQ(tw_step(model, requests.data(), static_cast<int64_t>(requests.size())), TW_OK) << tw_last_error();
  for (size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(logits[i], readAtOnce(joined(texts[i], next))) << "session " << i;
}

TEST(Reread, AssignedSessions) {
  FakeModel model({}, rereads);
  FakeSession first(model), second(model);
  const std::vector<int32_t> tokens = someTokens(limit);
  ASSERT_EQ(first.step(tokens), TW_OK);
  ASSERT_EQ(tw_session_assign(second, first), TW_OK);
  ASSERT_EQ(first.step({1}), TW_OK);
  ASSERT_EQ(second.step({2}), TW_OK) << tw_last_error();
  EXPECT_EQ(first.logits, readAtOnce(joined(tokens, {1})));
  EXPECT_EQ(second.logits, readAtOnce(joined(tokens, {2})));
  ASSERT_EQ(second.step({3}), TW_OK);
  EXPECT_EQ(second.logits, readAtOnce(joined(tokens, {2, 3})));
}

// A step that fails leaves the session what it was.
TEST(Reread, FailedSteps) {
  FakeModel model({}, rereads);
  FakeSession session(model);
  const std::vector<int32_t> tokens = someTokens(limit);
  ASSERT_EQ(session.step(tokens), TW_OK);
  EXPECT_EQ(session.step({FAKE_TOKEN_FAULT}), TW_INTERNAL);
  EXPECT_EQ(session.length(), static_cast<int64_t>(limit));
  ASSERT_EQ(tw_session_truncate(session, limit - 1), TW_OK);
  ASSERT_EQ(session.step({1}), TW_OK);
  EXPECT_EQ(session.logits, readAtOnce(joined(firstOf(tokens, limit - 1), {1})));
  ASSERT_EQ(session.step({2}), TW_OK);
  EXPECT_EQ(session.logits, readAtOnce(joined(firstOf(tokens, limit - 1), {1, 2})));
}

TEST(Reread, PositionsOfTheCaller) {
  EXPECT_EQ(lengthOf(3, 4), 7);
  const int32_t positions[] = {5, 80, 7}, last[] = {INT32_MAX};
  EXPECT_EQ(lengthOf(3, 3, positions), 81);
  EXPECT_EQ(lengthOf(0, 1, last), INT32_MAX);
  EXPECT_EQ(lengthOf(INT32_MAX, 4), INT32_MAX);

  // The place that a token is told counts, and is told again.
  FakeModel model({}, rereads);
  FakeSession session(model);
  const std::vector<int32_t> tokens = {7, 8, 9};
  const int32_t own[] = {0, 40, 41};
  std::vector<float> logits(FAKE_VOCAB);
  tw_step_request request = {sizeof request, session, tokens.data(), 3, nullptr, 0,
                             logits.data(),  own,     nullptr,       0, nullptr, 0};
  ASSERT_EQ(tw_step(model, &request, 1), TW_OK) << tw_last_error();
  EXPECT_EQ(logits, fakeLogits(tokens, 1, {0, 40, 41}));
  const int32_t far[] = {150};
  request.tokens = tokens.data() + 1;
  request.count = 1;
  request.positions = far;
  ASSERT_EQ(tw_step(model, &request, 1), TW_OK) << tw_last_error();
  EXPECT_EQ(logits, fakeLogits({7, 8, 9, 8}, 1, {1, 41, 42, 151}));
}
