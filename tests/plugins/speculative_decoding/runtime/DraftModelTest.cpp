// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The policies against a host that is a few lines: models say token f(token, place), sessions are lists of tokens, and
// a session that was rolled back wrongly says something else.
#include "plugins/speculative_decoding/DraftModel.h"
#include "plugins/speculative_decoding/Fault.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>

using namespace tilewright::speculative_decoding;

extern "C" const tw_rt_half *tilewrightRuntimeHalf(void);

struct tw_model {
  std::vector<std::string> vocabulary; ///< spellings
  int64_t rows;                        ///< of its table
  int64_t context = 1000;
  std::function<int32_t(const std::vector<int32_t> &)> next;
  int64_t heads = 0; ///< prediction heads, each of `headRow` numbers
  int64_t headRow = 20;
  /// What head `i`, from 0, says of the row that gave the last token of a text.
  std::function<int32_t(const std::vector<int32_t> &, int64_t i)> head = {};
};

struct tw_session {
  tw_model *model;
  std::vector<int32_t> tokens;
  int64_t rollback = 1; ///< tokens that may be taken back
};

namespace {

using Ids = std::vector<int32_t>;

std::string lastError;
std::map<std::string, tw_model> models; ///< by folder
std::vector<tw_session *> sessions;     ///< alive, oldest first
int64_t rowsComputed = 0;

/// What a target says: it depends on the last token and on the place.
int32_t say(const Ids &text) { return static_cast<int32_t>((text.back() * 5 + text.size() * 3 + 1) % 20); }

tw_model model(int64_t count = 20) {
  tw_model made{{}, count, 1000, say};
  for (int64_t id = 0; id < count; ++id)
    made.vocabulary.push_back("<" + std::to_string(id) + ">");
  return made;
}

tw_status fail(tw_status status, const std::string &message) {
  lastError = message;
  return status;
}

tw_status step(tw_model *, const tw_step_request *request, int64_t) {
  tw_session &session = *request->session;
  if (static_cast<int64_t>(session.tokens.size()) + request->count > session.model->context)
    return fail(TW_CONTEXT_FULL, "the context is full");
  for (int64_t i = 0; i < request->count; ++i) {
    if (request->tokens[i] < 0 || request->tokens[i] >= session.model->rows)
      return fail(TW_INVALID, "a token outside of the table");
    session.tokens.push_back(request->tokens[i]);
  }
  rowsComputed += request->count;
  std::fill_n(request->logits, session.model->rows, 0.0f);
  request->logits[session.model->next(session.tokens)] = 10;
  return TW_OK;
}

const tw_rt_host &host() {
  static const tw_rt_host table = [] {
    tw_rt_host host{};
    host.size = sizeof host;
    host.api_version = TW_RT_API_VERSION;
    host.last_error = [] { return lastError.c_str(); };
    host.model_load = [](const char *folder, const tw_model_options *, tw_model **out) {
      const auto found = models.find(folder);
      if (found == models.end())
        return fail(TW_NOT_FOUND, "there is no such model");
      *out = &found->second;
      return TW_OK;
    };
    host.model_release = [](tw_model *) {};
    host.model_vocab_size = [](const tw_model *model) { return model->rows; };
    host.model_context = [](const tw_model *model) { return model->context; };
    host.session_create = [](tw_model *model, tw_session **out) {
      sessions.push_back(*out = new tw_session{model, {}, 1});
      return TW_OK;
    };
    host.session_release = [](tw_session *session) {
      std::erase(sessions, session);
      delete session;
    };
    host.session_truncate = [](tw_session *session, int64_t length) {
      if (length < 0 || length > static_cast<int64_t>(session->tokens.size()))
        return fail(TW_INVALID, "truncated to more than there is");
      if (static_cast<int64_t>(session->tokens.size()) - length > session->rollback)
        return fail(TW_INVALID, "truncated by more than was announced");
      session->tokens.resize(static_cast<size_t>(length));
      return TW_OK;
    };
    host.session_set_rollback = [](tw_session *session, int64_t tokens) {
      session->rollback = tokens;
      return TW_OK;
    };
    host.step = step;
    host.model_output_count = [](const tw_model *model) { return model->heads; };
    host.model_output_name = [](const tw_model *, int64_t) { return "hidden"; };
    host.model_output_size = [](const tw_model *model, const char *name) {
      for (int64_t i = 1; i <= model->heads; ++i)
        if (name == "prediction_head_" + std::to_string(i))
          return model->headRow;
      return int64_t(-1);
    };
    host.token_text = [](const tw_model *model, int32_t id, char *text, size_t capacity, size_t *length) {
      if (id < 0 || static_cast<size_t>(id) >= model->vocabulary.size())
        return fail(TW_INVALID, "no such token");
      const std::string &spelled = model->vocabulary[static_cast<size_t>(id)];
      *length = spelled.size();
      std::memcpy(text, spelled.data(), std::min(capacity, spelled.size()));
      return spelled.size() > capacity ? fail(TW_EXHAUSTED, "too long") : TW_OK;
    };
    return host;
  }();
  return table;
}

tw_status greedyDistribution(void *, const float *row, const int32_t *, int64_t, const tw_rt_choice **choices,
                             int64_t *count) {
  static tw_rt_choice best;
  best = {static_cast<int32_t>(std::max_element(row, row + 20) - row), 1};
  *choices = &best;
  *count = 1;
  return TW_OK;
}

const tw_rt_sampler greedy = {sizeof greedy,
                              nullptr,
                              20,
                              [](void *, const float *row, const int32_t *, int64_t, int32_t *id) {
                                *id = static_cast<int32_t>(std::max_element(row, row + 20) - row);
                                return TW_OK;
                              },
                              greedyDistribution,
                              [](void *) { return 0.5; }};

Ids plainText(const Ids &prompt, size_t count) {
  Ids text = prompt;
  while (text.size() < prompt.size() + count)
    text.push_back(say(text));
  return text;
}

/// A text by the policy of the half that `words` name: its rounds, as generate makes them. Calls `afterRound` with the
/// length of the text that was drafted for, the tokens drafted and the tokens that stood.
Ids speculate(const char *words, const Ids &prompt, size_t count, int64_t capacity,
              const std::function<void(size_t, int64_t, int64_t)> &afterRound = {}) {
  const tw_rt_half &half = *tilewrightRuntimeHalf();
  char text[512];
  tw_rt_message message = {sizeof text, text};
  void *instance = nullptr;
  EXPECT_EQ(half.attach(&host(), "{}", &instance, &message), TW_OK) << text;
  tw_rt_policy *policy = nullptr;
  EXPECT_EQ(half.policy_create(instance, &models.at("target"), nullptr, words, &policy, &message), TW_OK) << text;
  if (!policy)
    return {};
  const tw_model &target = models.at("target");
  int64_t outputs = 0;
  const char *const *names = half.policy_outputs(policy, &outputs);
  for (int64_t i = 0; i < outputs; ++i)
    EXPECT_EQ(names[i], "prediction_head_" + std::to_string(i + 1));
  Ids history = plainText(prompt, 1);
  while (history.size() < prompt.size() + count) {
    const int64_t room = std::min<int64_t>(capacity, static_cast<int64_t>(prompt.size() + count - history.size()) - 1);
    Ids draft(static_cast<size_t>(room));
    int64_t drafted = 0, accepted = 0;
    std::vector<std::vector<float>> heads;
    std::vector<const float *> headRows;
    for (int64_t i = 0; i < outputs; ++i) {
      heads.emplace_back(20)[static_cast<size_t>(target.head(history, i))] = 10;
      headRows.push_back(heads.back().data());
    }
    const tw_rt_draft_request wanted = {sizeof wanted, history.data(), static_cast<int64_t>(history.size()),
                                        room,          &greedy,        headRows.data()};
    EXPECT_EQ(half.policy_draft(policy, &wanted, draft.data(), &drafted, &message), TW_OK) << text;
    EXPECT_LE(drafted, room);
    draft.resize(static_cast<size_t>(drafted));
    std::vector<float> logits(static_cast<size_t>(drafted + 1) * 20);
    Ids tokens = history;
    for (int64_t i = 0; i <= drafted; ++i) {
      logits[static_cast<size_t>(i * 20 + say(tokens))] = 10;
      if (i < drafted)
        tokens.push_back(draft[static_cast<size_t>(i)]);
    }
    const tw_rt_verdict_request judged = {
        sizeof judged, history.data(), static_cast<int64_t>(history.size()), draft.data(), drafted, logits.data(), 20,
        &greedy};
    int32_t next = -1;
    EXPECT_EQ(half.policy_verify(policy, &judged, &accepted, &next, &message), TW_OK) << text;
    const size_t before = history.size();
    history.insert(history.end(), draft.begin(), draft.begin() + static_cast<std::ptrdiff_t>(accepted));
    history.push_back(next);
    if (afterRound)
      afterRound(before, drafted, accepted);
  }
  half.policy_release(policy);
  EXPECT_TRUE(sessions.empty());
  return history;
}

} // namespace

