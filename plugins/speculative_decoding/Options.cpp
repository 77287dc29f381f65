// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/speculative_decoding/Options.h"

#include "plugins/speculative_decoding/Fault.h"

#include <charconv>

namespace tilewright::speculative_decoding {

namespace {

[[noreturn]] void invalid(const std::string &what, std::string_view found, const std::string &wanted) {
  throw Fault(TW_INVALID, what + " is '" + std::string(found) + "', wanted " + wanted);
}

template <typename Number> bool readNumber(std::string_view text, Number &number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

int64_t readCount(const std::string &what, std::string_view text) {
  int64_t count = 0;
  if (!readNumber(text, count) || count < 1 || count > Options::mostDrafted)
    invalid(what, text, "1 to " + std::to_string(Options::mostDrafted) + " drafted tokens");
  return count;
}

/// What stands in front of `mark`; the rest, behind the mark, stays in `text`.
std::string_view takeUntil(std::string_view &text, char mark) {
  const size_t at = text.find(mark);
  const std::string_view front = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return front;
}

} // namespace

Options parseOptions(std::string_view words) {
  std::string_view settings = words, argument = takeUntil(settings, ',');
  const std::string policy(takeUntil(argument, ':'));
  Options options;
  if (policy == "ngram") {
    if (!argument.empty())
      options.drafted = readCount("ngram", argument);
  } else if (policy == "draft") {
    options.source = Options::Source::DraftModel;
    options.draftModel = argument;
    if (argument.empty())
      invalid("draft", argument, "the folder of a compiled model (draft:FOLDER)");
  } else if (policy == "mtp") {
    options.source = Options::Source::PredictionHeads;
    if (!argument.empty())
      invalid("mtp", argument, "nothing behind it");
  } else {
    invalid("the policy", policy, "ngram, draft or mtp");
  }
  while (!settings.empty()) {
    std::string_view value = takeUntil(settings, ',');
    const std::string key(takeUntil(value, '='));
    if (key == "max")
      options.drafted = readCount(key, value);
    else if (key == "lossy-unverified" && value.empty())
      options.lossyUnverified = true;
    else if (key != "lossy-threshold")
      invalid("a setting of policy " + policy, key, "max=K, lossy-threshold=P or lossy-unverified");
    else if (!readNumber(value, options.lossyThreshold) || !(options.lossyThreshold > 0 && options.lossyThreshold <= 1))
      invalid(key, value, "a probability above 0, up to 1");
  }
  return options;
}

} // namespace tilewright::speculative_decoding
