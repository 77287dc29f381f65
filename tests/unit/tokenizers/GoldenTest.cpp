// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ids and texts of independent libraries (tests/golden/tokenizers/make.py) for tokenizers of every kind.
#include "runtime/tokenize/StreamDecoder.h"
#include "runtime/tokenize/Utf8.h"
#include "tests/unit/tokenizers/GoldenTokenizer.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;

namespace {

using Ids = std::vector<int32_t>;

class GoldenTokenizers : public testing::TestWithParam<const char *> {};

// Where the library shows U+FFFD, bytes that are no UTF-8 stay what they are.
std::string shown(const std::string &bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Unit unit = readUtf8(bytes, at);
    if (unit.state == Utf8State::Valid)
      text.append(bytes, at, unit.length);
    else
      text += "\xEF\xBF\xBD";
    at += unit.state == Utf8State::Valid ? unit.length : 1;
  }
  return text;
}

TEST_P(GoldenTokenizers, EqualTheLibrary) {
  const std::string name = GetParam();
  const std::unique_ptr<Tokenizer> tokenizer = goldenTokenizer(name);
  ASSERT_NE(tokenizer, nullptr);
  std::ifstream file(goldenFolder() + "/" + name + "/cases.json");
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_GT(cases.size(), 150u);
  size_t wrong = 0;
  for (const auto &entry : cases) {
    const auto text = entry["text"].get<std::string>();
    const auto wanted = entry["ids"].get<Ids>();
    const bool parse = entry.value("parse", true);
    const Ids ids = tokenizer->encode(text, {.parseSpecial = parse, .skipUnencodable = true});
    const Ids whole =
        tokenizer->encode(text, {.parseSpecial = parse, .addBegin = true, .addEnd = true, .skipUnencodable = true});
    const std::string decoded = tokenizer->decode(wanted);
    StreamDecoder stream(*tokenizer);
    std::string streamed;
    for (int32_t id : wanted)
      streamed += stream.push(id);
    EXPECT_EQ(streamed + stream.finish(), decoded);
    EXPECT_EQ(ids, wanted) << name << ": " << entry["text"].dump(-1, ' ', true);
    // A text that begins or ends as the model wants gets nothing twice.
    auto control = [&](int32_t id) { return tokenizer->tokenType(id) == TokenType::Control; };
    if (wanted.empty() || (!control(wanted.front()) && !control(wanted.back())))
      EXPECT_EQ(whole, entry["whole"].get<Ids>()) << name << ": " << entry["text"].dump(-1, ' ', true);
    if (entry["decoded"].is_string())
      EXPECT_EQ(shown(decoded), entry["decoded"].get<std::string>())
          << name << ": " << entry["text"].dump(-1, ' ', true);
    if (testing::Test::HasFailure() && ++wrong == 20)
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, GoldenTokenizers,
                         testing::Values("gpt2", "llama3", "qwen2", "gpt_oss", "tekken", "deepseek", "roberta",
                                         "llama2", "mistral", "gemma", "bert", "bert_cased", "t5", "unigram",
                                         "word_level", "added", "first_stripped", "first_replaced", "first_prepended",
                                         "gguf_llama", "gguf_t5", "gguf_bert"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