class Policy : public ::testing::Test {
protected:
  void SetUp() override {
    models.clear();
    models["target"] = model();
    models["draft"] = model();
    rowsComputed = 0;
  }
  const Ids prompt = {3, 1, 4, 1, 5};
};

// Refused at each index, the last one and none among them, over many rounds: the text is the target's, and the draft's
// session holds what it was drafted for and the draft but for its last token, each time.
TEST_F(Policy, RollsBackToEachIndex) {
  for (int64_t drafted = 1; drafted <= 5; ++drafted)
    for (int64_t wrong = 0; wrong <= drafted; ++wrong) {
      size_t begin = prompt.size() + 1; // of the round's draft
      models["draft"].next = [&](const Ids &text) {
        const bool errs = static_cast<int64_t>(text.size()) == static_cast<int64_t>(begin) + wrong;
        return errs ? (say(text) + 1) % 20 : say(text);
      };
      int rounds = 0;
      const Ids text = speculate("draft:draft", prompt, 100, drafted, [&](size_t before, int64_t count, int64_t stood) {
        ASSERT_EQ(sessions.size(), 1u);
        if (count) {
          EXPECT_EQ(sessions[0]->tokens.size(), before + static_cast<size_t>(count) - 1);
        }
        EXPECT_EQ(stood, std::min(wrong, count));
        begin = before + static_cast<size_t>(stood) + 1;
        ++rounds;
      });
      EXPECT_EQ(text, plainText(prompt, 100)) << drafted << " " << wrong;
      EXPECT_GE(rounds, 99 / (drafted + 1));
    }
}

