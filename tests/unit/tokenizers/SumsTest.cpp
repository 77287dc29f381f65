// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ids of 100,000 random texts and of long runs, for tokenizers of every kind, by checksums of those that independent
// libraries give (tests/golden/tokenizers/sums.py, which has the same rules for the texts).
#include "tests/unit/tokenizers/GoldenTokenizer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;

namespace {

const nlohmann::json &table() {
  static const nlohmann::json read = [] {
    std::ifstream file(TILEWRIGHT_TEST_DATA "/golden/tokenizers/sums.json");
    return nlohmann::json::parse(file);
  }();
  return read;
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t below(uint64_t n) {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return (z ^ (z >> 31)) % n;
  }

private:
  uint64_t state;
};

/// What texts are made of: single characters, and pieces in pools.
struct Alphabet {
  explicit Alphabet(const nlohmann::json &json) : pools(json["pools"].get<std::vector<std::vector<std::string>>>()) {
    for (const auto &range : json["ranges"])
      for (uint32_t c = range[0].get<uint32_t>(); c <= range[1].get<uint32_t>(); ++c)
        characters.push_back(c);
  }

  std::string text(uint64_t number) const {
    Random random(number);
    std::string text;
    for (uint64_t count = 1 + random.below(20); count; --count)
      if (random.below(4) == 0) {
        char utf8[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *end = utf8;
        llvm::ConvertCodePointToUTF8(characters[random.below(characters.size())], end);
        text.append(utf8, end);
      } else {
        const auto &pool = pools[random.below(pools.size())];
        text += pool[random.below(pool.size())];
      }
    return text;
  }

  std::vector<uint32_t> characters;
  std::vector<std::vector<std::string>> pools;
};

/// FNV-1a over the number of ids and the ids, four bytes each.
class Sum {
public:
  void add(const std::vector<int32_t> &ids) {
    add(static_cast<uint32_t>(ids.size()));
    for (int32_t id : ids)
      add(static_cast<uint32_t>(id));
  }
  std::string text() const { return llvm::utohexstr(total, /*LowerCase=*/true, /*Width=*/16); }

private:
  void add(uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8)
      total = (total ^ ((number >> shift) & 0xff)) * 0x100000001B3;
  }

  uint64_t total = 0xCBF29CE484222325;
};

class TokenizerSums : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    ASSERT_TRUE(table()["tokenizers"].contains(GetParam()));
    tokenizer = goldenTokenizer(GetParam());
    ASSERT_NE(tokenizer, nullptr);
  }
  const nlohmann::json &wanted() const { return table()["tokenizers"][GetParam()]; }
  std::vector<int32_t> encode(const std::string &text, bool parse) const {
    return tokenizer->encode(text, {.parseSpecial = parse, .skipUnencodable = true});
  }
  /// Whether special tokens are read: in each text, in none, or in every second one, which comes first.
  bool parses(uint64_t number) const { return wanted()["parses"][number % wanted()["parses"].size()].get<bool>(); }

  std::unique_ptr<Tokenizer> tokenizer;
};

TEST_P(TokenizerSums, OfRandomTexts) {
  const Alphabet alphabet(table()["alphabets"][wanted()["alphabet"].get<std::string>()]);
  const auto texts = table()["texts"].get<uint64_t>();
  const auto sums = wanted()["sums"].get<std::vector<std::string>>();
  ASSERT_EQ(texts * sums.size(), 100'000u);
  for (size_t block = 0; block < sums.size(); ++block) {
    Sum sum;
    for (uint64_t number = block * texts; number < (block + 1) * texts; ++number)
      sum.add(encode(alphabet.text(number), parses(number)));
    EXPECT_EQ(sum.text(), sums[block]) << "sums.py --block " << block << " --out FOLDER " << GetParam()
                                       << " writes the library's ids";
  }
}

TEST_P(TokenizerSums, OfLongRuns) {
  const auto run = table()["run"].get<size_t>();
  const auto &runs = table()["runs"];
  ASSERT_EQ(runs.size(), wanted()["runs"].size());
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto piece = runs[i]["piece"].get<std::string>();
    std::string text;
    for (size_t count = run / runs[i]["characters"].get<size_t>(); count; --count)
      text += piece;
    Sum sum;
    sum.add(encode(text + "x", parses(1)));
    EXPECT_EQ(sum.text(), wanted()["runs"][i].get<std::string>()) << runs[i]["piece"].dump(-1, ' ', true);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokenizerSums,
                         testing::Values("gpt2", "llama3", "qwen2", "gpt_oss", "tekken", "deepseek", "roberta",
                                         "llama2", "mistral", "gemma", "bert", "bert_cased", "t5", "unigram",
                                         "word_level", "gguf_llama", "gguf_t5"),
                         [](const auto &info) { return info.param; });

} // namespace
