// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright verify`: a compiled model against the reference interpreter, or against stored f64 results.
//
// What a mode promises for a whole model:
//   precise  each token's negative log-likelihood (NLL) and the ten largest last logits within 5e-4 of the truth,
//            greedy tokens equal up to the first step whose two best logits are closer than 0.02;
//   fast     |NLL - truth| at most 0.05 in the mean over all tokens of all prompts, the mean NLL within 1 %, greedy
//            tokens equal up to the first step closer than 0.7; of a model without logits each number of the last row
//            within 5 % of the row's largest.
// NaN and infinities are wanted where the truth has them, and nowhere else.
#include "tools/driver/Commands.h"
#include "tools/driver/JsonNumber.h"
#include "tools/driver/ModelShape.h"
#include "tools/driver/ReferenceModel.h"
#include "tools/driver/VerifyPrompts.h"
#include "tools/progress/Progress.h"

#include "backends/reference/Compare.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <numeric>

namespace json = llvm::json;

namespace tilewright::driver {
namespace {

/// Larger than every finite difference, smaller than that of a number and an infinity.
constexpr double kAnyFinite = std::numeric_limits<double>::max();

struct Promise {
  double eachNll;     ///< largest |difference| of one token's NLL; kAnyFinite: not promised
  double eachLogit;   ///< of one of the ten largest logits
  double eachShare;   ///< of one number of a row that stands for logits, as a share of its largest
  double meanNll;     ///< largest mean |difference| over all tokens
  double relativeNll; ///< largest relative difference of the mean NLL over all prompts
  double margin;      ///< greedy tokens are promised where the two best logits are at least this far apart
};

Promise promiseOf(llvm::StringRef numerics) {
  return numerics == "fast" ? Promise{kAnyFinite, kAnyFinite, 0.05, 0.05, 0.01, 0.7}
                            : Promise{5e-4, 5e-4, kAnyFinite, 5e-4, 5e-4, 0.02};
}

/// What the truth says of one prompt.
struct Expected {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<double> last;                       ///< all logits behind the prompt; not in stored results
  std::vector<double> nll;                        ///< of ids[1..]
  std::vector<std::pair<int32_t, double>> logits; ///< the ten largest behind the prompt; all where they are an output's
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

/// Places and numbers of the largest; NaN is smaller than every number.
std::vector<std::pair<int32_t, double>> largest(llvm::ArrayRef<double> row, size_t count = 10) {
  std::vector<int32_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  count = std::min(count, row.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                    [&](int32_t a, int32_t b) {
                      if (std::isnan(row[a]) != std::isnan(row[b]))
                        return std::isnan(row[b]);
                      return row[a] > row[b] || (!(row[b] > row[a]) && a < b);
                    });
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
  seen.logits = model.hasLogits() ? largest(last) : largest(last, last.size());
  seen.last = last;
  seen.ids = std::move(ids);
  for (size_t i = 0; i < greedySteps && model.hasLogits(); ++i) {
    auto best = largest(last, 2);
    if (best.empty() || std::isnan(best[0].second))
      break; // no token is the best
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
  for (size_t i = 0; i < truth.greedy.size() && truth.margins[i] >= margin; ++i) {
    if (i >= found.greedy.size() || truth.greedy[i] != found.greedy[i]) {
      result.wrong = true;
      break;
    }
    ++result.equal;
  }
  return result;
}

/// A row of token ids as JSON has them; false: one is no token of a vocabulary of any size.
template <typename Number> bool idsFrom(llvm::ArrayRef<Number> numbers, std::vector<int32_t> &ids) {
  for (Number number : numbers) {
    if (!(number >= 0 && number <= std::numeric_limits<int32_t>::max()))
      return false;
    ids.push_back(static_cast<int32_t>(number));
  }
  return true;
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
      std::vector<std::vector<double>> top; // [id, logit] pairs
      if (!map.map("last_logits_top10", top) || ids.empty() || prompt.nll.size() + 1 != ids.size() ||
          prompt.margins.size() != greedy.size() ||
          llvm::any_of(top, [](const std::vector<double> &pair) { return pair.size() != 2; }))
        return llvm::createStringError(path + ": a prompt of '" + name + "' has lists that do not fit each other");
      std::vector<double> topIds;
      for (const std::vector<double> &pair : top)
        topIds.push_back(pair[0]);
      std::vector<int32_t> best;
      if (!idsFrom<int64_t>(ids, prompt.ids) || !idsFrom<int64_t>(greedy, prompt.greedy) ||
          !idsFrom<double>(topIds, best))
        return llvm::createStringError(path + ": a prompt of '" + name + "' has a number that is no token's id");
      for (auto [id, pair] : llvm::zip_equal(best, top))
        prompt.logits.push_back({id, pair[1]});
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

/// Differences of numbers from the truth's.
struct Differences {
  double largest = 0, sum = 0; ///< NaN where one of two alone is NaN
  size_t compared = 0;
  size_t nan = 0; ///< in the truth and what was found: nothing is known of these

  void add(double found, double wanted) {
    if (std::isnan(found) && std::isnan(wanted)) {
      ++nan;
      return;
    }
    const double difference = std::isnan(found) || std::isnan(wanted) ? std::numeric_limits<double>::quiet_NaN()
                                                                      : reference::distance(found, wanted);
    ++compared;
    sum += difference;
    if (!std::isnan(largest) && !(difference <= largest))
      largest = difference;
  }
  double mean() const { return compared ? sum / static_cast<double>(compared) : 0; }
  void add(const Differences &other) {
    sum += other.sum;
    compared += other.compared;
    nan += other.nan;
    if (!std::isnan(largest) && !(other.largest <= largest))
      largest = other.largest;
  }
};

/// Totals over all prompts.
struct Summary {
  Differences nll, logits;
  double sumTruth = 0, sumFound = 0; ///< of the NLLs that were compared
  size_t prompts = 0, failed = 0;
  size_t untested = 0; ///< prompts on which a model that promises this much cannot fail
};

/// Of the row behind the prompt: the largest logits in their size, and all in whether they are numbers.
Differences compareLast(const Expected &truth, const Expected &found) {
  Differences result;
  for (auto [id, value] : truth.logits)
    result.add(found.last[static_cast<size_t>(id)], value);
  for (auto [id, value] : llvm::enumerate(found.last)) // stored results are numbers
    if (std::isnan(value) && (truth.last.empty() || !std::isnan(truth.last[id])))
      result.largest = value;
  return result;
}

/// Compares one prompt, prints its line and adds it up. `hasLogits`: the last row is one of logits.
void judge(const Expected &truth, const Expected &found, const Promise &promise, bool hasLogits, Summary &sum) {
  Differences nll;
  for (auto [wanted, is] : llvm::zip_equal(truth.nll, found.nll)) {
    nll.add(is, wanted);
    if (!std::isnan(wanted) || !std::isnan(is)) {
      sum.sumTruth += wanted;
      sum.sumFound += is;
    }
  }
  double allowed = promise.eachLogit;
  if (!hasLogits)
    allowed = std::min(allowed, promise.eachShare * reference::largestMagnitude(truth.last));
  const Differences last = compareLast(truth, found);
  GreedyResult greedy = compareGreedy(truth, found, promise.margin);
  // Written so that NaN fails.
  const bool good = nll.largest <= promise.eachNll && last.largest <= allowed && !greedy.wrong;
  const bool tested = nll.compared || greedy.equal || (allowed < kAnyFinite && last.compared);
  llvm::outs() << llvm::formatv("  {0} |dNLL| max {1:f6} mean {2:f6}  |dlogit| max {3:f6}  greedy {4}/{5}{6}  {7}",
                                !good    ? "FAIL"
                                : tested ? "ok  "
                                         : "none",
                                nll.largest, nll.mean(), last.largest, greedy.equal, truth.greedy.size(),
                                greedy.wrong ? " WRONG" : "", json::Value(llvm::StringRef(truth.text).take_front(40)));
  if (const size_t nan = nll.nan + last.nan)
    llvm::outs() << llvm::formatv("  (NaN, as the truth is: {0} of {1} numbers)", nan,
                                  nan + nll.compared + last.compared);
  if (good && !tested)
    llvm::outs() << "  tests nothing";
  llvm::outs() << "\n";
  sum.nll.add(nll);
  sum.logits.add(last);
  ++sum.prompts;
  sum.failed += !good;
  sum.untested += good && !tested;
}

int finish(const Summary &sum, const Promise &promise, llvm::StringRef numerics, bool asJson) {
  const double relative = sum.sumTruth != 0 ? std::fabs(sum.sumFound - sum.sumTruth) / sum.sumTruth : 0;
  const bool tested = sum.untested < sum.prompts;
  const bool good = tested && sum.failed == 0 && sum.nll.mean() <= promise.meanNll && relative <= promise.relativeNll;
  if (asJson) {
    llvm::outs() << llvm::formatv(
        "{0:2}\n", json::Value(json::Object{{"numerics", numerics},
                                            {"prompts", static_cast<int64_t>(sum.prompts)},
                                            {"failed", static_cast<int64_t>(sum.failed)},
                                            {"untested", static_cast<int64_t>(sum.untested)},
                                            {"nan_as_truth", static_cast<int64_t>(sum.nll.nan + sum.logits.nan)},
                                            {"largest_nll_difference", jsonNumber(sum.nll.largest)},
                                            {"mean_nll_difference", jsonNumber(sum.nll.mean())},
                                            {"relative_mean_nll_difference", jsonNumber(relative)},
                                            {"largest_logit_difference", jsonNumber(sum.logits.largest)},
                                            {"holds", good}}));
  } else if (tested) {
    llvm::outs() << llvm::formatv("{0}: {1} prompts, {2} tokens: |dNLL| max {3:f6} mean {4:f6}, mean NLL off by {5:f3} "
                                  "%, |dlogit| max {6:f6}: {7}",
                                  numerics, sum.prompts, sum.nll.compared, sum.nll.largest, sum.nll.mean(),
                                  100 * relative, sum.logits.largest, good ? "holds" : "DOES NOT HOLD");
    if (sum.untested)
      llvm::outs() << llvm::formatv(" ({0} of the prompts tested nothing)", sum.untested);
    llvm::outs() << "\n";
  }
  if (tested)
    return good ? Success : CheckFailed;
  llvm::outs().flush();
  const bool nan = sum.nll.nan + sum.logits.nan > 0;
  return report(llvm::createStringError(
                    nan ? "nothing was compared: the truth is NaN; the model's weights, or what it makes of them, are"
                        : "nothing was compared: numerics " + numerics.str() +
                              " promises something of the tokens behind a prompt's first and of greedy tokens with a "
                              "clear margin; found none, wanted a longer --prompt or --max-tokens"),
                nan ? CheckFailed : BadInput);
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

/// That the model can be asked for what the truth knows of a prompt.
llvm::Error checkPrompt(const Expected &prompt, const LogitsModel &model, const std::string &expected) {
  const std::string place = expected.empty() ? "" : expected + ": ";
  if (!expected.empty() && !model.hasLogits())
    return llvm::createStringError(place + "has logits; the model has none");
  const int64_t vocab = model.vocab();
  const auto outside = [&](const std::string &what, int32_t id) {
    return llvm::createStringError(place + what + std::to_string(id) + "; the vocabulary has " + std::to_string(vocab) +
                                   " tokens");
  };
  for (auto [id, value] : prompt.logits)
    if (id >= vocab)
      return outside("a logit of token ", id);
  for (int32_t id : prompt.ids)
    if (model.hasLogits() && (id < 0 || id >= vocab))
      return outside("a prompt has token ", id);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<LogitsModel>> openArtifact(Session &session, mlir::ModuleOp module,
                                                          const VerifyOptions &options) {
  llvm::Expected<ModelShape> shape = shapeOf(session.graph().graph(), module);
  if (!shape)
    return shape.takeError();
  return artifactModel(options.artifact, options.kvType, &*shape);
}

llvm::Expected<std::unique_ptr<LogitsModel>> modelUnderTest(Session &session, mlir::ModuleOp module,
                                                            const VerifyOptions &options) {
  if (!options.artifact.empty())
    return openArtifact(session, module, options);
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
    if (int code = report(checkPrompt(prompt, **model, options.expected), BadInput))
      return code;
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
    judge(prompt, *found, promise, (*model)->hasLogits(), sum);
    progress.advance();
  }
  progress.done();
  return finish(sum, promise, numerics, options.json);
}

} // namespace tilewright::driver