TEST_F(Policy, AlwaysWrongAlwaysRightAlternating) {
  int64_t all = 0, stoodAll = 0;
  const auto count = [&](size_t, int64_t drafted, int64_t stood) {
    all += drafted;
    stoodAll += stood;
  };
  for (int64_t drafted : {1, 4}) {
    models["draft"].next = [](const Ids &text) { return (say(text) + 1) % 20; };
    EXPECT_EQ(speculate("draft:draft", prompt, 60, drafted, count), plainText(prompt, 60));
    EXPECT_EQ(stoodAll, 0);
    EXPECT_GT(all, 0);
    all = 0;
    models["draft"].next = say;
    EXPECT_EQ(speculate("draft:draft", prompt, 60, drafted, count), plainText(prompt, 60));
    EXPECT_EQ(stoodAll, all);
    models["draft"].next = [](const Ids &text) { return (say(text) + static_cast<int32_t>(text.size() % 2)) % 20; };
    EXPECT_EQ(speculate("draft:draft", prompt, 60, drafted, count), plainText(prompt, 60));
    all = stoodAll = 0;
  }
}

// What the session holds already is not computed again.
TEST_F(Policy, ReadsEachTokenOnce) {
  speculate("draft:draft", prompt, 61, 4);
  EXPECT_LE(rowsComputed, static_cast<int64_t>(prompt.size()) + 61 + 61 / 5);
}

