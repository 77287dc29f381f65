// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the C interface refuses, and what it says then.
#include "tests/unit/runtime/fake/FakeModel.h"

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

using namespace tilewright;
using namespace tilewright::testing;

extern "C" tw_status greedy(const char *folder, const int32_t *prompt, int64_t count, int32_t *out, int64_t wanted);

namespace {

tw_status loadWith(const std::string &folder, const std::function<void(tw_model_options &)> &set) {
  tw_model_options options{};
  options.size = sizeof options;
  set(options);
  tw_model *model = reinterpret_cast<tw_model *>(1);
  const tw_status status = tw_model_load(folder.c_str(), &options, &model);
  EXPECT_EQ(model == nullptr, status != TW_OK);
  tw_model_release(model);
  return status;
}

void addTokenizer(artifact::ManifestT &manifest) {
  manifest.tokenizer = std::make_unique<artifact::TokenizerT>();
  manifest.tokenizer->kind = "gpt2";
  manifest.tokenizer->pre = "default";
  manifest.tokenizer->tokens = {"<s>", "</s>", "a", "b", "ab"};
  manifest.tokenizer->token_types = {3, 3, 1, 1, 1};
  manifest.tokenizer->merges = {"a b"};
  manifest.tokenizer->bos_id = 0;
  manifest.tokenizer->eos_id = 1;
  manifest.tokenizer->add_bos = true;
}

} // namespace

TEST(CInterface, LoadsWithDefaultsAndAnswersQuestions) {
  FakeModel fake;
  tw_model *model = nullptr;
  ASSERT_EQ(tw_model_load(fake.path().c_str(), nullptr, &model), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_model_vocab_size(model), FAKE_VOCAB);
  EXPECT_EQ(tw_model_context(model), FAKE_CONTEXT);
  const auto json = nlohmann::json::parse(tw_model_describe(model));
  EXPECT_EQ(json["model"], "fake");
  EXPECT_EQ(json["level"], "plain");
  EXPECT_EQ(json["levels"][1]["available"], false);
  EXPECT_EQ(json["steps"][1]["query_tile"], 4);
  EXPECT_EQ(json["kernels"][0]["name"], "attend");
  EXPECT_EQ(json["weights"]["count"], 2);
  EXPECT_EQ(json["page_bytes"], 8192);
  EXPECT_STREQ(tw_version(), "0.1.0");
  tw_model_release(model);
  EXPECT_EQ(tw_model_vocab_size(nullptr), -1);
  EXPECT_EQ(tw_model_context(nullptr), -1);
  EXPECT_EQ(tw_model_describe(nullptr), nullptr);
  EXPECT_EQ(tw_session_length(nullptr), -1);
  tw_model_release(nullptr);
  tw_session_release(nullptr);
}

TEST(CInterface, ServesAHostInC) {
  FakeModel fake;
  const std::vector<int32_t> prompt = someTokens(40);
  int32_t tokens[5];
  ASSERT_EQ(greedy(fake.path().c_str(), prompt.data(), 40, tokens, 5), TW_OK) << tw_last_error();
  int token = prompt.back();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(tokens[i], token = fake_next_token(token, 39 + i));
  EXPECT_EQ(greedy("nowhere", prompt.data(), 40, tokens, 5), TW_NOT_FOUND);
}

