// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Outputs of a model besides its logits: listed, filled for the wanted rows of those who ask, and drafted from.
#include "runtime/api/Generate.h"
#include "tests/unit/runtime/fake/FakeModel.h"

#include <nlohmann/json.hpp>

#include <cstddef>

using namespace tilewright;
using namespace tilewright::testing;

namespace {

void addOutput(artifact::ManifestT &manifest, const std::string &name, const std::vector<uint32_t> &shape) {
  auto output = std::make_unique<artifact::OutputT>();
  output->name = name;
  output->shape = shape;
  manifest.outputs.push_back(std::move(output));
  manifest.format_version = 2;
}

/// The fake model's two: marks of a row's token and position, and what comes behind the next token.
void addOutputs(artifact::ManifestT &manifest) {
  addOutput(manifest, "marks", {2, 3});
  addOutput(manifest, "prediction_head_1", {FAKE_VOCAB});
}

const FakeArtifactOptions withOutputs = {.code = "fake_model_outputs", .change = addOutputs};

tw_step_request requestOf(tw_session *session, const std::vector<int32_t> &tokens, const std::vector<int64_t> &wanted,
                          std::vector<float> &logits, const std::vector<tw_output> &outputs) {
  return {sizeof(tw_step_request),
          session,
          tokens.data(),
          static_cast<int64_t>(tokens.size()),
          wanted.empty() ? nullptr : wanted.data(),
          static_cast<int64_t>(wanted.size()),
          logits.data(),
          nullptr,
          outputs.data(),
          static_cast<int64_t>(outputs.size()),
          nullptr,
          0};
}

std::vector<float> marks(const std::vector<int32_t> &tokens, const std::vector<int64_t> &rows, int first = 0) {
  std::vector<float> numbers;
  for (int64_t row : rows)
    for (int i = 0; i < FAKE_MARKS; ++i)
      numbers.push_back(fake_mark(tokens[static_cast<size_t>(row)], first + static_cast<int>(row), i));
  return numbers;
}

} // namespace

TEST(Outputs, AreListed) {
  FakeModel model({}, withOutputs), without;
  EXPECT_EQ(tw_model_output_count(model), 2);
  EXPECT_STREQ(tw_model_output_name(model, 0), "marks");
  EXPECT_STREQ(tw_model_output_name(model, 1), "prediction_head_1");
  for (int64_t index : {int64_t(-1), int64_t(2), INT64_MAX})
    EXPECT_EQ(tw_model_output_name(model, index), nullptr);
  EXPECT_EQ(tw_model_output_size(model, "marks"), 6);
  EXPECT_EQ(tw_model_output_size(model, "prediction_head_1"), FAKE_VOCAB);
  for (const char *name : {"logits", "mark", "", static_cast<const char *>(nullptr)})
    EXPECT_EQ(tw_model_output_size(model, name), -1);
  EXPECT_EQ(nlohmann::json::parse(tw_model_describe(model))["outputs"][0],
            (nlohmann::json{{"name", "marks"}, {"shape", {2, 3}}}));
  EXPECT_EQ(tw_model_output_count(without), 0);
  EXPECT_EQ(tw_model_output_count(nullptr), -1);
  EXPECT_EQ(tw_model_output_name(nullptr, 0), nullptr);
  EXPECT_EQ(tw_model_output_size(nullptr, "marks"), -1);
}