TEST_F(Policy, DraftsNoMoreThanAsked) {
  for (const char *words : {"draft:draft,max=2", "ngram:2"})
    speculate(words, {1, 2, 3, 1, 2, 3, 1}, 40, 16, [](size_t, int64_t drafted, int64_t) { EXPECT_LE(drafted, 2); });
}

TEST_F(Policy, DraftModelWithASmallContext) {
  models["draft"].context = 20;
  const Ids text = speculate("draft:draft", prompt, 60, 4, [&](size_t before, int64_t drafted, int64_t) {
    EXPECT_LE(sessions[0]->tokens.size(), 20u);
    EXPECT_EQ(drafted > 0, before <= 20 && before < prompt.size() + 59) << before;
  });
  EXPECT_EQ(text, plainText(prompt, 60));
}

// The same refusals at each index for the model's own heads, which draft no more than there are of them.
TEST_F(Policy, PredictionHeads) {
  // What the model says `i` places behind the text's next token.
  const auto saysLater = [](Ids text, int64_t i) {
    for (int64_t place = 0; place < i; ++place)
      text.push_back(say(text));
    return say(text);
  };
  tw_model &target = models["target"];
  for (target.heads = 1; target.heads <= 5; ++target.heads)
    for (int64_t wrong = 0; wrong <= target.heads; ++wrong) {
      target.head = [&](const Ids &text, int64_t i) { return (saysLater(text, i) + (i == wrong)) % 20; };
      int64_t rounds = 0;
      const Ids text = speculate("mtp", prompt, 100, 16, [&](size_t, int64_t count, int64_t stood) {
        EXPECT_LE(count, target.heads);
        EXPECT_EQ(stood, std::min(wrong, count));
        ++rounds;
      });
      EXPECT_EQ(text, plainText(prompt, 100)) << target.heads << " " << wrong;
      EXPECT_EQ(rounds, (99 + wrong) / (wrong + 1)) << "each gives what stands and one more";
    }
  target.heads = 4;
  target.head = [&](const Ids &text, int64_t i) {
    return (saysLater(text, i) + static_cast<int32_t>(text.size() % 2)) % 20;
  };
  EXPECT_EQ(speculate("mtp", prompt, 100, 16), plainText(prompt, 100)) << "wrong every other time";
  speculate("mtp,max=2", prompt, 40, 16, [](size_t, int64_t drafted, int64_t) { EXPECT_LE(drafted, 2); });
}

