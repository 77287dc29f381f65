// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long runs of one character through tokenizers of every kind: linear time, constant stack.
#include "tests/unit/support/ProcessorTime.h"
#include "tests/unit/support/SmallStack.h"
#include "tests/unit/tokenizers/GoldenTokenizer.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;

namespace {

class HostileTexts : public testing::TestWithParam<const char *> {};

TEST_P(HostileTexts, TakeLinearTimeAndConstantStack) {
  const std::unique_ptr<Tokenizer> tokenizer = goldenTokenizer(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  const std::pair<const char *, std::string> runs[] = {
      {"letter", "A"},
      {"caret", "^"},
      {"space", " "},
      {"newline", "\n"},
      {"space and newline", " \n"},
      {"CJK letter", "\xE6\x97\xA5"},
      {"combining mark", "\xCC\x81"},
      {"marks in the wrong order", "\xCC\x87\xCC\xA3"},
      {"joiner", "\xE2\x80\x8D"},
      {"invalid byte", "\xFF"},
      {"opening bracket", "<"},
  };
  for (const auto &[name, piece] : runs) {
    std::string text;
    while (text.size() < 200'000)
      text += piece;
    text += "x";
    onSmallStack([&, &name = name] {
      const double begin = processorTime();
      const std::vector<int32_t> ids = tokenizer->encode(text, {.parseSpecial = true, .skipUnencodable = true});
      (void)tokenizer->decode(ids);
      // One second per megabyte is the promise; the margin is for slow and instrumented machines.
      EXPECT_LT(processorTime() - begin, 1) << GetParam() << ", " << name;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, HostileTexts,
                         testing::Values("llama3", "qwen2", "gpt_oss", "deepseek", "roberta", "llama2", "mistral",
                                         "gemma", "bert", "t5", "unigram", "word_level", "gguf_llama", "gguf_t5"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
