// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/Normalizer.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/CharsMap.h"
#include "runtime/tokenize/Regex.h"
#include "runtime/tokenize/UnicodeText.h"

#include <algorithm>
#include <memory>

namespace tilewright {

namespace {

void checkSize(size_t bytes) {
  if (bytes >= UINT32_MAX)
    throw Error(TW_EXHAUSTED, "text: normalized, it has more than 4294967294 bytes");
}

using Step = std::function<std::string(std::string_view, size_t &)>;

/// A step that changes character by character, or nearly so.
template <typename Change> Step eachCharacter(Change change) {
  return [change = std::move(change)](std::string_view text, size_t &head) {
    std::string result = change(text);
    const std::string front = change(text.substr(0, head));
    if (result.starts_with(front))
      head = front.size();
    else // the first character was composed with what follows
      head = result.empty() ? 0 : readUtf8(result, 0).length;
    return result;
  };
}

/// Parts of a text and what stands for others, put together.
class Replacement {
public:
  Replacement(std::string_view text, size_t head) : text(text), oldHead(head), atHead(head > 0) {}

  /// [begin, end), which is not in front of earlier calls', becomes `with`.
  void replace(size_t begin, size_t end, std::string_view with) {
    keep(begin);
    atHead &= end <= oldHead; // it comes from the last of these bytes
    add(with, with.size());
    done = end;
    checkSize(result.size());
  }
  std::string finish(size_t &head) {
    keep(text.size());
    head = newHead;
    return std::move(result);
  }

private:
  void keep(size_t end) {
    const size_t headBytes = std::min(std::max(oldHead, done), end) - done;
    add(text.substr(done, end - done), headBytes);
    atHead &= end <= oldHead;
  }
  void add(std::string_view bytes, size_t headBytes) {
    result += bytes;
    newHead += atHead ? headBytes : 0;
  }

  std::string_view text;
  size_t oldHead, newHead = 0, done = 0;
  bool atHead; // all so far comes from the head
  std::string result;
};

std::string cleanForBert(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const Utf8Unit unit = readUtf8(text, at);
    const char32_t c = unit.codePoint;
    if (isWhiteSpace(c) && (c == '\t' || c == '\n' || c == '\r' || !isOther(c)))
      result += ' ';
    else if (c != 0 && c != 0xFFFD && !isOther(c))
      result.append(text, at, unit.length);
    at += unit.length;
  }
  return result;
}

std::string spaceIdeographs(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const Utf8Unit unit = readUtf8(text, at);
    const bool apart = isCjkIdeograph(unit.codePoint);
    result.append(apart ? " " : "").append(text, at, unit.length).append(apart ? " " : "");
    at += unit.length;
  }
  return result;
}

std::string withoutAccents(std::string_view text) {
  return keepCharacters(normalForm(text, NormalForm::D), [](char32_t c) { return !isNonspacingMark(c); });
}

