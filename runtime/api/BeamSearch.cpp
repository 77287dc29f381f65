// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/api/BeamSearch.h"

#include "runtime/api/Error.h"
#include "runtime/api/Requests.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

namespace tilewright {
namespace {

constexpr double kNone = -1.0e9; ///< score of what is not there

struct SessionDeleter {
  void operator()(tw_session *session) const { tw_session_release(session); }
};
using SessionPointer = std::unique_ptr<tw_session, SessionDeleter>;

void need(tw_status status) {
  if (status != TW_OK)
    throw Error(status, tw_last_error());
}

struct Hypothesis {
  std::vector<int32_t> text; ///< with the prompt
  double score = kNone;      ///< of running ones the log-probability, of those that ended that by length
  bool isThere = false;
  bool byToken = false;
};

struct Candidate {
  size_t parent;
  int32_t token;
  double score;
  bool ends;    ///< by a token or its length
  bool byToken; ///< by a token
};

class Search {
public:
  Search(tw_model *model, tw_session *first, std::span<const int32_t> prompt, const BeamSearchOptions &options)
      : model(model), first(first), prompt(prompt), options(options),
        beams(static_cast<size_t>(options.settings.beams)), vocabulary(static_cast<size_t>(tw_model_vocab_size(model))),
        logits(beams * vocabulary), running(beams), ended(beams), endsText(options.choices) {
    for (size_t id = 0; id < options.choices; ++id)
      endsText[id] = options.ends && options.ends(static_cast<int32_t>(id));
    endTokens = static_cast<size_t>(std::count(endsText.begin(), endsText.end(), true));
  }

  BeamSearchResult run() {
    const auto start = std::chrono::steady_clock::now();
    begin();
    result.promptSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    while (advance())
      step();
    const auto best =
        std::max_element(ended.begin(), ended.end(), [](const auto &a, const auto &b) { return a.score < b.score; });
    const Hypothesis &chosen = best->isThere ? *best : running.front();
    result.tokens.assign(chosen.text.begin() + static_cast<ptrdiff_t>(prompt.size()), chosen.text.end());
    result.score = chosen.score;
    result.ended = chosen.byToken;
    return std::move(result);
  }

private:
  /// The prompt's step; all beams are like the first.
  void begin() {
    const tw_step_request request = stepRequest(first, prompt, logits.data());
    need(tw_step(model, &request, 1));
    sessions = {first};
    for (size_t i = 1; i < 2 * beams; ++i) {
      tw_session *made = nullptr;
      need(tw_session_create(model, &made));
      own.emplace_back(made);
      (i < beams ? sessions : spare).push_back(made);
    }
    for (size_t i = 0; i < beams; ++i) {
      need(tw_session_assign(sessions[i], first));
      running[i] = {{prompt.begin(), prompt.end()}, i == 0 ? 0 : kNone, true, false};
      if (i > 0)
        std::copy_n(logits.begin(), vocabulary, logits.begin() + static_cast<ptrdiff_t>(i * vocabulary));
    }
  }

  /// Log-probabilities of what follows a beam, by the rules.
  std::vector<float> scoresOf(size_t beam) const {
    const std::span<const float> row = std::span(logits).subspan(beam * vocabulary, options.choices);
    float largest = -std::numeric_limits<float>::infinity();
    for (float x : row)
      largest = std::fmax(largest, x); // NaN is never chosen
    if (!std::isfinite(largest))
      throw Error(TW_INVALID, "no logit that a beam could go on with");
    double sum = 0;
    for (float x : row)
      sum += std::isnan(x) ? 0 : std::exp(static_cast<double>(x) - largest);
    const double whole = largest + std::log(sum);
    std::vector<float> scores;
    scores.reserve(row.size());
    for (float x : row)
      scores.push_back(std::isnan(x) ? -std::numeric_limits<float>::infinity() : static_cast<float>(x - whole));
    options.rules.apply(scores, running[beam].text, options.maxLength);
    return scores;
  }

  /// The best continuations of all beams: so many that enough go on whatever tokens end some.
  std::vector<Candidate> candidates() const {
    const size_t wanted = std::max<size_t>(2, 1 + endTokens) * beams;
    std::vector<Candidate> all;
    all.reserve(wanted + options.choices);
    for (size_t beam = 0; beam < beams; ++beam) {
      const std::vector<float> scores = scoresOf(beam);
      for (size_t id = 0; id < scores.size(); ++id)
        all.push_back(
            {beam, static_cast<int32_t>(id), running[beam].score + static_cast<double>(scores[id]), false, false});
      // Beam by beam: all candidates of all beams at once would be megabytes of new memory for each token.
      const size_t kept = std::min(wanted, all.size());
      std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(kept), all.end(),
                        [](const Candidate &a, const Candidate &b) {
                          return a.score != b.score ? a.score > b.score
                                                    : std::pair(a.parent, a.token) < std::pair(b.parent, b.token);
                        });
      all.resize(kept);
    }
    for (Candidate &candidate : all) {
      candidate.byToken = endsText[static_cast<size_t>(candidate.token)];
      candidate.ends = candidate.byToken || length() + 1 >= options.maxLength;
    }
    return all;
  }

