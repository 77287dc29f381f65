// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sessions of a compiled model, held against themselves: what may change a row of logits, and what may not.
//
//   sessions MODEL_FOLDER TOLERANCE [OTHER_MODEL]
//
// With another model's folder: whether both have the same logits.
// TOLERANCE is how far a row may move (absolute) when other rows are computed in the same step, so that other kernels
// compute it.
#include "tests/e2e/Inputs/HostProgram.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using Tokens = std::vector<int32_t>;
using Logits = std::vector<float>; // [rows, vocabulary]

double tolerance = 0;

class Model {
public:
  explicit Model(const char *folder, int32_t threads = 2, int32_t maxRows = 0) {
    tw_model_options options{};
    options.size = sizeof options;
    options.threads = threads;
    options.max_rows = maxRows;
    need(tw_model_load(folder, &options, &model), folder);
    vocabulary = tw_model_vocab_size(model);
  }
  ~Model() { tw_model_release(model); }
  Model(const Model &) = delete;

  tw_memory memory() const { return memoryOf(model); }

  tw_model *model = nullptr;
  int64_t vocabulary = 0;
};

class Session {
public:
  explicit Session(const Model &model) : model(model) { need(tw_session_create(model.model, &session), "session"); }
  ~Session() { tw_session_release(session); }
  Session(const Session &) = delete;

  /// Appends tokens: the logits of all rows, or of the last one.
  Logits step(const Tokens &tokens, bool all = true) {
    std::vector<tw_step_request> requests = {request(tokens, all)};
    need(tw_step(model.model, requests.data(), 1), "step");
    return logits;
  }
  tw_step_request request(const Tokens &tokens, bool all = true) {
    wanted.clear();
    for (int64_t row = all ? 0 : static_cast<int64_t>(tokens.size()) - 1; row < static_cast<int64_t>(tokens.size());
         ++row)
      wanted.push_back(row);
    logits.assign(wanted.size() * static_cast<size_t>(model.vocabulary), NAN);
    tw_step_request request{};
    request.size = sizeof request;
    request.session = session;
    request.tokens = tokens.data();
    request.count = static_cast<int64_t>(tokens.size());
    request.wanted = wanted.data();
    request.wanted_count = static_cast<int64_t>(wanted.size());
    request.logits = logits.data();
    return request;
  }
  void mayTakeBack(int64_t count) { need(tw_session_set_rollback(session, count), "rollback"); }
  void keep(int64_t length) { need(tw_session_truncate(session, length), "truncate"); }

  Logits logits;

private:
  const Model &model;
  tw_session *session = nullptr;
  std::vector<int64_t> wanted;
};

Tokens someTokens(const Model &model, size_t count, unsigned seed) {
  Tokens tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.push_back(
        static_cast<int32_t>((i * i * 7 + i * 31 + seed * 101 + 3) % static_cast<size_t>(model.vocabulary)));
  return tokens;
}

/// Rows are as far apart as the tolerance allows, and have the same largest number unless two are as near as that.
void expectNear(const Model &model, const Logits &found, const Logits &wanted, const std::string &what) {
  const auto width = static_cast<size_t>(model.vocabulary);
  expect(found.size() == wanted.size(), what + ": other numbers of rows");
  double largest = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::fabs(found[i] - wanted[i]);
    largest = std::isnan(difference) ? HUGE_VAL : std::max(largest, difference);
  }
  expect(largest <= tolerance, what + ": " + std::to_string(largest) + " apart");
  for (size_t row = 0; row + width <= wanted.size(); row += width) {
    const auto best = [&](const Logits &logits) {
      const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row);
      return static_cast<size_t>(std::max_element(begin, begin + model.vocabulary) - begin);
    };
    const size_t one = best(found), other = best(wanted);
    expect(one == other || wanted[row + other] - wanted[row + one] <= 2 * tolerance, what + ": another best token");
  }
}

/// Logits of `batch` sessions stepped at once: the first with `tokens`, the others with as many of their own.
std::vector<Logits> together(const Model &model, const Tokens &tokens, size_t batch, unsigned seed) {
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Tokens> all = {tokens};
  std::vector<tw_step_request> requests;
  for (size_t i = 0; i < batch; ++i) {
    if (i > 0)
      all.push_back(someTokens(model, tokens.size(), seed + static_cast<unsigned>(i)));
    sessions.push_back(std::make_unique<Session>(model));
  }
  std::vector<Logits> results(batch);
  // Behind the prompts one more token each: rows of steps that share no prompt.
  for (int step = 0; step < 2; ++step) {
    requests.clear();
    if (step == 1)
      for (size_t i = 0; i < batch; ++i)
        all[i] = {i == 0 ? 5 : all[i].back()};
    for (size_t i = 0; i < batch; ++i)
      requests.push_back(sessions[i]->request(all[i]));
    need(tw_step(model.model, requests.data(), static_cast<int64_t>(batch)), "batch");
    for (size_t i = 0; i < batch; ++i)
      results[i].insert(results[i].end(), sessions[i]->logits.begin(), sessions[i]->logits.end());
  }
  return results;
}