// Source: the NMT rules of SentencePiece, builder.cc (BuildNmtNFKCMap).
std::string cleanForTranslation(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const Utf8Unit unit = readUtf8(text, at);
    const char32_t c = unit.codePoint;
    const bool control =
        (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    const bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                       (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF ||
                       c == 0xFFFD;
    if (space)
      result += ' ';
    else if (!control)
      result.append(text, at, unit.length);
    at += unit.length;
  }
  return result;
}

std::string squeezeSpaces(std::string_view text) {
  std::string result;
  for (char c : text)
    if (c != ' ' || (!result.empty() && result.back() != ' '))
      result += c;
  if (result.ends_with(' '))
    result.pop_back();
  return result;
}

std::string strip(std::string_view text, int32_t ends, size_t &head) {
  size_t begin = 0, end = text.size();
  while ((ends & 1) && begin < end) {
    const Utf8Unit unit = readUtf8(text, begin);
    if (!isWhiteSpace(unit.codePoint))
      break;
    begin += unit.length;
  }
  while ((ends & 2) && begin < end) {
    size_t last = end - 1;
    while (last > begin && (static_cast<uint8_t>(text[last]) & 0xC0) == 0x80)
      --last;
    if (!isWhiteSpace(readUtf8(text, last).codePoint))
      break;
    end = last;
  }
  head = std::min(std::max(head, begin), end) - begin;
  return std::string(text.substr(begin, end - begin));
}

std::string replaceAll(std::string_view text, std::string_view what, std::string_view with, size_t &head) {
  Replacement made(text, head);
  size_t at = 0;
  for (size_t found; (found = text.find(what, at)) != std::string_view::npos; at = found + what.size())
    made.replace(found, found + what.size(), with);
  return made.finish(head);
}

std::string replaceMatches(std::string_view text, const Regex &regex, std::string_view with, size_t &head) {
  if (text.empty()) // has no matches, not even empty ones
    return {};
  RegexMatcher matcher(regex);
  matcher.reset(text);
  Replacement made(text, head);
  while (const auto match = matcher.next())
    made.replace(match->begin, match->end, with);
  return made.finish(head);
}

std::string prepend(std::string_view text, std::string_view prefix, size_t &head) {
  if (text.empty())
    return {};
  head += head > 0 ? prefix.size() : 0;
  return std::string(prefix).append(text);
}

Step makeStep(const TokenizerStep &step) {
  const std::string &name = step.name;
  if (name == "nfc")
    return eachCharacter([](std::string_view text) { return normalForm(text, NormalForm::C); });
  if (name == "nfd")
    return eachCharacter([](std::string_view text) { return normalForm(text, NormalForm::D); });
  if (name == "nfkc")
    return eachCharacter([](std::string_view text) { return normalForm(text, NormalForm::KC); });
  if (name == "nfkd")
    return eachCharacter([](std::string_view text) { return normalForm(text, NormalForm::KD); });
  if (name == "lowercase")
    return eachCharacter(lowerCase);
  if (name == "strip_marks")
    return eachCharacter(
        [](std::string_view text) { return keepCharacters(text, [](char32_t c) { return !isMark(c); }); });
  if (name == "bert_clean")
    return eachCharacter(cleanForBert);
  if (name == "bert_cjk")
    return eachCharacter(spaceIdeographs);
  if (name == "bert_accents")
    return eachCharacter(withoutAccents);
  if (name == "nmt")
    return eachCharacter(cleanForTranslation);
  if (name == "squeeze_spaces")
    return eachCharacter(squeezeSpaces);
  if (name == "strip")
    return [ends = step.number](std::string_view text, size_t &head) { return strip(text, ends, head); };
  if (name == "prepend")
    return [prefix = step.text](std::string_view text, size_t &head) { return prepend(text, prefix, head); };
  if (name == "charsmap")
    return eachCharacter(
        [map = std::make_shared<const CharsMap>(step.bytes)](std::string_view text) { return map->apply(text); });
  if (name == "replace" && !step.text.empty())
    return [what = step.text, with = step.with](std::string_view text, size_t &head) {
      return replaceAll(text, what, with, head);
    };
  if (name == "replace_regex")
    return [regex = std::make_shared<const Regex>(step.text, Regex::Trust::Untrusted),
            with = step.with](std::string_view text, size_t &head) { return replaceMatches(text, *regex, with, head); };
  throw Error(TW_UNSUPPORTED, "tokenizer: unknown normalizer step '" + name + "'");
}

} // namespace

Normalizer::Normalizer(std::span<const TokenizerStep> list) {
  for (const TokenizerStep &step : list) {
    if (validUtf8Prefix(step.text) != step.text.size() || validUtf8Prefix(step.with) != step.with.size())
      throw Error(TW_CORRUPT, "tokenizer: normalizer step '" + step.name + "' holds text that is not UTF-8");
    steps.push_back(makeStep(step));
  }
}

std::string Normalizer::apply(std::string_view text) const {
  size_t head = 0;
  return apply(text, head);
}

std::string Normalizer::apply(std::string_view text, size_t &head) const {
  std::string result(text);
  for (const auto &step : steps) {
    result = step(result, head);
    checkSize(result.size());
  }
  return result;
}

} // namespace tilewright