// However the rows are cut into steps, and whether or not compiled code writes into the caller's buffers itself.
TEST(Outputs, AreFilledForWantedRows) {
  for (int32_t maxRows : {0, 1, 4, 5}) {
    FakeModel model([maxRows](tw_model_options &o) { o.max_rows = maxRows; }, withOutputs);
    const std::vector<int32_t> tokens = someTokens(21);
    for (const std::vector<int64_t> &wanted :
         std::vector<std::vector<int64_t>>{{}, {0}, {20}, {0, 20}, {3, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6, 7}}) {
      const std::vector<int64_t> rows = wanted.empty() ? std::vector<int64_t>{20} : wanted;
      FakeSession session(model);
      std::vector<float> logits(rows.size() * FAKE_VOCAB), found(rows.size() * FAKE_MARKS + 1, -7);
      const std::vector<tw_output> outputs = {{sizeof(tw_output), "marks", found.data()}};
      const tw_step_request request = requestOf(session, tokens, wanted, logits, outputs);
      ASSERT_EQ(tw_step(model, &request, 1), TW_OK) << tw_last_error();
      EXPECT_EQ(found.back(), -7) << "nothing is written behind the caller's buffer";
      found.pop_back();
      EXPECT_EQ(found, marks(tokens, rows)) << maxRows;
      EXPECT_EQ(std::vector<float>(logits.end() - FAKE_VOCAB, logits.end()),
                fakeLogits({tokens.begin(), tokens.begin() + rows.back() + 1}));
    }
  }
}

// Requests of one step want different ones.
TEST(Outputs, OfBatchedSessions) {
  for (int32_t maxRows : {0, 3}) {
    FakeModel model([maxRows](tw_model_options &o) { o.max_rows = maxRows; }, withOutputs);
    FakeSession first(model), second(model), third(model);
    const std::vector<int32_t> one = someTokens(5), two = someTokens(1, 3), three = someTokens(8, 7);
    std::vector<float> logits(3 * FAKE_VOCAB), heads(FAKE_VOCAB), ownMarks(2 * FAKE_MARKS), lastMarks(FAKE_MARKS);
    std::vector<float> logits2(FAKE_VOCAB), logits3(FAKE_VOCAB);
    const std::vector<tw_output> none,
        both = {{sizeof(tw_output), "prediction_head_1", heads.data()}, {sizeof(tw_output), "marks", lastMarks.data()}},
        own = {{sizeof(tw_output), "marks", ownMarks.data()}};
    const std::vector<int64_t> rows = {1, 4}, last;
    const tw_step_request requests[] = {requestOf(first, one, rows, logits, own),
                                        requestOf(second, two, last, logits2, none),
                                        requestOf(third, three, last, logits3, both)};
    ASSERT_EQ(tw_step(model, requests, 3), TW_OK) << tw_last_error();
    EXPECT_EQ(ownMarks, marks(one, rows));
    EXPECT_EQ(lastMarks, marks(three, {7}));
    EXPECT_EQ(heads[static_cast<size_t>(fake_next_token(fake_next_token(three[7], 7), 8))], 1);
    EXPECT_EQ(logits2, fakeLogits(two));
    EXPECT_EQ(logits3, fakeLogits(three));
  }
}

TEST(Outputs, EachFaultHasItsMessage) {
  FakeModel model({}, withOutputs), without;
  FakeSession session(model), other(without);
  const std::vector<int32_t> tokens = {1, 2, 3};
  std::vector<float> logits(FAKE_VOCAB), numbers(FAKE_MARKS);
  const auto step = [&](const std::vector<tw_output> &outputs, const std::function<void(tw_step_request &)> &change) {
    tw_step_request request = requestOf(session, tokens, {}, logits, outputs);
    change(request);
    return tw_step(request.session == session ? model : without, &request, 1);
  };
  const auto same = [](tw_step_request &) {};
  const tw_output good = {sizeof(tw_output), "marks", numbers.data()};
  expectError(step({{sizeof(tw_output), "mark", numbers.data()}}, same), TW_NOT_FOUND,
              "request 0: output 'mark': the model has marks, prediction_head_1");
  expectError(step({{sizeof(tw_output), nullptr, numbers.data()}}, same), TW_NOT_FOUND, "output ''");
  expectError(step({good}, [&](auto &r) { r.session = other; }), TW_NOT_FOUND, "output 'marks': the model has none");
  expectError(step({good, good}, same), TW_INVALID, "output 'marks' is there twice");
  expectError(step({{sizeof(tw_output), "marks", nullptr}}, same), TW_INVALID, "no buffer for output 'marks'");
  expectError(step({good}, [](auto &r) { r.output_count = -1; }), TW_INVALID, "output_count is negative");
  expectError(step({good}, [](auto &r) { r.outputs = nullptr; }), TW_INVALID, "outputs is NULL");
  expectError(step({{7, "marks", numbers.data()}}, same), TW_INVALID, "tw_output: size 7");
  EXPECT_EQ(session.length(), 0);

  // No rows, no buffers; and a caller with an older header, whose struct ends before.
  const int64_t none = 0;
  EXPECT_EQ(step({{sizeof(tw_output), "marks", nullptr}}, [&](auto &r) { r.wanted = &none; }), TW_OK)
      << tw_last_error();
  EXPECT_EQ(step({good}, [](auto &r) { r.size = offsetof(tw_step_request, outputs); }), TW_OK) << tw_last_error();
  EXPECT_EQ(numbers, std::vector<float>(FAKE_MARKS));
  EXPECT_EQ(session.length(), 6);
}

