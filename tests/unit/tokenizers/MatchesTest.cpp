// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps with a regular expression that may match nothing, against the library (tests/golden/tokenizers/make.py).
#include "runtime/tokenize/Normalizer.h"
#include "runtime/tokenize/PreTokenizer.h"
#include "tests/unit/tokenizers/GoldenTokenizer.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;

namespace {

nlohmann::json matches() {
  std::ifstream file(goldenFolder() + "/matches.json");
  return nlohmann::json::parse(file);
}

TEST(TokenizerMatches, SplitsEqualTheLibrary) {
  size_t splits = 0;
  const nlohmann::json golden = matches();
  for (const auto &entry : golden["splits"])
    for (size_t behavior = 0; behavior < 5; ++behavior, ++splits) {
      const TokenizerStep step{.name = "split_regex",
                               .text = entry[0],
                               .number = static_cast<int32_t>(behavior),
                               .flag = entry[2].get<bool>()};
      const Words words = PreTokenizer(std::span(&step, 1)).split(entry[1], 1);
      std::vector<std::string> found;
      for (const TextRange &range : words.ranges)
        found.push_back(words.text.substr(range.begin, range.end - range.begin));
      EXPECT_EQ(found, entry[3][behavior].get<std::vector<std::string>>()) << entry.dump() << ", behavior " << behavior;
    }
  EXPECT_GT(splits, 300u);
}

TEST(TokenizerMatches, ReplacementsEqualTheLibrary) {
  const nlohmann::json golden = matches();
  for (const auto &entry : golden["replacements"]) {
    const TokenizerStep step{.name = "replace_regex", .text = entry[0], .with = "-"};
    EXPECT_EQ(Normalizer(std::span(&step, 1)).apply(entry[1].get<std::string>()), entry[2].get<std::string>())
        << entry.dump();
  }
  const TokenizerStep step{.name = "replace_regex", .text = "x*", .with = "-"};
  EXPECT_EQ(Normalizer(std::span(&step, 1)).apply(""), "");
}

} // namespace
