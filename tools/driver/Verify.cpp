// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright verify`: a compiled model against the reference interpreter, or against stored f64 results.
//
// What a mode promises for a whole model:
//   precise  each token's negative log-likelihood (NLL) and the ten largest last logits within 5e-4 of the truth,
//   greedy
//            tokens equal up to the first step whose two best logits are closer than 0.02;
//   fast     |NLL - truth| at most 0.05 in the mean over all tokens of all prompts, the mean NLL within 1 %, greedy
//   tokens
//            equal up to the first step closer than 0.7.
#include "tools/driver/Commands.h"
#include "tools/driver/ReferenceModel.h"
#include "tools/driver/VerifyPrompts.h"
#include "tools/progress/Progress.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <numeric>

namespace json = llvm::json;

namespace tilewright::driver {
namespace {

struct Promise {
  double eachNll;     ///< largest |difference| of one token's NLL; infinite: not promised
  double eachLogit;   ///< of one of the ten largest logits
  double meanNll;     ///< largest mean |difference| over all tokens
  double relativeNll; ///< largest relative difference of the mean NLL over all prompts
  double margin;      ///< greedy tokens are promised where the two best logits are at least this far apart
};

Promise promiseOf(llvm::StringRef numerics) {
  const double any = std::numeric_limits<double>::infinity();
  return numerics == "fast" ? Promise{any, any, 0.05, 0.01, 0.7} : Promise{5e-4, 5e-4, 5e-4, 5e-4, 0.02};
}

/// What the truth says of one prompt.
struct Expected {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<double> last;                       ///< all logits behind the prompt; not in stored results
  std::vector<double> nll;                        ///< of ids[1..]
  std::vector<std::pair<int32_t, double>> logits; ///< the ten largest behind the prompt
  std::vector<int32_t> greedy;
  std::vector<double> margins;
};

std::vector<double> nllOf(llvm::ArrayRef<double> logits, int64_t vocab, llvm::ArrayRef<int32_t> ids) {
  std::vector<double> result;
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    llvm::ArrayRef<double> row = logits.slice(i * static_cast<size_t>(vocab), static_cast<size_t>(vocab));
    double top = *std::max_element(row.begin(), row.end()), sum = 0;
    for (double x : row)
      sum += std::exp(x - top);
    result.push_back(top + std::log(sum) - row[static_cast<size_t>(ids[i + 1])]);
  }
  return result;
}

std::vector<std::pair<int32_t, double>> topTen(llvm::ArrayRef<double> row) {
  std::vector<int32_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t count = std::min<size_t>(10, row.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                    [&](int32_t a, int32_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  std::vector<std::pair<int32_t, double>> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back({order[i], row[order[i]]});
  return result;
}

/// Runs `model` over a prompt as the truth is made: NLLs, last logits, greedy tokens with their margins.
llvm::Expected<Expected> observe(LogitsModel &model, const std::string &text, std::vector<int32_t> ids,
                                 size_t greedySteps) {
  Expected seen;
  seen.text = text;
  if (llvm::Error error = model.reset())
    return std::move(error);
  llvm::Expected<std::vector<double>> logits = model.step(ids);
  if (!logits)
    return logits.takeError();
  const size_t vocab = static_cast<size_t>(model.vocab());
  if (model.hasLogits())
    seen.nll = nllOf(*logits, model.vocab(), ids);
  std::vector<double> last(logits->end() - static_cast<ptrdiff_t>(vocab), logits->end());
  seen.logits = topTen(last);
  seen.last = last;
  seen.ids = std::move(ids);
  for (size_t i = 0; i < greedySteps && model.hasLogits(); ++i) {
    auto best = topTen(last);
    seen.greedy.push_back(best[0].first);
    seen.margins.push_back(best.size() > 1 ? best[0].second - best[1].second : 0);
    if (i + 1 == greedySteps)
      break;
    llvm::Expected<std::vector<double>> next = model.step({best[0].first}, /*lastOnly=*/true);
    if (!next)
      return next.takeError();
    last = std::move(*next);
  }
  return seen;
}

/// Greedy tokens compared where the truth's choice is clear; the number of equal steps, or the first that differs.
struct GreedyResult {
  size_t equal = 0;
  bool wrong = false;
};

GreedyResult compareGreedy(const Expected &truth, const Expected &found, double margin) {
  GreedyResult result;
  for (size_t i = 0; i < std::min(truth.greedy.size(), found.greedy.size()) && truth.margins[i] >= margin; ++i) {
    if (truth.greedy[i] != found.greedy[i]) {
      result.wrong = true;
      break;
    }
    ++result.equal;
  }
  return result;
}

/// {"plain": [...], "chat": [...]} or any object of arrays of prompts.
llvm::Expected<std::vector<Expected>> readExpected(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return llvm::createStringError(path + ": " + file.getError().message());
  llvm::Expected<json::Value> root = json::parse((*file)->getBuffer());
  if (!root)
    return llvm::createStringError(path + ": " + llvm::toString(root.takeError()));
  std::vector<Expected> all;
  const json::Object *groups = root->getAsObject();
  if (!groups)
    return llvm::createStringError(path + ": wanted an object of lists of prompts");
  std::vector<std::string> names;
  for (const auto &group : *groups)
    names.push_back(group.first.str());
  llvm::sort(names);
  for (const std::string &name : names) {
    const json::Array *prompts = groups->getArray(name);
    if (!prompts)
      return llvm::createStringError(path + ": '" + name + "' is no list of prompts");
    for (const json::Value &entry : *prompts) {
      json::Path::Root where(path);
      json::ObjectMapper map(entry, where);
      Expected prompt;
      std::vector<int64_t> ids, greedy;
      if (!map || !map.map("text", prompt.text) || !map.map("ids", ids) || !map.map("nll", prompt.nll) ||
          !map.map("greedy_ids", greedy) || !map.map("greedy_margin", prompt.margins))
        return llvm::createStringError(path + ": " + llvm::toString(where.getError()));
      prompt.ids.assign(ids.begin(), ids.end());
      prompt.greedy.assign(greedy.begin(), greedy.end());
      std::vector<std::vector<double>> top; // [id, logit] pairs
      if (!map.map("last_logits_top10", top) || prompt.nll.size() + 1 != prompt.ids.size() ||
          prompt.margins.size() != prompt.greedy.size() ||
          llvm::any_of(top, [](const std::vector<double> &pair) { return pair.size() != 2; }))
        return llvm::createStringError(path + ": a prompt of '" + name + "' has lists that do not fit each other");
      for (const std::vector<double> &pair : top)
        prompt.logits.push_back({static_cast<int32_t>(pair[0]), pair[1]});
      all.push_back(std::move(prompt));
    }
  }
  return all;
}

const std::vector<std::string> &seededPrompts() {
  static const std::vector<std::string> prompts = {
      "The capital of France is", "def fibonacci(n):",
      "Water boils at",           "Once upon a time, in a small village,",
      "The three laws of motion", "1, 2, 3, 5, 8,",
      "Dear Sir or Madam,",       "The quick brown fox jumps over the lazy dog."};
  return prompts;
}

/// Totals over all prompts.
struct Summary {
  double largestNll = 0, largestLogit = 0, sumAbsolute = 0, sumTruth = 0, sumFound = 0;
  size_t tokens = 0, prompts = 0, failed = 0;
};

/// Compares one prompt, prints its line and adds it up.
void judge(const Expected &truth, const Expected &found, const Promise &promise, Summary &sum) {
  double worstNll = 0, absolute = 0, worstLogit = 0;
  for (size_t i = 0; i < truth.nll.size(); ++i) {
    double difference = std::fabs(found.nll[i] - truth.nll[i]);
    worstNll = std::isnan(difference) ? difference : std::max(worstNll, difference);
    absolute += difference;
    sum.sumTruth += truth.nll[i];
    sum.sumFound += found.nll[i];
  }
  for (auto [id, value] : truth.logits)
    worstLogit = std::max(worstLogit, std::fabs(found.last[static_cast<size_t>(id)] - value));
  GreedyResult greedy = compareGreedy(truth, found, promise.margin);
  const double mean = truth.nll.empty() ? 0 : absolute / static_cast<double>(truth.nll.size());
  // Written so that NaN fails.
  bool good = worstNll <= promise.eachNll && worstLogit <= promise.eachLogit && !greedy.wrong;
  llvm::outs() << llvm::formatv("  {0} |dNLL| max {1:f6} mean {2:f6}  |dlogit| max {3:f6}  greedy {4}/{5}{6}  {7}\n",
                                good ? "ok  " : "FAIL", worstNll, mean, worstLogit, greedy.equal, truth.greedy.size(),
                                greedy.wrong ? " WRONG" : "", json::Value(llvm::StringRef(truth.text).take_front(40)));
  sum.largestNll = std::max(sum.largestNll, worstNll);
  sum.largestLogit = std::max(sum.largestLogit, worstLogit);
  sum.sumAbsolute += absolute;
  sum.tokens += truth.nll.size();
  ++sum.prompts;
  sum.failed += !good;
}

int finish(Summary &sum, const Promise &promise, llvm::StringRef numerics, bool asJson) {
  const double meanAbsolute = sum.tokens ? sum.sumAbsolute / static_cast<double>(sum.tokens) : 0;
  const double relative = sum.sumTruth > 0 ? std::fabs(sum.sumFound - sum.sumTruth) / sum.sumTruth : 0;
  bool good = sum.failed == 0 && meanAbsolute <= promise.meanNll && relative <= promise.relativeNll;
  if (asJson) {
    llvm::outs() << llvm::formatv("{0:2}\n", json::Value(json::Object{{"numerics", numerics},
                                                                      {"prompts", static_cast<int64_t>(sum.prompts)},
                                                                      {"failed", static_cast<int64_t>(sum.failed)},
                                                                      {"largest_nll_difference", sum.largestNll},
                                                                      {"mean_nll_difference", meanAbsolute},
                                                                      {"relative_mean_nll_difference", relative},
                                                                      {"largest_logit_difference", sum.largestLogit},
                                                                      {"holds", good}}));
  } else {
    llvm::outs() << llvm::formatv("{0}: {1} prompts, {2} tokens: |dNLL| max {3:f6} mean {4:f6}, mean NLL off by {5:f3} "
                                  "%, |dlogit| max {6:f6}: {7}\n",
                                  numerics, sum.prompts, sum.tokens, sum.largestNll, meanAbsolute, 100 * relative,
                                  sum.largestLogit, good ? "holds" : "DOES NOT HOLD");
  }
  return good ? Success : CheckFailed;
}

/// The prompts to compare on, as ids.
llvm::Expected<std::vector<Expected>> promptsFor(Session &session, const VerifyOptions &options) {
  llvm::Expected<std::vector<PromptIds>> ids = promptIds(session, options.prompts, seededPrompts());
  if (!ids)
    return ids.takeError();
  std::vector<Expected> prompts(ids->size());
  for (auto [prompt, entry] : llvm::zip_equal(*ids, prompts)) {
    entry.text = std::move(prompt.text);
    entry.ids = std::move(prompt.ids);
  }
  return prompts;
}

llvm::Expected<std::unique_ptr<LogitsModel>> modelUnderTest(Session &session, mlir::ModuleOp module,
                                                            const VerifyOptions &options) {
  if (!options.artifact.empty())
    return artifactModel(options.artifact, options.kvType);
  // Stored results are f64's: the interpreter itself answers for them in f64.
  return ReferenceModel::create(session, module,
                                options.expected.empty() ? reference::Precision::F32 : reference::Precision::F64);
}

} // namespace

int verifyModel(const VerifyOptions &options) {
  Session session(options.plugins);
  mlir::ModuleOp module = session.open(options.input, options.weightsDir);
  if (!module)
    return session.status();
  llvm::Expected<std::vector<Expected>> prompts =
      options.expected.empty() ? promptsFor(session, options) : readExpected(options.expected);
  if (!prompts)
    return report(prompts.takeError(), BadInput);

  llvm::Expected<std::unique_ptr<LogitsModel>> model = modelUnderTest(session, module, options);
  if (!model)
    return report(model.takeError(), WorkFailed);
  std::unique_ptr<LogitsModel> truthModel;
  if (options.expected.empty()) {
    auto made = ReferenceModel::create(session, module, reference::Precision::F64);
    if (!made)
      return report(made.takeError(), WorkFailed);
    truthModel = std::move(*made);
  }

  const std::string numerics = (*model)->numerics();
  const Promise promise = promiseOf(numerics);
  Summary sum;
  Progress progress(options.quiet);
  progress.step("comparing", prompts->size());
  for (Expected &prompt : *prompts) {
    for (auto [id, value] : prompt.logits)
      if (id < 0 || id >= (*model)->vocab())
        return report(llvm::createStringError(options.expected + ": a logit of token " + std::to_string(id) +
                                              "; the vocabulary has " + std::to_string((*model)->vocab()) + " tokens"),
                      BadInput);
    if (truthModel) {
      llvm::Expected<Expected> truth =
          observe(*truthModel, prompt.text, prompt.ids, static_cast<size_t>(options.maxTokens));
      if (!truth)
        return report(truth.takeError(), WorkFailed);
      prompt = std::move(*truth);
    }
    llvm::Expected<Expected> found = observe(**model, prompt.text, prompt.ids, prompt.greedy.size());
    if (!found)
      return report(found.takeError(), WorkFailed);
    Progress::interrupt();
    judge(prompt, *found, promise, sum);
    progress.advance();
  }
  progress.done();
  return finish(sum, promise, numerics, options.json);
}

} // namespace tilewright::driver
