// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a model's folder says of how texts are generated: it is told, with the options that do the same.
#include "frontend/import/GenerationDefaults.h"
#include "tests/unit/support/TestFolder.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

class GenerationDefaults : public testing::Test {
protected:
  /// The notes, or the error without the folder.
  std::string read(StringRef config, StringRef generation) const {
    folder.write("config.json", arrayRefFromStringRef(config));
    if (!generation.empty())
      folder.write("generation_config.json", arrayRefFromStringRef(generation));
    Expected<std::vector<std::string>> notes = readGenerationDefaults(folder.path(), 50);
    if (notes)
      return join(*notes, "\n");
    std::string message = toString(notes.takeError());
    return message.substr(message.find("/", folder.path().size()) + 1);
  }

  const std::string taken = ": `tilewright generate` takes none of its defaults over; the same do ";
  TestFolder folder;
};

TEST_F(GenerationDefaults, AreToldWithTheOptionsThatDoTheSame) {
  EXPECT_EQ(read("{}", R"({"num_beams": 4, "length_penalty": 2.0, "early_stopping": true, "min_length": 56,
                           "max_length": 142, "no_repeat_ngram_size": 3, "repetition_penalty": 1.1})"),
            "generation_config.json" + taken +
                "--max-length=142 --min-length=56 --num-beams=4 --length-penalty=2 --early-stopping=on "
                "--no-repeat-ngram-size=3 --repeat-penalty=1.1");
  EXPECT_EQ(read("{}", R"({"max_new_tokens": 9, "min_new_tokens": 2, "early_stopping": "never"})"),
            "generation_config.json" + taken + "--max-tokens=9 --min-new-tokens=2 --early-stopping=never");
}

// Transformers reads temperature and its like beside do_sample alone, and has others by default than `generate`.
TEST_F(GenerationDefaults, OfSampling) {
  EXPECT_EQ(read("{}", R"({"temperature": 0.6, "top_p": 0.9, "top_k": 20})"), "");
  EXPECT_EQ(read("{}", R"({"do_sample": true, "temperature": 0.6, "top_p": 0.9})"),
            "generation_config.json" + taken + "--temperature=0.6 --top-k=50 --top-p=0.9");
  EXPECT_EQ(read("{}", R"({"do_sample": true, "typical_p": 0.9})"),
            "generation_config.json" + taken +
                "--temperature=1 --top-k=50\ngeneration_config.json: no option of `tilewright generate` does the same "
                "as typical_p 0.9");
}

TEST_F(GenerationDefaults, WithoutAnOption) {
  EXPECT_EQ(read(R"({"forced_bos_token_id": 2})",
                 R"({"shiny": [1], "diversity_penalty": 0.5, "forced_bos_token_id": 2, "forced_eos_token_id": 3})"),
            "generation_config.json: no option of `tilewright generate` does the same as diversity_penalty 0.5, "
            "forced_eos_token_id 3, shiny [1]");
}

TEST_F(GenerationDefaults, WithoutInfluence) {
  EXPECT_EQ(read("{}", R"({"num_beams": 1, "min_length": null, "length_penalty": 1, "max_length": 20, "use_cache": true,
                           "bos_token_id": 1, "eos_token_id": [2, 3], "_from_model_config": true, "shiny": null})"),
            "");
}

TEST_F(GenerationDefaults, OfOlderConfigs) {
  EXPECT_EQ(read(R"({"num_beams": 6, "max_length": 512, "hidden_size": 8, "eos_token_id": -1})", ""),
            "config.json" + taken + "--max-length=512 --num-beams=6");
  EXPECT_EQ(read(R"({"num_beams": 6})", "{}"), ""); // a file of its own stands in their place
}

TEST_F(GenerationDefaults, EndsAreTokens) {
  const std::string wanted = ", wanted the id of one of 50 tokens, or a list of such";
  EXPECT_EQ(read(R"({"eos_token_id": 49})", ""), "");
  EXPECT_EQ(read(R"({"eos_token_id": 99})", ""), "config.json: field 'eos_token_id': found 99" + wanted);
  EXPECT_EQ(read(R"({"eos_token_id": [[1]]})", ""), "config.json: field 'eos_token_id': found [[1]]" + wanted);
  EXPECT_EQ(read("{}", R"({"eos_token_id": [1, 50]})"),
            "generation_config.json: field 'eos_token_id': found [1,50]" + wanted);
  EXPECT_EQ(read("{}", "[]"), "generation_config.json: found JSON that is no object, wanted one");
}

} // namespace