/// What the neighbours of a sequence are does not reach its rows: not a bit where they differ in content, and no more
/// than the tolerance where there are none.
void neighbours(const char *folder) {
  for (size_t length : {1, 7, 64}) {
    std::vector<Logits> ofThreads;
    for (int32_t threads : {1, 2, 5}) {
      const Model model(folder, threads);
      const Tokens tokens = someTokens(model, length, 1);
      const Logits alone = together(model, tokens, 1, 0)[0];
      for (size_t batch : {1, 2, 3, 4, 8}) {
        const std::string what = std::to_string(batch) + " sequences of " + std::to_string(length) + ", " +
                                 std::to_string(threads) + " threads";
        const Logits first = together(model, tokens, batch, 10)[0];
        expect(first == together(model, tokens, batch, 50)[0], what + ": other neighbours, other bits");
        expectNear(model, first, alone, what);
        if (batch == 4)
          ofThreads.push_back(first);
      }
    }
    expect(ofThreads[0] == ofThreads[1] && ofThreads[0] == ofThreads[2], "other numbers of threads, other bits");
  }
  std::printf("neighbours: done\n");
}

/// However a prompt is cut, each position has the logits of a run without a cache; what comes later does not move them.
void chunks(const char *folder) {
  const Model model(folder);
  for (size_t length : {11, 70}) {
    const Tokens prompt = someTokens(model, length, 3), more = someTokens(model, 12, 4);
    Tokens text = prompt;
    text.insert(text.end(), more.begin(), more.end());
    const Logits whole = Session(model).step(text);
    for (size_t chunk : {1, 3, 4, 5, 11}) {
      const auto run = [&](const Tokens &tokens) {
        Session session(model);
        Logits all;
        for (size_t first = 0; first < tokens.size(); first += chunk) {
          const Tokens part(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                            tokens.begin() + static_cast<std::ptrdiff_t>(std::min(tokens.size(), first + chunk)));
          const Logits logits = session.step(part);
          all.insert(all.end(), logits.begin(), logits.end());
        }
        if (tokens.size() == length)
          for (int32_t token : more) {
            const Logits logits = session.step({token});
            all.insert(all.end(), logits.begin(), logits.end());
          }
        return all;
      };
      const std::string what = "prompt of " + std::to_string(length) + " in chunks of " + std::to_string(chunk);
      const Logits cut = run(prompt);
      expectNear(model, cut, whole, what);
      Tokens changed = prompt;
      changed.back() = (changed.back() + 1) % static_cast<int32_t>(model.vocabulary);
      const Logits other = run(changed);
      const auto before = static_cast<std::ptrdiff_t>((length - 1) * static_cast<size_t>(model.vocabulary));
      expect(std::equal(cut.begin(), cut.begin() + before, other.begin()),
             what + ": the last token moves earlier rows");
      expect(!std::equal(cut.begin() + before, cut.end(), other.begin() + before),
             what + ": the last token does nothing");
    }
  }
  std::printf("chunks: done\n");
}

/// Batches of 1, 2, 1, 3 and 0 sequences of changing lengths, with one loaded model: each as if alone.
void sizes(const char *folder) {
  const Model model(folder);
  for (auto [batch, length] :
       std::vector<std::pair<size_t, size_t>>{{1, 1}, {2, 1}, {1, 1}, {3, 1}, {0, 1}, {1, 4}, {4, 4}, {4, 5}, {1, 1}}) {
    if (batch == 0) {
      need(tw_step(model.model, nullptr, 0), "a batch of none");
      continue;
    }
    const std::vector<Logits> all = together(model, someTokens(model, length, 1), batch, 20);
    for (size_t i = 0; i < batch; ++i) {
      const Tokens tokens = someTokens(model, length, i == 0 ? 1 : 20 + static_cast<unsigned>(i));
      Session session(model);
      Logits alone = session.step(tokens);
      const Logits last = session.step({i == 0 ? 5 : tokens.back()});
      alone.insert(alone.end(), last.begin(), last.end());
      expectNear(model, all[i], alone, "sequence " + std::to_string(i) + " of " + std::to_string(batch));
    }
  }
  std::printf("sizes: done\n");
}