TEST(CInterface, RefusesBadOptions) {
  FakeModel fake;
  const std::string folder = fake.path();
  expectError(loadWith(folder, [](auto &o) { o.size = 8; }), TW_INVALID, "tw_model_options: size 8, wanted at least");
  expectError(loadWith(folder, [](auto &o) { o.size = SIZE_MAX; }), TW_INVALID, "is no struct's size");
  expectError(loadWith(folder, [](auto &o) { o.threads = -1; }), TW_INVALID, "threads -1, wanted 0 to 4096");
  expectError(loadWith(folder, [](auto &o) { o.context = FAKE_CONTEXT + 1; }), TW_INVALID,
              "context 2001, wanted 0 (the model's own) or 1 to 2000");
  expectError(loadWith(folder, [](auto &o) { o.max_rows = -5; }), TW_INVALID, "max_rows -5");
  expectError(loadWith(folder, [](auto &o) { o.level = "avx9"; }), TW_INVALID, "has no level 'avx9'");
  expectError(loadWith(folder + "/nowhere", [](auto &) {}), TW_NOT_FOUND, "model.so: cannot open");
  const tw_executor idle = {};
  expectError(loadWith(folder, [&](auto &o) { o.executor = &idle; }), TW_INVALID, "executor of 0 bytes");
  EXPECT_EQ(loadWith(folder, [](auto &o) { o.huge_pages = o.check_weights = 1; }), TW_OK);
  tw_model *model = nullptr;
  expectError(tw_model_load(nullptr, nullptr, &model), TW_INVALID, "folder is NULL");
  expectError(tw_model_load(folder.c_str(), nullptr, nullptr), TW_INVALID, "out is NULL");

  // A caller with the first version's header: what it lacks is as if zero.
  EXPECT_EQ(loadWith(folder,
                     [](auto &o) {
                       o.size = offsetof(tw_model_options, kv_type);
                       o.kv_type = "nonsense behind the struct's end";
                     }),
            TW_OK);
  expectError(loadWith(folder, [](auto &o) { o.kv_type = "bf16"; }), TW_UNSUPPORTED,
              "has no steps for K/V caches of bf16");

  // A caller with a newer header: zeros in what it adds are fine, anything else is not understood.
  struct Newer {
    tw_model_options options;
    uint64_t added;
  } newer{};
  newer.options.size = sizeof newer;
  ASSERT_EQ(tw_model_load(folder.c_str(), &newer.options, &model), TW_OK) << tw_last_error();
  tw_model_release(model);
  newer.added = 1;
  expectError(tw_model_load(folder.c_str(), &newer.options, &model), TW_UNSUPPORTED, "uses fields of a newer version");
}

