// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sessions that share what they hold, steps that are whole sequences, and sources.
#include "runtime/exec/StepPlan.h"
#include "tests/unit/runtime/fake/FakeModel.h"

using namespace tilewright;
using namespace tilewright::testing;

namespace {

FakeArtifactOptions encoder() {
  return {.change = [](artifact::ManifestT &m) {
    m.format_version = 2;
    for (auto &state : m.states)
      state->group = "transient";
  }};
}

/// Its steps and what reads sources are the two forms of the fake model, one each.
FakeArtifactOptions encoderDecoder() {
  return {.change = [](artifact::ManifestT &m) {
    m.format_version = 2;
    for (auto &state : m.states)
      state->group = "source";
    for (auto &level : m.levels) {
      level->steps[0]->max_rows = 0;
      level->steps[1]->min_rows = 1;
      level->steps[1]->entry = "encode";
    }
  }};
}

tw_status encode(tw_model *model, tw_session *session, const std::vector<int32_t> &tokens) {
  tw_encode_request request = {};
  request.size = sizeof request;
  request.session = session;
  request.tokens = tokens.data();
  request.count = static_cast<int64_t>(tokens.size());
  return tw_encode(model, &request, 1);
}

} // namespace

TEST(Sequences, AssignedSessionsShareAndThenGoTheirOwnWays) {
  FakeModel model;
  for (size_t length : {1, 10, 63, 64, 65, 130}) {
    FakeSession first(model), second(model), third(model);
    const std::vector<int32_t> text = someTokens(length);
    ASSERT_EQ(first.step(text), TW_OK) << tw_last_error();
    const uint64_t alone = model.memory().caches;
    ASSERT_EQ(tw_session_assign(second, first), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_session_assign(third, second), TW_OK);
    EXPECT_EQ(model.memory().caches, alone);
    EXPECT_EQ(second.length(), static_cast<int64_t>(length));
    for (int round = 0; round < 2; ++round) {
      const std::vector<int32_t> more = someTokens(3, 7 + round);
      ASSERT_EQ(first.step(joined(more, more)), TW_OK);
      ASSERT_EQ(second.step(more), TW_OK);
      if (round > 0)
        continue;
      EXPECT_EQ(first.logits, fakeLogits(joined(joined(text, more), more))) << length;
      EXPECT_EQ(second.logits, fakeLogits(joined(text, more))) << length;
    }
    ASSERT_EQ(third.step({9}), TW_OK);
    EXPECT_EQ(third.logits, fakeLogits(joined(text, {9}))) << length;
  }
  EXPECT_EQ(model.memory().caches, 0u);
}

TEST(Sequences, TokensDroppedFromASharedPageLeaveNoTrace) {
  FakeModel model;
  const std::vector<int32_t> text = someTokens(20);
  FakeSession kept(model);
  {
    FakeSession other(model);
    ASSERT_EQ(other.step(text), TW_OK);
    ASSERT_EQ(tw_session_assign(kept, other), TW_OK);
    ASSERT_EQ(tw_session_truncate(kept, 5), TW_OK);
    ASSERT_EQ(other.step({3}), TW_OK);
    EXPECT_EQ(other.logits, fakeLogits(joined(text, {3})));
  }
  ASSERT_EQ(kept.step({3}), TW_OK);
  EXPECT_EQ(kept.logits, fakeLogits({text[0], text[1], text[2], text[3], text[4], 3}));
}

TEST(Sequences, AssignWantsSessionsOfOneModel) {
  FakeModel model, another;
  FakeSession session(model), stranger(another);
  expectError(tw_session_assign(session, stranger), TW_INVALID, "the sessions belong to different models");
  expectError(tw_session_assign(session, nullptr), TW_INVALID, "session or from is NULL");
  EXPECT_EQ(tw_session_assign(session, session), TW_OK);
}

TEST(Sequences, AnEncoderReadsEachSequenceInOneStepAndKeepsNothing) {
  FakeModel model([](tw_model_options &o) { o.max_rows = 64; }, encoder());
  EXPECT_EQ(tw_model_kind_of(model), TW_MODEL_ENCODER);
  for (size_t length : {1, 63, 64, 65, 600}) {
    FakeSession session(model);
    const std::vector<int32_t> text = someTokens(length);
    ASSERT_EQ(session.step(text), TW_OK) << tw_last_error();
    EXPECT_EQ(session.logits, fakeLogits(text)) << length;
    EXPECT_EQ(session.length(), static_cast<int64_t>(length));
    EXPECT_EQ(model.memory().caches, 0u);
    expectError(session.step({1}), TW_INVALID, "the model reads whole sequences, each in one step; truncate it to 0");
    if (length > 1)
      expectError(tw_session_truncate(session, 1), TW_INVALID, "of which no part can be kept; wanted 0");
    ASSERT_EQ(tw_session_truncate(session, static_cast<int64_t>(length)), TW_OK);
    ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
    ASSERT_EQ(session.step({1, 2}), TW_OK) << tw_last_error();
    EXPECT_EQ(session.logits, fakeLogits({1, 2}));
  }
}