/// The same session twenty times, and as many new ones: always the same bits.
void repeats(const char *folder) {
  const Model model(folder);
  const Tokens prompt = someTokens(model, 37, 6);
  const auto run = [&](Session &session) {
    Logits all = session.step(prompt);
    for (int32_t token : {3, 1, 4, 1, 5}) {
      const Logits logits = session.step({token});
      all.insert(all.end(), logits.begin(), logits.end());
    }
    return all;
  };
  Session kept(model);
  const Logits wanted = run(kept);
  for (int i = 0; i < 20; ++i) {
    kept.keep(0);
    expect(run(kept) == wanted, "the same session again");
    Session fresh(model);
    expect(run(fresh) == wanted, "another session");
  }
  std::printf("repeats: done\n");
}

/// Tokens that were tried and taken back leave nothing behind: what follows is what a session gives that never had
/// them, also where the window has moved on over them. (Those that stand were a step of several rows here, and are
/// steps of one row there.)
void rollsBack(const char *folder) {
  const Model model(folder);
  for (size_t length : {5, 62, 70})
    for (size_t tried = 1; tried <= 5; ++tried)
      for (size_t kept = 0; kept <= tried; ++kept) {
        const Tokens prompt = someTokens(model, length, 9), draft = someTokens(model, tried, 10), next = {11, 12, 13};
        Session plain(model), other(model);
        other.mayTakeBack(static_cast<int64_t>(tried));
        plain.step(prompt);
        other.step(prompt);
        for (size_t i = 0; i < kept; ++i)
          plain.step({draft[i]});
        other.step(draft);
        other.keep(static_cast<int64_t>(length + kept));
        for (int32_t token : next)
          expectNear(model, other.step({token}), plain.step({token}),
                     std::to_string(kept) + " of " + std::to_string(tried) + " tokens kept behind " +
                         std::to_string(length));
      }
  std::printf("rollsBack: done\n");
}

/// Arenas are what the artifact plans for a chunk, however long the prompt; logits of all rows are kept when asked for,
/// and the last row has the same bits in both cases.
void memory(const char *folder) {
  constexpr int32_t maxRows = 16;
  Logits lastAlone;
  std::vector<uint64_t> arenas;
  for (bool all : {false, true})
    for (size_t length : {48, 240}) {
      const Model model(folder, 2, maxRows);
      Session session(model);
      const Logits logits = session.step(someTokens(model, length, 8), all);
      const tw_memory found = model.memory();
      uint64_t planned = 0; // of the kind of step that takes a full chunk
      const auto description = nlohmann::json::parse(tw_model_describe(model.model));
      for (const auto &step : description["steps"])
        if (step["min_rows"].get<int64_t>() <= maxRows &&
            (step["max_rows"].get<int64_t>() == 0 || step["max_rows"].get<int64_t>() >= maxRows)) {
          const auto up = [&](int64_t rows) {
            const int64_t multiple = step["row_multiple"].get<int64_t>();
            return static_cast<uint64_t>((rows + multiple - 1) / multiple * multiple);
          };
          const uint64_t rows = up(maxRows), logitRows = up(all ? maxRows : 1);
          planned = step["arena"]["constant"].get<uint64_t>() + rows * step["arena"]["per_row"].get<uint64_t>() +
                    logitRows *
                        (step["arena"]["per_logit_row"].get<uint64_t>() + 4 * static_cast<uint64_t>(model.vocabulary));
        }
      const std::string what = std::to_string(length) + (all ? " tokens, all logits" : " tokens, the last logits");
      expect(planned > 0, what + ": no plan");
      expect(found.arenas <= planned + 8192,
             what + ": arenas of " + std::to_string(found.arenas) + " bytes, planned " + std::to_string(planned));
      bool givesUp = false; // of windows, what was held on the way
      for (const auto &state : description["states"])
        givesUp |= state.contains("window");
      expect(givesUp ? found.peak >= found.caches + found.arenas : found.peak == found.caches + found.arenas,
             what + ": the peak is not what is held");
      arenas.push_back(found.arenas);
      const Logits last(logits.end() - model.vocabulary, logits.end());
      if (length == 240 && !all)
        lastAlone = last;
      if (length == 240 && all)
        expect(last == lastAlone, "the last row has other bits when all are wanted");
    }
  expect(arenas[0] == arenas[1] && arenas[2] == arenas[3], "arenas grow with the prompt");
  std::printf("memory: done\n");
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: %s MODEL_FOLDER TOLERANCE [OTHER_MODEL]\n", argv[0]);
    return 2;
  }
  tolerance = std::atof(argv[2]);
  if (argc == 4) {
    const Model one(argv[1]), other(argv[3]);
    const Tokens tokens = someTokens(one, 20, 2);
    expectNear(one, Session(one).step(tokens), Session(other).step(tokens), "another model");
    return failures != 0;
  }
  neighbours(argv[1]);
  chunks(argv[1]);
  sizes(argv[1]);
  repeats(argv[1]);
  rollsBack(argv[1]);
  memory(argv[1]);
  std::printf("%d failures\n", failures);
  return failures != 0;
}
