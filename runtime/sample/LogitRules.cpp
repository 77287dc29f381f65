// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/sample/LogitRules.h"

#include <algorithm>
#include <limits>

namespace tilewright {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

void penalise(std::span<float> scores, std::span<const int32_t> text, double penalty) {
  std::vector<int32_t> seen(text.begin(), text.end());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (int32_t id : seen) {
    if (static_cast<size_t>(id) >= scores.size())
      break;
    float &score = scores[static_cast<size_t>(id)];
    score = static_cast<float>(score < 0 ? score * penalty : score / penalty);
  }
}

void hide(std::span<float> scores, int32_t id) {
  if (static_cast<size_t>(id) < scores.size())
    scores[static_cast<size_t>(id)] = kNever;
}

/// Hides what would complete a sequence of `size` tokens that the text has already.
void hideRepeats(std::span<float> scores, std::span<const int32_t> text, size_t size) {
  if (text.size() + 1 < size)
    return;
  const std::span<const int32_t> begun = text.last(size - 1);
  for (size_t at = 0; at + size <= text.size(); ++at)
    if (std::equal(begun.begin(), begun.end(), text.begin() + static_cast<ptrdiff_t>(at)))
      hide(scores, text[at + size - 1]);
}

void force(std::span<float> scores, int32_t id) {
  if (static_cast<size_t>(id) >= scores.size())
    return;
  std::fill(scores.begin(), scores.end(), kNever);
  scores[static_cast<size_t>(id)] = 0;
}

} // namespace

void LogitRules::apply(std::span<float> scores, std::span<const int32_t> text, int64_t maxLength) const {
  if (repetitionPenalty != 1)
    penalise(scores, text, repetitionPenalty);
  if (noRepeatNgram > 0)
    hideRepeats(scores, text, static_cast<size_t>(noRepeatNgram));
  for (int32_t id : bad)
    hide(scores, id);
  const auto length = static_cast<int64_t>(text.size());
  if (length < minLength)
    for (int32_t id : ends)
      hide(scores, id);
  if (forcedBegin >= 0 && length == 1)
    force(scores, forcedBegin);
  if (forcedEnd >= 0 && length == maxLength - 1)
    force(scores, forcedEnd);
}

} // namespace tilewright
