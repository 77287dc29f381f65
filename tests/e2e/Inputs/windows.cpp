// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sessions of a compiled model with sliding windows, far behind their windows: held against a session of the same model
// that keeps every page, bit by bit, with the pages that each holds.
//
//   windows MODEL_FOLDER
#include "tests/e2e/Inputs/HostProgram.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

constexpr int64_t pageTokens = 64;

int64_t pagesOf(int64_t tokens) { return (tokens + pageTokens - 1) / pageTokens; }

struct Model {
  explicit Model(const char *folder, int32_t maxRows) {
    tw_model_options options{};
    options.size = sizeof options;
    options.threads = 2;
    options.max_rows = maxRows;
    need(tw_model_load(folder, &options, &model), folder);
    const auto description = nlohmann::json::parse(tw_model_describe(model));
    for (const auto &state : description["states"])
      for (const auto &buffer : state["buffers"])
        pageBytes[state.value("window", int64_t{0})] +=
            buffer["heads"].get<int64_t>() * buffer["dim"].get<int64_t>() * pageTokens * 4;
  }
  ~Model() { tw_model_release(model); }
  Model(const Model &) = delete;

  tw_memory memory() const { return memoryOf(model); }
  /// The most that one session of so many tokens may hold behind a step of one.
  uint64_t mostBytes(int64_t tokens) const {
    uint64_t bytes = 0;
    for (auto [window, page] : pageBytes)
      bytes += static_cast<uint64_t>(page) *
               static_cast<uint64_t>(window ? std::min(pagesOf(window) + 1, pagesOf(tokens)) : pagesOf(tokens));
    return bytes;
  }

  tw_model *model = nullptr;
  std::map<int64_t, int64_t> pageBytes; ///< of all states of a window; 0: none
};

struct Session {
  explicit Session(const Model &owner) : owner(owner) { need(tw_session_create(owner.model, &session), "session"); }
  ~Session() { tw_session_release(session); }
  Session(const Session &) = delete;

  std::vector<float> step(const std::vector<int32_t> &tokens) {
    std::vector<float> logits(static_cast<size_t>(tw_model_vocab_size(owner.model)));
    tw_step_request request{};
    request.size = sizeof request;
    request.session = session;
    request.tokens = tokens.data();
    request.count = static_cast<int64_t>(tokens.size());
    request.logits = logits.data();
    need(tw_step(owner.model, &request, 1), "step");
    return logits;
  }

  const Model &owner;
  tw_session *session = nullptr;
};

void run(const char *folder, size_t prompt, int32_t maxRows) {
  const Model model(folder, maxRows), other(folder, maxRows);
  const int64_t context = tw_model_context(model.model);
  const std::string what = "behind " + std::to_string(prompt) + " tokens, " + std::to_string(maxRows) + " rows a step";
  std::vector<int32_t> text;
  for (int64_t i = 0; i < context; ++i)
    text.push_back(static_cast<int32_t>((i * i * 7 + i * 31 + 3) % tw_model_vocab_size(model.model)));
  Session session(model), whole(other);
  need(tw_session_set_rollback(whole.session, context), "rollback");
  const std::vector<int32_t> first(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(prompt));
  expect(session.step(first) == whole.step(first), what + ": another row behind the prompt");
  bool same = true, bounded = true;
  for (auto i = static_cast<int64_t>(prompt); i < context; ++i) {
    const std::vector<int32_t> token = {text[static_cast<size_t>(i)]};
    same &= session.step(token) == whole.step(token);
    bounded &= model.memory().caches <= model.mostBytes(i + 1);
  }
  expect(same, what + ": other rows when pages are given up");
  expect(bounded, what + ": more pages than a window's and one");
  expect(other.memory().caches > model.memory().caches, what + ": nothing is given up");
  expect(tw_session_truncate(session.session, 30) == TW_INVALID, what + ": tokens that are gone can be come back to");
  expect(tw_session_length(session.session) == context, what + ": a refused truncation does something");
  need(tw_session_truncate(whole.session, 30), "truncate");
  // One token, and all of them, can be taken back; then it is as good as a new one.
  need(tw_session_truncate(session.session, context - 1), "truncate by one");
  need(tw_session_truncate(session.session, 0), "truncate to none");
  Session fresh(other);
  expect(session.step(first) == fresh.step(first), what + ": another row when all tokens were taken back");
}

} // namespace

int main(int, char **arguments) {
  for (size_t prompt : {1, 70, 120})
    for (int32_t maxRows : {0, 16})
      run(arguments[1], prompt, maxRows);
  std::printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