  int64_t length() const { return static_cast<int64_t>(running.front().text.size()); }

  double byLength(double score, int64_t newTokens) const {
    return score / std::pow(static_cast<double>(newTokens), options.settings.lengthPenalty);
  }

  bool isFull() const {
    return std::all_of(ended.begin(), ended.end(), [](const Hypothesis &each) { return each.isThere; });
  }

  std::vector<int32_t> textOf(const Candidate &candidate) const {
    std::vector<int32_t> text = running[candidate.parent].text;
    text.push_back(candidate.token);
    return text;
  }

  /// Takes over those of the best candidates that end.
  void keepEnded(std::span<const Candidate> best) {
    if (!isOpen || (options.settings.earlyStopping == EarlyStopping::On && isFull()))
      return;
    const int64_t newTokens = length() + 1 - static_cast<int64_t>(prompt.size());
    for (const Candidate &candidate : best) {
      if (!candidate.ends || candidate.score <= kNone / 2)
        continue;
      Hypothesis done{textOf(candidate), byLength(candidate.score, newTokens), true, candidate.byToken};
      const auto behind =
          std::find_if(ended.begin(), ended.end(), [&](const Hypothesis &each) { return each.score < done.score; });
      if (behind == ended.end())
        continue;
      ended.insert(behind, std::move(done));
      ended.pop_back();
    }
  }

  /// One token more for each beam. False: the search is over.
  bool advance() {
    const std::vector<Candidate> all = candidates();
    keepEnded(std::span(all).first(std::min(beams, all.size())));
    const bool goesOn = std::any_of(all.begin(), all.end(), [](const Candidate &each) { return !each.ends; });
    std::vector<Hypothesis> next;
    parents.clear();
    for (bool ends : {false, true}) // those that ended fill up, with no chance to go on
      for (const Candidate &each : all)
        if (each.ends == ends && next.size() < beams) {
          next.push_back({textOf(each), each.score + (ends ? kNone : 0), true, false});
          parents.push_back(each.parent);
        }
    running = std::move(next);
    isOpen = isOpen && mayImprove();
    return goesOn && isOpen && !(options.settings.earlyStopping == EarlyStopping::On && isFull());
  }

  /// Whether the best running text could become better than the worst that ended.
  bool mayImprove() const {
    const auto begun = static_cast<int64_t>(prompt.size());
    const bool asLongAsMayBe =
        options.settings.earlyStopping == EarlyStopping::Never && options.settings.lengthPenalty > 0;
    const double best = byLength(running.front().score, (asLongAsMayBe ? options.maxLength : length()) - begun);
    return !isFull() || best > ended.back().score;
  }

  /// The beams' sessions become those of their parents, and each reads its last token.
  void step() {
    for (size_t i = 0; i < beams; ++i)
      need(tw_session_assign(spare[i], sessions[parents[i]]));
    for (size_t i = 0; i < beams; ++i) {
      need(tw_session_assign(sessions[i], spare[i]));
      need(tw_session_truncate(spare[i], 0)); // so that a beam alone shares nothing
    }
    std::vector<tw_step_request> requests;
    for (size_t i = 0; i < beams; ++i)
      requests.push_back(stepRequest(sessions[i], {&running[i].text.back(), 1}, logits.data() + i * vocabulary));
    need(tw_step(model, requests.data(), static_cast<int64_t>(beams)));
    ++result.steps;
  }

  tw_model *model;
  tw_session *first;
  const std::span<const int32_t> prompt;
  const BeamSearchOptions &options;
  const size_t beams, vocabulary;
  std::vector<float> logits; // [beams][vocabulary]
  std::vector<SessionPointer> own;
  std::vector<tw_session *> sessions, spare; // the caller's is the first
  std::vector<Hypothesis> running, ended;    // best first
  std::vector<bool> endsText;                // by token
  size_t endTokens = 0;
  std::vector<size_t> parents;
  bool isOpen = true; // some running text may become better than one that ended
  BeamSearchResult result;
};

} // namespace

void checkBeamSettings(const BeamSettings &settings) {
  constexpr int64_t kMostBeams = 1024;
  if (settings.beams < 1 || settings.beams > kMostBeams)
    throw Error(TW_INVALID,
                "num-beams " + std::to_string(settings.beams) + ", wanted 1 to " + std::to_string(kMostBeams));
  if (!std::isfinite(settings.lengthPenalty))
    throw Error(TW_INVALID, "length-penalty " + std::to_string(settings.lengthPenalty) + ", wanted a finite number");
}

BeamSearchResult beamSearch(tw_model *model, tw_session *session, std::span<const int32_t> prompt,
                            const BeamSearchOptions &options) {
  checkBeamSettings(options.settings);
  return Search(model, session, prompt, options).run();
}

} // namespace tilewright