TEST(Outputs, OfADamagedManifestAreRefused) {
  const auto refusal = [](const std::function<void(artifact::ManifestT &)> &change) {
    TemporaryFolder folder;
    writeFakeArtifact(folder.path(), {.code = "fake_model_outputs", .change = change});
    tw_model *model = nullptr;
    EXPECT_EQ(tw_model_load(folder.path().c_str(), nullptr, &model), TW_CORRUPT);
    tw_model_release(model);
    return std::string(tw_last_error());
  };
  const auto expectRefusal = [&](const std::string &part, const std::function<void(artifact::ManifestT &)> &change) {
    EXPECT_NE(refusal(change).find(part), std::string::npos) << tw_last_error();
  };
  expectRefusal("outputs in format version 1, wanted 2 or more", [](auto &m) {
    addOutputs(m);
    m.format_version = 1;
  });
  expectRefusal("output 'marks': not a name of its own", [](auto &m) {
    addOutputs(m);
    addOutput(m, "marks", {1});
  });
  expectRefusal("output 'logits': not a name of its own", [](auto &m) { addOutput(m, "logits", {1}); });
  expectRefusal("output '': not a name of its own", [](auto &m) { addOutput(m, "", {1}); });
  expectRefusal("output 'x': a row of 0 or more than", [](auto &m) { addOutput(m, "x", {5, 0}); });
  expectRefusal("output 'x': a row of 0 or more than", [](auto &m) { addOutput(m, "x", {65536, 65536}); });
  expectRefusal("33 outputs, wanted at most 32", [](auto &m) {
    for (int i = 0; i < 33; ++i)
      addOutput(m, "x" + std::to_string(i), {});
  });
}

// A policy that drafts from an output: what it is given belongs to the row that gave the last token, whatever stood.
TEST(Outputs, ArePassedToAPolicy) {
  setenv("TILEWRIGHT_PLUGIN_PATH", TILEWRIGHT_FAKE_HALVES, 1);
  FakeModel model({}, withOutputs), without;
  const std::vector<int32_t> prompt = someTokens(9);
  GenerateOptions options;
  options.maxTokens = 21;
  GenerateResult plain, result;
  FakeSession alone(model), session(model), other(without);
  ASSERT_TRUE(generate(model, alone, prompt, options, {}, plain).ok());
  options.policy = "fake_outputs";
  options.policyOptions = "heads";
  ASSERT_TRUE(generate(model, session, prompt, options, {}, result).ok()) << tw_last_error();
  EXPECT_EQ(result.tokens, plain.tokens);
  EXPECT_EQ(result.draftedTokens(), 10);
  EXPECT_EQ(result.acceptedTokens(), 10);
  EXPECT_EQ(result.decodeSteps, 10);

  const Outcome refused = generate(without, other, prompt, options, {}, result);
  EXPECT_NE(refused.message.find("policy_outputs wants 'prediction_head_1', which the model does not have"),
            std::string::npos)
      << refused.message;
  unsetenv("TILEWRIGHT_PLUGIN_PATH");
}
