// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long runs of one character: linear time and constant stack, by machine code and by the interpreter of PCRE2.
#include "runtime/tokenize/Tokenizer.h"

#include "runtime/tokenize/Regex.h"
#include "runtime/tokenize/SplitRules.h"
#include "runtime/tokenize/Utf8.h"
#include "tests/unit/support/SmallStack.h"
#include "tests/unit/support/TestVocabulary.h"

#include <gtest/gtest.h>

#include <ctime>

using namespace tilewright;
using namespace tilewright::test;

namespace {

const std::pair<const char *, std::string> kRuns[] = {
    {"letter", "A"},
    {"caret", "^"},
    {"space", " "},
    {"newline", "\n"},
    {"carriage return and newline", "\r\n"},
    {"space and newline", " \n"},
    {"digit", "1"},
    {"apostrophe", "'"},
    {"contraction", "'s"},
    {"CJK letter", "\xE6\x97\xA5"},
    {"combining mark", "\xCC\x81"},
    {"joiner", "\xE2\x80\x8D"},
    {"paragraph separator", "\xE2\x80\xA9"},
    {"invalid byte", "\xFF"},
    {"truncated character", "\xE6\x97"},
    {"half a special token", "<tool"},
    {"opening bracket", "<"},
};

std::string repeat(const std::string &piece, size_t bytes) {
  std::string text;
  while (text.size() < bytes)
    text += piece;
  return text;
}

/// Seconds of processor time, which other programs on the machine do not lengthen.
double seconds(const std::function<void()> &body) {
  const std::clock_t begin = std::clock();
  body();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

} // namespace

TEST(TokenizerHostile, LongRunsOnASmallStack) {
  for (const char *rule : {"gpt-2", "smollm", "llama-bpe", "qwen2", "tekken", "gpt-4o", "deepseek-v3"}) {
    const Tokenizer tokenizer(testVocabulary(rule));
    for (const auto &[name, piece] : kRuns) {
      // A letter behind the run makes the white-space alternatives give one character back.
      const std::string text = repeat(piece, 1'000'000) + "x";
      onSmallStack([&] {
        std::vector<int32_t> ids;
        // One second per megabyte is the promise; the margin is for slow and instrumented machines.
        EXPECT_LT(seconds([&] { ids = tokenizer.encode(text, true); }), 5) << rule << ", " << name;
        EXPECT_EQ(tokenizer.decode(ids), text) << rule << ", " << name;
      });
    }
  }
}

TEST(TokenizerHostile, InterpreterMatchesAsTheMachineCodeDoes) {
  for (std::string_view rule : {"gpt-2", "smollm", "llama3", "qwen2", "tekken", "gpt-4o", "deepseek-v3"})
    for (std::string_view pattern : findSplitRule(rule).patterns) {
      const Regex jit(pattern, Regex::Trust::Known),
          interpreter(pattern, Regex::Trust::Known, Regex::Engine::Interpreter);
      for (const auto &[name, piece] : kRuns) {
        const std::string text = repeat(piece, 20'000) + " x\n 12";
        if (validUtf8Prefix(text) != text.size())
          continue;
        onSmallStack([&] {
          RegexMatcher fast(jit), slow(interpreter);
          fast.reset(text);
          slow.reset(text);
          for (size_t at = 0; at < text.size();) {
            const auto end = fast.matchAt(at);
            ASSERT_EQ(end, slow.matchAt(at)) << rule << ", " << name << ", at " << at;
            at = end ? *end : at + readUtf8(text, at).length;
          }
        });
      }
    }
}

TEST(TokenizerHostile, TimeGrowsLinearly) {
  const Tokenizer tokenizer(testVocabulary("llama-bpe"));
  // Every line break is followed by more white space that cannot end in one: the worst case of `\s*[\r\n]+`.
  const std::string piece = "\n" + std::string(2000, ' ') + "x";
  const double once = seconds([&] { tokenizer.encode(repeat(piece, 200'000)); });
  const double fourfold = seconds([&] { tokenizer.encode(repeat(piece, 800'000)); });
  EXPECT_LT(fourfold, 10 * once + 0.5);
}
