// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/PreTokenizer.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/Regex.h"
#include "runtime/tokenize/SplitRules.h"
#include "runtime/tokenize/UnicodeText.h"

#include <algorithm>
#include <memory>

namespace tilewright {

namespace {

struct Piece {
  TextRange range;
  bool match;
};
using Pieces = std::vector<Piece>;

/// Appends the pieces of a word: its matches, in order, and what lies between. Matches may be empty.
using Matcher = std::function<void(const Words &, TextRange, Pieces &)>;

void addPiece(Pieces &pieces, size_t begin, size_t end, bool match) {
  if (begin < end)
    pieces.push_back({{begin, end}, match});
}

/// Whether a piece belongs to the word of the piece before it.
bool joins(const Piece &before, const Piece &piece, SplitBehavior behavior) {
  switch (behavior) {
  case SplitBehavior::Removed:
  case SplitBehavior::Isolated:
    break;
  case SplitBehavior::MergedWithPrevious:
    return piece.match && !before.match;
  case SplitBehavior::MergedWithNext:
    return !piece.match && before.match;
  case SplitBehavior::Contiguous:
    return piece.match == before.match;
  }
  return false;
}

/// Joins pieces as `behavior` says and appends the words that are not empty. An empty match parts its neighbours, and
/// joins as others do.
void applyBehavior(const Pieces &pieces, SplitBehavior behavior, std::vector<TextRange> &words) {
  const size_t first = words.size();
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece &piece = pieces[i];
    if (behavior == SplitBehavior::Removed && piece.match)
      continue;
    if (i > 0 && joins(pieces[i - 1], piece, behavior))
      words.back().end = piece.range.end;
    else
      words.push_back(piece.range);
  }
  const auto isEmpty = [](const TextRange &word) { return word.begin == word.end; };
  words.erase(std::remove_if(words.begin() + static_cast<ptrdiff_t>(first), words.end(), isEmpty), words.end());
}

void splitWords(Words &words, const Matcher &matcher, SplitBehavior behavior, bool invert) {
  std::vector<TextRange> result;
  Pieces pieces;
  for (const TextRange &range : words.ranges) {
    pieces.clear();
    matcher(words, range, pieces);
    if (invert)
      for (Piece &piece : pieces)
        piece.match = !piece.match;
    applyBehavior(pieces, behavior, result);
  }
  words.ranges = std::move(result);
}

template <typename Predicate> Matcher matchCharacters(Predicate predicate) {
  return [predicate](const Words &words, TextRange range, Pieces &pieces) {
    size_t begin = range.begin;
    for (size_t at = range.begin; at < range.end;) {
      const Utf8Unit unit = readUtf8(words.text, at);
      if (predicate(unit.codePoint)) {
        addPiece(pieces, begin, at, false);
        addPiece(pieces, at, at + unit.length, true);
        begin = at + unit.length;
      }
      at += unit.length;
    }
    addPiece(pieces, begin, range.end, false);
  };
}

Matcher matchText(const std::string &wanted) {
  return [wanted](const Words &words, TextRange range, Pieces &pieces) {
    const std::string_view word = std::string_view(words.text).substr(range.begin, range.end - range.begin);
    size_t at = 0;
    for (size_t found; (found = word.find(wanted, at)) != std::string_view::npos; at = found + wanted.size()) {
      addPiece(pieces, range.begin + at, range.begin + found, false);
      addPiece(pieces, range.begin + found, range.begin + found + wanted.size(), true);
    }
    addPiece(pieces, range.begin + at, range.end, false);
  };
}

void matchRegex(RegexMatcher &matcher, const Words &words, TextRange range, Pieces &pieces) {
  const std::string_view word = std::string_view(words.text).substr(range.begin, range.end - range.begin);
  matcher.reset(word);
  size_t begin = 0;
  while (const auto match = matcher.next()) {
    addPiece(pieces, range.begin + begin, range.begin + match->begin, false);
    pieces.push_back({{range.begin + match->begin, range.begin + match->end}, true});
    begin = match->end;
  }
  addPiece(pieces, range.begin + begin, range.end, false);
}

void splitByRegex(Words &words, const Regex &regex, SplitBehavior behavior, bool invert) {
  RegexMatcher matcher(regex);
  splitWords(
      words, [&](const Words &all, TextRange range, Pieces &pieces) { matchRegex(matcher, all, range, pieces); },
      behavior, invert);
}

void prefixSpace(Words &words) {
  Words result;
  result.text.reserve(words.text.size() + words.ranges.size());
  for (const TextRange &range : words.ranges) {
    const size_t begin = result.text.size();
    if (words.text[range.begin] != ' ')
      result.text += ' ';
    if (range.begin < words.head)
      result.head = result.text.size() + std::min(range.end, words.head) - range.begin;
    result.text.append(words.text, range.begin, range.end - range.begin);
    result.ranges.push_back({begin, result.text.size()});
  }
  words = std::move(result);
}

void metaspace(Words &words, const TokenizerStep &step) {
  Words result;
  for (const TextRange &range : words.ranges) {
    size_t begin = result.text.size();
    const std::string_view word = std::string_view(words.text).substr(range.begin, range.end - range.begin);
    const bool wanted = step.number == 2 || (step.number == 1 && range.begin < words.head);
    if (wanted && word.front() != ' ' && !word.starts_with(step.text))
      result.text += step.text;
    for (size_t at = range.begin; at < range.end; ++at) {
      if (words.text[at] == ' ')
        result.text += step.text;
      else
        result.text += words.text[at];
      if (at < words.head)
        result.head = result.text.size();
    }
    result.ranges.push_back({begin, result.text.size()});
  }
  words = std::move(result);
  if (step.flag)
    splitWords(words, matchText(step.text), SplitBehavior::MergedWithNext, false);
}

[[noreturn]] void corrupt(const TokenizerStep &step, const std::string &what) {
  throw Error(TW_CORRUPT, "tokenizer: pre-tokenizer step '" + step.name + "': " + what);
}

SplitBehavior behaviorOf(const TokenizerStep &step) {
  if (step.number < 0 || step.number > static_cast<int32_t>(SplitBehavior::Contiguous))
    corrupt(step, "number is " + std::to_string(step.number) + ", wanted 0 to 4");
  return static_cast<SplitBehavior>(step.number);
}

std::function<void(Words &)> makeStep(const TokenizerStep &step) {
  const std::string &name = step.name;
  if (name == "rule") {
    auto rules = std::make_shared<std::vector<Regex>>();
    for (std::string_view pattern : findSplitRule(step.text).patterns)
      rules->emplace_back(pattern, Regex::Trust::Known);
    return [rules](Words &words) {
      for (const Regex &regex : *rules)
        splitByRegex(words, regex, SplitBehavior::Isolated, false);
    };
  }
  if (name == "split_regex") {
    auto regex = std::make_shared<const Regex>(step.text, Regex::Trust::Untrusted);
    return [regex, behavior = behaviorOf(step), invert = step.flag](Words &words) {
      splitByRegex(words, *regex, behavior, invert);
    };
  }
  auto splitAt = [](Matcher matcher, SplitBehavior behavior, bool invert = false) {
    return [matcher = std::move(matcher), behavior, invert](Words &words) {
      splitWords(words, matcher, behavior, invert);
    };
  };
  if (name == "split_text") {
    if (step.text.empty())
      corrupt(step, "text is empty");
    return splitAt(matchText(step.text), behaviorOf(step), step.flag);
  }
  if (name == "split_white_space")
    return splitAt(matchCharacters(isWhiteSpace), SplitBehavior::Removed);
  if (name == "split_bert")
    return [](Words &words) {
      splitWords(words, matchCharacters(isWhiteSpace), SplitBehavior::Removed, false);
      splitWords(words, matchCharacters(isPunctuation), SplitBehavior::Isolated, false);
    };
  if (name == "split_punctuation")
    return splitAt(matchCharacters(isPunctuation), behaviorOf(step));
  if (name == "split_digits")
    return splitAt(matchCharacters(isNumber), step.flag ? SplitBehavior::Isolated : SplitBehavior::Contiguous);
  if (name == "prefix_space")
    return [](Words &words) { prefixSpace(words); };
  if (name == "metaspace") {
    if (step.text.empty() || validUtf8Prefix(step.text) != step.text.size() || step.text.find(' ') != std::string::npos)
      corrupt(step, "text is '" + step.text + "', wanted a character in place of the space");
    return [step](Words &words) { metaspace(words, step); };
  }
  throw Error(TW_UNSUPPORTED, "tokenizer: unknown pre-tokenizer step '" + name + "'");
}

} // namespace

PreTokenizer::PreTokenizer(std::span<const TokenizerStep> list) {
  for (const TokenizerStep &step : list) {
    steps.push_back(makeStep(step));
    unchanged &= step.name != "prefix_space" && step.name != "metaspace";
  }
}

Words PreTokenizer::split(std::string text, size_t head) const {
  Words words{std::move(text), {}, head};
  words.ranges.push_back({0, words.text.size()});
  for (const auto &step : steps)
    step(words);
  if (words.text.size() >= UINT32_MAX)
    throw Error(TW_EXHAUSTED, "text: with spaces in front of its words, it has more than 4294967294 bytes");
  return words;
}

} // namespace tilewright