TEST(CInterface, RefusesBadRequests) {
  FakeModel model, stranger;
  FakeSession session(model), foreign(stranger);
  const std::vector<int32_t> tokens = {1, 2, 3};
  std::vector<float> logits(3 * FAKE_VOCAB);
  auto step = [&](const std::function<void(tw_step_request &)> &change) {
    tw_step_request request = {sizeof request, session, tokens.data(), 3, nullptr, 0,
                               logits.data(),  nullptr, nullptr,       0, nullptr, 0};
    change(request);
    return tw_step(model, &request, 1);
  };
  EXPECT_EQ(tw_step(model, nullptr, 0), TW_OK);
  expectError(tw_step(model, nullptr, 1), TW_INVALID, "requests is NULL");
  expectError(tw_step(nullptr, nullptr, 0), TW_INVALID, "model is NULL");
  expectError(tw_step(model, nullptr, -1), TW_INVALID, "a negative number of requests");
  expectError(step([](auto &r) { r.size = 7; }), TW_INVALID, "tw_step_request: size 7");
  expectError(step([](auto &r) { r.session = nullptr; }), TW_INVALID, "request 0: no session");
  expectError(step([&](auto &r) { r.session = foreign; }), TW_INVALID, "its session belongs to another model");
  expectError(step([](auto &r) { r.tokens = nullptr; }), TW_INVALID, "tokens is NULL");
  expectError(step([](auto &r) { r.count = 0; }), TW_INVALID, "no tokens, wanted at least one");
  expectError(step([](auto &r) { r.count = -3; }), TW_INVALID, "no tokens, wanted at least one");
  expectError(step([](auto &r) { r.logits = nullptr; }), TW_INVALID, "no buffer for the logits of 1 rows");
  expectError(step([](auto &r) { r.wanted_count = 1; }), TW_INVALID, "wanted is NULL but wanted_count is not 0");
  const int64_t beyond[] = {1, 3}, negative[] = {-1}, twice[] = {1, 1};
  auto wanting = [&](const int64_t *rows, int64_t count) {
    return step([&](auto &r) { r.wanted = rows, r.wanted_count = count; });
  };
  expectError(wanting(beyond, 2), TW_INVALID, "wanted row 3 after row 1, wanted ascending rows below 3");
  expectError(wanting(negative, 1), TW_INVALID, "wanted row -1");
  expectError(wanting(twice, 2), TW_INVALID, "wanted row 1 after row 1");
  expectError(wanting(beyond, -1), TW_INVALID, "wanted_count is negative");
  for (int32_t bad : std::vector<int32_t>{-1, FAKE_VOCAB, INT32_MAX, INT32_MIN}) {
    const std::vector<int32_t> outside = {1, bad, 3};
    expectError(step([&](auto &r) { r.tokens = outside.data(); }), TW_INVALID,
                "request 0: token 1 is " + std::to_string(bad) + ", wanted 0 to 299");
  }
  tw_step_request two[2] = {
      {sizeof(tw_step_request), session, tokens.data(), 3, nullptr, 0, logits.data(), nullptr, nullptr, 0, nullptr, 0},
      {sizeof(tw_step_request), session, tokens.data(), 3, nullptr, 0, logits.data(), nullptr, nullptr, 0, nullptr, 0}};
  expectError(tw_step(model, two, 2), TW_INVALID, "request 1: its session is in use");
  struct Newer {
    tw_step_request request;
    uint64_t added;
  } newer[2] = {{two[0], 0}, {two[1], 0}};
  newer[0].request.size = sizeof(Newer);
  expectError(tw_step(model, &newer[0].request, 2), TW_INVALID,
              "request 1: size " + std::to_string(sizeof(tw_step_request)) + ", request 0 has " +
                  std::to_string(sizeof(Newer)));
  EXPECT_EQ(session.length(), 0) << "nothing of all this reached the session";
  ASSERT_EQ(session.step(tokens), TW_OK);
  EXPECT_EQ(session.logits, fakeLogits(tokens));

  expectError(tw_session_create(nullptr, nullptr), TW_INVALID, "out is NULL");
  tw_session *made = nullptr;
  expectError(tw_session_create(nullptr, &made), TW_INVALID, "model is NULL");
  expectError(tw_session_truncate(nullptr, 0), TW_INVALID, "session is NULL");
  expectError(tw_cancel(nullptr), TW_INVALID, "session is NULL");
  tw_memory memory{};
  expectError(tw_model_memory(model, &memory), TW_INVALID, "tw_memory: size 0");
  expectError(tw_model_memory(nullptr, &memory), TW_INVALID, "model is NULL");
  expectError(tw_model_memory(model, nullptr), TW_INVALID, "out is NULL");
}

TEST(CInterface, SessionsOutliveTheirModelsHandle) {
  FakeModel model;
  FakeSession session(model);
  tw_model *handle = model.take();
  ASSERT_EQ(session.step({4}), TW_OK);
  tw_model_release(handle);
  EXPECT_EQ(session.length(), 1);
  EXPECT_EQ(tw_session_truncate(session, 0), TW_OK);
}

TEST(CInterface, KeepsOneErrorPerThread) {
  expectError(tw_cancel(nullptr), TW_INVALID, "session is NULL");
  std::thread([] {
    EXPECT_STREQ(tw_last_error(), "");
    tw_model_load(nullptr, nullptr, nullptr);
    EXPECT_STREQ(tw_last_error(), "out is NULL");
  }).join();
  EXPECT_STREQ(tw_last_error(), "session is NULL");
}

TEST(CInterface, LogsAtTheWantedLevel) {
  FakeModel fake;
  struct Seen {
    std::vector<std::pair<tw_log_level, std::string>> lines;
  };
  auto load = [&](const char *level) {
    Seen seen;
    if (level)
      setenv("TILEWRIGHT_LOG", level, 1);
    else
      unsetenv("TILEWRIGHT_LOG");
    EXPECT_EQ(loadWith(fake.path(),
                       [&](auto &o) {
                         o.log_user = &seen;
                         o.log = [](void *user, tw_log_level at, const char *message) {
                           static_cast<Seen *>(user)->lines.emplace_back(at, message);
                         };
                       }),
              TW_OK);
    unsetenv("TILEWRIGHT_LOG");
    return seen.lines;
  };
  EXPECT_TRUE(load(nullptr).empty());
  EXPECT_TRUE(load("error").empty());
  for (const char *level : {"info", "debug"}) {
    const auto lines = load(level);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].first, TW_LOG_INFO);
    EXPECT_NE(lines[0].second.find("level plain, numerics precise"), std::string::npos) << lines[0].second;
  }
  const auto lines = load("loud");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].second, "TILEWRIGHT_LOG is 'loud', wanted error, warning, info or debug");
}

