// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/Interpretation.h"

#include "backends/reference/Compare.h"
#include "tools/driver/ReferenceStream.h"

#include <cmath>

using namespace mlir;

namespace tilewright::driver {

namespace {

/// Index of the first element that differs by more than `allowed`, or -1; `largest` is the largest difference.
int64_t firstDifference(ArrayRef<double> before, ArrayRef<double> behind, double allowed, double &largest) {
  int64_t first = -1;
  largest = 0;
  for (size_t i = 0; i < std::min(before.size(), behind.size()); ++i) {
    const double difference = reference::distance(behind[i], before[i]);
    if (difference > allowed && first < 0)
      first = static_cast<int64_t>(i);
    largest = std::max(largest, difference);
  }
  if (first < 0 && before.size() != behind.size())
    first = static_cast<int64_t>(std::min(before.size(), behind.size()));
  return first;
}

} // namespace

llvm::Expected<Interpretation> Interpretation::of(Session &session, ModuleOp module, ArrayRef<int32_t> ids) {
  auto model = ReferenceModel::create(session, module, reference::Precision::F64);
  if (!model)
    return model.takeError();
  llvm::Expected<std::vector<double>> logits = (*model)->step(ids);
  if (!logits)
    return logits.takeError();
  Interpretation result;
  result.logits = std::move(*logits);
  result.vocab = (*model)->vocab();
  return result;
}

std::optional<Gap> Interpretation::gapTo(const Interpretation &behind, double tolerance) const {
  Gap gap;
  int64_t at = firstDifference(logits, behind.logits, tolerance * reference::largestMagnitude(logits), gap.largest);
  if (at < 0)
    return std::nullopt;
  auto value = [&](const std::vector<double> &of) {
    return at < static_cast<int64_t>(of.size()) ? of[at] : std::numeric_limits<double>::quiet_NaN();
  };
  gap.place = "logit of token " + std::to_string(at % vocab) + " behind row " + std::to_string(at / vocab);
  gap.before = value(logits);
  gap.behind = value(behind.logits);
  return gap;
}

double Interpretation::distanceTo(const Interpretation &behind) const {
  double largest;
  firstDifference(logits, behind.logits, HUGE_VAL, largest);
  return largest;
}

static std::set<ValueTag> allTags(ModuleOp module) {
  std::set<ValueTag> tags;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (std::optional<ValueTag> tag = tagOf(result); tag && isa<RankedTensorType>(result.getType()))
        tags.insert(*tag);
  });
  return tags;
}

llvm::Expected<std::optional<Gap>> firstDifferentValue(Session &session, ModuleOp before, ModuleOp behind,
                                                       ArrayRef<int32_t> ids, double tolerance) {
  auto first = ReferenceModel::create(session, before, reference::Precision::F64);
  if (!first)
    return first.takeError();
  auto second = ReferenceModel::create(session, behind, reference::Precision::F64);
  if (!second)
    return second.takeError();

  std::optional<Gap> found;
  ReferenceStream stream(**first, allTags(before));
  CallPath path;
  std::vector<std::string> labels;
  std::map<std::string, unsigned> runs;
  (*second)->running().setTap(
      [&](Operation *op, ArrayRef<reference::RunValue> results) {
        if (found)
          return;
        for (auto [i, result] : llvm::enumerate(results)) {
          std::optional<ValueTag> tag = tagOf(op->getResult(i));
          const auto *tensor = std::get_if<reference::Tensor>(&result);
          const reference::RunValue *known = tag ? stream.value(path, *tag) : nullptr;
          const auto *wanted = known ? std::get_if<reference::Tensor>(known) : nullptr;
          if (!tensor || !wanted || !tensor->isFloat || tensor->shape != wanted->shape)
            continue;
          Gap gap;
          int64_t at = firstDifference(wanted->reals, tensor->reals,
                                       tolerance * reference::largestMagnitude(wanted->reals), gap.largest);
          if (at < 0)
            continue;
          auto technique = op->getAttrOfType<StringAttr>("tw.origin");
          gap.place = (labels.empty() ? "" : labels.back() + ", ") +
                      (technique ? technique.str() : op->getName().getStringRef().str()) + ", element [" +
                      std::to_string(at) + "]";
          gap.before = wanted->reals[at];
          gap.behind = tensor->reals[at];
          found = gap;
          return;
        }
      },
      [&](Operation *call, bool begins) {
        if (begins) {
          std::string callee = cast<func::CallOp>(call).getCallee().str();
          path.push_back(tagOf(call->getLoc()).value_or(-1));
          labels.push_back(callee + " " + std::to_string(runs[callee]++));
          return;
        }
        stream.drop(path);
        path.pop_back();
        labels.pop_back();
      });
  stream.begin(ids);
  llvm::Expected<std::vector<double>> logits = (*second)->step(ids);
  if (!logits)
    return logits.takeError();
  if (auto rest = stream.finish(); !rest)
    return rest.takeError();
  return found;
}

} // namespace tilewright::driver