TEST(Sequences, WholeSequencesFillStepsUncut) {
  const auto rowsOf = [](const std::vector<int64_t> &rows, int64_t most) {
    std::vector<std::vector<int64_t>> steps;
    for (const auto &parts : packRequests(rows, most)) {
      steps.emplace_back();
      for (const RequestPart &part : parts) {
        EXPECT_EQ(part.first, 0);
        steps.back().push_back(part.count);
      }
    }
    return steps;
  };
  using Steps = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(rowsOf({3, 4, 5}, 8), (Steps{{3, 4}, {5}}));
  EXPECT_EQ(rowsOf({3, 90, 5, 2}, 8), (Steps{{3}, {90}, {5, 2}}));
  EXPECT_EQ(rowsOf({8, 8}, 8), (Steps{{8}, {8}}));
  EXPECT_EQ(rowsOf({}, 8), Steps{});
}

TEST(Sequences, SourcesAreReadBeforeSteps) {
  FakeModel model({}, encoderDecoder());
  EXPECT_EQ(tw_model_kind_of(model), TW_MODEL_ENCODER_DECODER);
  FakeSession session(model);
  expectError(session.step({1}), TW_INVALID, "the session has no source, which the model reads by encode");
  expectError(encode(model, session, {}), TW_INVALID, "wanted a session and at least one token");
  expectError(encode(model, session, {FAKE_VOCAB}), TW_INVALID, "token 0 is 300, wanted 0 to 299");
  expectError(encode(model, session, {1, FAKE_TOKEN_FAULT}), TW_INTERNAL, "failed with 5");
  EXPECT_EQ(tw_session_source_length(session), 0);
  EXPECT_EQ(model.memory().caches, 0u);

  ASSERT_EQ(encode(model, session, someTokens(70)), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_session_source_length(session), 70);
  EXPECT_EQ(session.length(), 0);
  ASSERT_EQ(session.step({1, 2}), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_session_truncate(session, 1), TW_OK);
  EXPECT_EQ(tw_session_source_length(session), 70);

  FakeSession other(model);
  ASSERT_EQ(tw_session_assign(other, session), TW_OK);
  EXPECT_EQ(tw_session_source_length(other), 70);
  EXPECT_EQ(other.length(), 1);
  ASSERT_EQ(encode(model, session, someTokens(3)), TW_OK) << tw_last_error();
  EXPECT_EQ(session.length(), 0);
  EXPECT_EQ(tw_session_source_length(session), 3);
  EXPECT_EQ(tw_session_source_length(other), 70);
}

TEST(Sequences, OnlyEncoderDecodersReadSources) {
  FakeModel model;
  FakeSession session(model);
  expectError(encode(model, session, {1}), TW_UNSUPPORTED, "it is no encoder-decoder");
  EXPECT_EQ(tw_model_kind_of(model), TW_MODEL_DECODER);
  EXPECT_EQ(tw_session_source_length(nullptr), -1);
}

TEST(Sequences, InputsOfRowsAreKnownByName) {
  FakeModel model({}, {.change = [](artifact::ManifestT &m) {
                    m.format_version = 2;
                    m.inputs.push_back(std::make_unique<artifact::InputT>());
                    m.inputs[0]->name = "kinds";
                    m.inputs[0]->limit = 2;
                    m.inputs[0]->entries = 1;
                  }});
  ASSERT_EQ(tw_model_input_count(model), 1);
  EXPECT_STREQ(tw_model_input_name(model, 0), "kinds");
  EXPECT_EQ(tw_model_input_name(model, 1), nullptr);
  FakeSession session(model);
  const std::vector<int32_t> tokens = {1, 2, 3};
  std::vector<float> logits(FAKE_VOCAB);
  const auto step = [&](const char *name, std::vector<int32_t> values) {
    const tw_input input = {sizeof input, name, values.empty() ? nullptr : values.data()};
    tw_step_request request = stepRequest(session, tokens, logits.data());
    request.inputs = &input;
    request.input_count = 1;
    return tw_step(model, &request, 1);
  };
  EXPECT_EQ(step("kinds", {0, 1, 1}), TW_OK) << tw_last_error();
  expectError(step("kinds", {0, 1, 2}), TW_INVALID, "kinds 2 is 2, wanted 0 to 1");
  expectError(step("sorts", {0, 1, 1}), TW_NOT_FOUND, "input 'sorts': the model has kinds");
  expectError(step("kinds", {}), TW_INVALID, "no values for input 'kinds'");
}