TEST(CInterface, TokenizesAndDetokenizes) {
  FakeModel model({}, {.change = addTokenizer});
  int32_t ids[8];
  int64_t count = -1;
  ASSERT_EQ(tw_tokenize(model, "abba", 4, 0, ids, 8, &count), TW_OK) << tw_last_error();
  EXPECT_EQ(std::vector<int32_t>(ids, ids + count), (std::vector<int32_t>{4, 3, 2}));
  ASSERT_EQ(tw_tokenize(model, "ab</s>", 6, 1, ids, 8, &count), TW_OK) << tw_last_error();
  EXPECT_EQ(std::vector<int32_t>(ids, ids + count), (std::vector<int32_t>{0, 4, 1}))
      << "a prompt begins with its token";
  expectError(tw_tokenize(model, "abba", 4, 0, ids, 2, &count), TW_EXHAUSTED, "a buffer of 2 token ids, 3 needed");
  EXPECT_EQ(count, 3);
  EXPECT_EQ(tw_tokenize(model, nullptr, 0, 0, nullptr, 0, &count), TW_OK);
  EXPECT_EQ(count, 0);
  expectError(tw_tokenize(model, nullptr, 1, 0, ids, 8, &count), TW_INVALID, "text is NULL");
  expectError(tw_tokenize(model, "a", 1, 0, ids, 8, nullptr), TW_INVALID, "count is NULL");
  expectError(tw_tokenize(model, "a", 1, 0, nullptr, 8, &count), TW_INVALID, "ids is NULL");
  expectError(tw_tokenize(nullptr, "a", 1, 0, ids, 8, &count), TW_INVALID, "model is NULL");

  char text[8];
  size_t length = 0;
  const int32_t some[] = {4, 3, 1};
  ASSERT_EQ(tw_detokenize(model, some, 3, text, 8, &length), TW_OK) << tw_last_error();
  EXPECT_EQ(std::string(text, length), "abb</s>");
  expectError(tw_detokenize(model, some, 3, text, 2, &length), TW_EXHAUSTED, "a buffer of 2 bytes, 7 needed");
  EXPECT_EQ(length, 7u);
  const int32_t outside[] = {5};
  EXPECT_EQ(tw_detokenize(model, outside, 1, text, 8, &length), TW_INVALID);
  expectError(tw_detokenize(model, nullptr, 1, text, 8, &length), TW_INVALID, "ids is NULL");
  expectError(tw_detokenize(model, some, 1, nullptr, 8, &length), TW_INVALID, "text is NULL");
  expectError(tw_detokenize(model, some, 1, text, 8, nullptr), TW_INVALID, "length is NULL");

  ASSERT_EQ(tw_token_text(model, 1, text, 8, &length), TW_OK) << tw_last_error();
  EXPECT_EQ(std::string(text, length), "</s>");
  expectError(tw_token_text(model, 1, text, 2, &length), TW_EXHAUSTED, "a buffer of 2 bytes, 4 needed");
  expectError(tw_token_text(model, 5, text, 8, &length), TW_INVALID, "5");
  expectError(tw_token_text(model, -1, text, 8, &length), TW_INVALID, "-1");
  expectError(tw_token_text(model, 1, nullptr, 8, &length), TW_INVALID, "text is NULL");
  expectError(tw_token_text(model, 1, text, 8, nullptr), TW_INVALID, "length is NULL");

  FakeModel mute;
  expectError(tw_token_text(mute, 1, text, 8, &length), TW_NOT_FOUND, "has no tokenizer inside");
  expectError(tw_tokenize(mute, "a", 1, 0, ids, 8, &count), TW_NOT_FOUND, "has no tokenizer inside");
}