// Tokens drawn from heads that say (0.2, 0.3, 0.5) where the model says (0.6, 0.3, 0.1): 0.6 of them stand, and what is
// written is distributed as the model says.
TEST_F(Policy, PredictionHeadsKeepTheDistribution) {
  models["target"].heads = 1;
  static std::mt19937_64 engine;
  engine.seed(7);
  tw_rt_sampler sampler = greedy;
  sampler.distribution = [](void *, const float *row, const int32_t *, int64_t, const tw_rt_choice **choices,
                            int64_t *count) { // a row is a distribution of the first three tokens
    static tw_rt_choice three[3];
    for (int32_t id = 0; id < 3; ++id)
      three[id] = {id, row[id]};
    *choices = three;
    *count = 3;
    return TW_OK;
  };
  sampler.uniform = [](void *) { return std::uniform_real_distribution<>(0, 1)(engine); };
  const tw_rt_half &half = *tilewrightRuntimeHalf();
  char text[512];
  tw_rt_message message = {sizeof text, text};
  tw_rt_policy *policy = nullptr;
  ASSERT_EQ(half.policy_create(const_cast<tw_rt_host *>(&host()), &models["target"], nullptr, "mtp", &policy, &message),
            TW_OK)
      << text;
  const std::vector<float> head = {0.2f, 0.3f, 0.5f}, row = {0.6f, 0.3f, 0.1f};
  std::vector<float> logits(2 * 20);
  std::copy(row.begin(), row.end(), logits.begin());
  std::copy(row.begin(), row.end(), logits.begin() + 20);
  const float *heads[] = {head.data()};
  constexpr int draws = 100000;
  int stood = 0, counts[3] = {};
  for (int i = 0; i < draws; ++i) {
    int32_t token = -1, next = -1;
    int64_t drafted = 0, accepted = 0;
    const tw_rt_draft_request wanted = {sizeof wanted, prompt.data(), static_cast<int64_t>(prompt.size()), 16,
                                        &sampler,      heads};
    ASSERT_EQ(half.policy_draft(policy, &wanted, &token, &drafted, &message), TW_OK) << text;
    ASSERT_EQ(drafted, 1);
    const tw_rt_verdict_request judged = {
        sizeof judged, prompt.data(), static_cast<int64_t>(prompt.size()), &token, 1, logits.data(), 20, &sampler};
    ASSERT_EQ(half.policy_verify(policy, &judged, &accepted, &next, &message), TW_OK) << text;
    stood += static_cast<int>(accepted);
    ++counts[accepted ? token : next];
  }
  half.policy_release(policy);
  EXPECT_NEAR(stood / double(draws), 0.6, 0.01); // six standard deviations, sqrt(0.6 * 0.4 / draws) = 0.0016 each
  double chiSquare = 0;
  for (int id = 0; id < 3; ++id)
    chiSquare +=
        std::pow(counts[id] - row[static_cast<size_t>(id)] * draws, 2) / (row[static_cast<size_t>(id)] * draws);
  EXPECT_LT(chiSquare, 18.42) << "two degrees of freedom, a chance of 1e-4";
}

// Whatever the heads say stands, and the token behind it is the model's.
TEST_F(Policy, LossyUnverified) {
  tw_model &target = models["target"];
  target.heads = 3;
  target.head = [](const Ids &, int64_t i) { return static_cast<int32_t>(10 + i); };
  int rounds = 0;
  const Ids text = speculate("mtp,lossy-unverified", prompt, 41, 16, [&](size_t, int64_t drafted, int64_t stood) {
    EXPECT_EQ(drafted, 3);
    EXPECT_EQ(stood, 3);
    ++rounds;
  });
  EXPECT_EQ(rounds, 10);
  for (size_t at = prompt.size() + 1; at < text.size(); at += 4) {
    EXPECT_EQ(Ids(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(at + 3)),
              (Ids{10, 11, 12}));
    EXPECT_EQ(text[at + 3], say({text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at + 3)}));
  }
}

TEST_F(Policy, Ngram) { EXPECT_EQ(speculate("ngram:4", {1, 2, 3, 1, 2}, 60, 16), plainText({1, 2, 3, 1, 2}, 60)); }

// A token that the model gives 1 in 20: it stands by a threshold of 0.05, whatever the draws are, and not by one of
// 0.06.
TEST_F(Policy, LossyThreshold) {
  tw_rt_sampler even = greedy;
  even.distribution = [](void *, const float *, const int32_t *, int64_t, const tw_rt_choice **choices,
                         int64_t *count) {
    static std::vector<tw_rt_choice> all;
    all.clear();
    for (int32_t id = 0; id < 20; ++id)
      all.push_back({id, 0.05});
    *choices = all.data();
    *count = 20;
    return TW_OK;
  };
  const tw_rt_half &half = *tilewrightRuntimeHalf();
  char text[512];
  tw_rt_message message = {sizeof text, text};
  for (const auto &[words, stand] : {std::pair("ngram,lossy-threshold=0.05", 3), {"ngram,lossy-threshold=0.06", 0}}) {
    tw_rt_policy *policy = nullptr;
    ASSERT_EQ(
        half.policy_create(const_cast<tw_rt_host *>(&host()), &models["target"], nullptr, words, &policy, &message),
        TW_OK)
        << text;
    const Ids draft = {7, 8, 9};
    const std::vector<float> logits(4 * 20);
    const tw_rt_verdict_request request = {
        sizeof request, prompt.data(), static_cast<int64_t>(prompt.size()), draft.data(), 3, logits.data(), 20, &even};
    int64_t accepted = -1;
    int32_t next = -1;
    ASSERT_EQ(half.policy_verify(policy, &request, &accepted, &next, &message), TW_OK) << text;
    EXPECT_EQ(accepted, stand);
    EXPECT_EQ(next, 10) << "half of the sum is exceeded behind ten tokens";
    half.policy_release(policy);
  }
}

namespace {
std::string refusal(const char *words) {
  const tw_rt_half &half = *tilewrightRuntimeHalf();
  char text[512] = "";
  tw_rt_message message = {sizeof text, text};
  tw_rt_policy *policy = nullptr;
  tw_rt_host table = host();
  EXPECT_NE(half.policy_create(&table, &models.at("target"), nullptr, words, &policy, &message), TW_OK);
  EXPECT_TRUE(sessions.empty());
  return text;
}
} // namespace

TEST_F(Policy, OtherVocabulariesAreRefused) {
  std::swap(models["draft"].vocabulary[7], models["draft"].vocabulary[9]);
  EXPECT_EQ(refusal("draft:draft"), "draft model draft: has another vocabulary: token 7 is '<9>', wanted '<7>'");
  models["draft"] = model();
  models["draft"].vocabulary[19] = std::string(200, 'x');
  EXPECT_EQ(refusal("draft:draft"),
            "draft model draft: has another vocabulary: token 19 is '" + std::string(200, 'x') + "', wanted '<19>'");
  models["draft"] = model();
  models["draft"].vocabulary.resize(18);
  EXPECT_EQ(refusal("draft:draft"), "draft model draft: has another vocabulary: token 18 is no token, wanted '<18>'");
  EXPECT_EQ(refusal("draft:absent"), "draft model absent: there is no such model");
}

TEST_F(Policy, ModelsWithoutPredictionHeadsAreRefused) {
  EXPECT_EQ(refusal("mtp"),
            "the model has no prediction heads to draft with: wanted an output prediction_head_1, found "
            "no outputs");
  models["target"].heads = 2;
  models["target"].headRow = 18;
  EXPECT_EQ(refusal("mtp"), "output 'prediction_head_1' has rows of 18 numbers, wanted logits of the 20 tokens");
}

// A table may be longer than the vocabulary, and a vocabulary may be the beginning of the other.
TEST_F(Policy, PaddedAndShorterTables) {
  models["draft"].rows = 32; // twelve rows that fill it up, and whose logits are the largest
  models["draft"].next = [](const Ids &text) { return text.size() % 3 ? say(text) : 31; };
  EXPECT_EQ(speculate("draft:draft", prompt, 40, 4), plainText(prompt, 40));
  models["draft"] = model(10); // knows half of the tokens only
  models["draft"].next = [](const Ids &text) { return text.back() % 10; };
  EXPECT_EQ(speculate("draft:draft", {1, 2}, 40, 4), plainText({1, 2}, 40));
}

TEST_F(Policy, FailuresAreTold) {
  const tw_rt_half &half = *tilewrightRuntimeHalf();
  char text[64] = "";
  tw_rt_message message = {sizeof text, text};
  tw_rt_host old = host();
  old.size -= 8;
  void *instance = nullptr;
  EXPECT_EQ(half.attach(&old, "{}", &instance, &message), TW_INCOMPATIBLE);
  EXPECT_EQ(std::string(text), "the host's table has 152 bytes, wanted 160; build the plugin fo")
      << "cut, with its end";

  DraftModel draftModel(host(), &models["target"], "draft");
  tw_rt_sampler broken = greedy;
  broken.distribution = [](void *, const float *, const int32_t *, int64_t, const tw_rt_choice **, int64_t *) {
    return TW_INVALID;
  };
  Draft draft;
  EXPECT_THROW(draftModel.draw(prompt, 3, broken, draft), Fault);
  draftModel.draw(prompt, 3, greedy, draft);
  EXPECT_EQ(draft.size(), 3u) << "it goes on behind a failure";
}
