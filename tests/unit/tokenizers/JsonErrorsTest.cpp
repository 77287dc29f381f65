// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is refused of tokenizer.json and of the files beside it.
#include "frontend/import/tokenizer/TokenizerFolder.h"
#include "tests/unit/tokenizers/GoldenTokenizer.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace llvm;
using namespace tilewright;

namespace {

/// A small tokenizer, to be spoilt.
nlohmann::json small() {
  return nlohmann::json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [{"id": 4, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
                      "normalized": false, "special": true}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [4], "tokens": ["<s>"]}}},
    "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
    "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
              "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
              "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3}, "merges": [["a", "b"]]}})");
}

std::string verdict(const nlohmann::json &json) {
  Expected<std::unique_ptr<graph::TokenizerT>> read = readTokenizerJson(json.dump(), "t.json");
  return read ? "accepted" : toString(read.takeError());
}

/// The verdict on the small one with the value at `pointer` replaced.
std::string with(const std::string &pointer, const nlohmann::json &value) {
  nlohmann::json json = small();
  json[nlohmann::json::json_pointer(pointer)] = value;
  return verdict(json);
}

class TokenizerFolderTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("tokenizer", folder));
    write("tokenizer.json", small().dump());
  }
  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string path(StringRef name) const {
    SmallString<128> full(folder);
    sys::path::append(full, name);
    return std::string(full);
  }
  void write(StringRef name, StringRef text) {
    std::error_code error;
    raw_fd_ostream(path(name), error) << text;
    ASSERT_FALSE(error);
  }
  /// The error, without the folder; `read` is filled if there is none.
  std::string verdict() {
    Expected<std::unique_ptr<graph::TokenizerT>> result = readTokenizerFolder(folder);
    if (!result) {
      std::string text = toString(result.takeError());
      for (size_t at; (at = text.find(folder.str().str() + "/")) != std::string::npos;)
        text.erase(at, folder.size() + 1);
      return text;
    }
    read = std::move(*result);
    return read ? "accepted" : "none";
  }

  SmallString<128> folder;
  std::unique_ptr<graph::TokenizerT> read;
};

} // namespace

TEST(TokenizerJson, Accepted) {
  EXPECT_EQ(verdict(small()), "accepted");
  Expected<std::unique_ptr<graph::TokenizerT>> read = readTokenizerJson(small().dump(), "t.json");
  const Tokenizer tokenizer(test::dataOf(**read));
  EXPECT_EQ(tokenizer.encode("abc", {.addBegin = true}), (std::vector<int32_t>{4, 2, 3}));
}

TEST(TokenizerJson, NamesEveryPartThatIsNotUnderstood) {
  nlohmann::json json = small();
  json["new_thing"] = 1;
  json["normalizer"] = {{"type", "Sequence"},
                        {"normalizers", {{{"type", "ByteLevel"}}, {{"type", "NFC"}, {"odd", 2}}}}};
  json["pre_tokenizer"]["other"] = true;
  json["model"]["dropout"] = 0.5;
  json["model"]["end_of_word_suffix"] = "</w>";
  EXPECT_EQ(verdict(json), "t.json\n"
                           "  model.dropout: leaving out merges at random is not supported\n"
                           "  model.end_of_word_suffix: '</w>' is not supported\n"
                           "  normalizer.normalizers[0]: normalizer 'ByteLevel' is not supported\n"
                           "  normalizer.normalizers[1]: member 'odd' is not understood\n"
                           "  pre_tokenizer: member 'other' is not understood\n"
                           "  top level: member 'new_thing' is not understood");
}

TEST(TokenizerJson, Unsupported) {
  EXPECT_EQ(with("/version", "2.0"), "t.json: version: found '2.0', wanted '1.0'");
  EXPECT_EQ(with("/model/type", "Other"), "t.json: model: type 'Other' is not supported");
  EXPECT_EQ(with("/pre_tokenizer", {{"type", "UnicodeScripts"}}),
            "t.json\n  pre_tokenizer: pre-tokenizer 'UnicodeScripts' is not supported\n"
            "  decoder: decoder 'ByteLevel' without the pre-tokenizer 'ByteLevel'");
  EXPECT_EQ(with("/decoder", {{"type", "CTC"}, {"pad_token", "x"}}), "t.json: decoder: decoder 'CTC' is not supported");
  EXPECT_EQ(with("/decoder", {{"type", "ByteFallback"}}),
            "t.json: decoder: decoder 'ByteFallback' without a model with byte_fallback");
  EXPECT_EQ(with("/decoder", {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}),
            "t.json: decoder: wanted 'stop' of 0 and 'start' up to 1024, behind 'Fuse'");
  EXPECT_EQ(with("/post_processor", {{"type", "Other"}}),
            "t.json: post_processor: post-processor 'Other' is not supported");
  EXPECT_EQ(with("/post_processor/single/1/Sequence/id", "B"),
            "t.json\n  post_processor.single[1]: wanted the sequence A once, and special tokens, all of type_id 0\n"
            "  post_processor.single: wanted the sequence A");
  EXPECT_EQ(with("/pre_tokenizer", {{"type", "Punctuation"}, {"behavior", "Odd"}}),
            "t.json\n  pre_tokenizer.behavior: 'Odd' is not supported\n"
            "  decoder: decoder 'ByteLevel' without the pre-tokenizer 'ByteLevel'");
  nlohmann::json behind = small();
  behind["pre_tokenizer"] = {{"type", "Sequence"},
                             {"pretokenizers", {behind["pre_tokenizer"], {{"type", "BertPreTokenizer"}}}}};
  EXPECT_EQ(
      verdict(behind),
      "t.json: pre_tokenizer.pretokenizers[1]: pre-tokenizer 'BertPreTokenizer' behind 'ByteLevel' is not supported");
}

TEST(TokenizerJson, BadVocabularies) {
  EXPECT_EQ(with("/model/vocab/c", 2), "t.json: model.vocab: tokens 'ab' and 'c' both have the id 2");
  EXPECT_EQ(with("/model/vocab/c", -1), "t.json: model.vocab: token 'c': wanted an id of 0 to 65543");
  EXPECT_EQ(with("/model/vocab/c", 2147483647), "t.json: model.vocab: token 'c': wanted an id of 0 to 65543");
  EXPECT_EQ(with("/model/vocab/c", "x"), "t.json: model.vocab: token 'c': wanted an id of 0 to 65543");
  EXPECT_EQ(with("/model/unk_token", "<unk>"), "t.json: model.unk_token: '<unk>' is not in the vocabulary");
  EXPECT_EQ(with("/model/merges/0", {"a"}), "t.json: model.merges: entry 0: wanted two tokens");
  EXPECT_EQ(with("/model/merges/0", {"a b", "c"}), "t.json: model.merges: entry 0: a space in a merge");
  EXPECT_EQ(with("/added_tokens/0/id", 3), "t.json\n  added_tokens[0]: token 3 is '<s>' here, and 'c' elsewhere\n"
                                           "  post_processor.single[0]: token '<s>' does not have the id 4");
  EXPECT_EQ(with("/added_tokens/0/content", "c"), "t.json\n  added_tokens[0]: 'c' has the id 4 here, and 3 elsewhere\n"
                                                  "  post_processor.single[0]: token '<s>' does not have the id 4");
  nlohmann::json growing = small();
  for (int64_t id : {65545, 196626, 458788})
    growing["added_tokens"].push_back({{"id", id}, {"content", "<" + std::to_string(id) + ">"}});
  EXPECT_EQ(verdict(growing), "t.json\n  added_tokens[2].id: found 196626, wanted 0 to 65547\n"
                              "  added_tokens[3].id: found 458788, wanted 0 to 65547");
  EXPECT_EQ(with("/post_processor/special_tokens/<s>/ids/0", 3),
            "t.json: post_processor.single[0]: token '<s>' does not have the id 3");
  EXPECT_EQ(with("/model", nullptr), "t.json\n  model: not found, wanted an object\n"
                                     "  post_processor.single[0]: token '<s>' does not have the id 4");
  EXPECT_EQ(with("/model/merges", 3), "t.json: model.merges: found a number, wanted a list");
}

TEST(TokenizerJson, DeepAndDoubled) {
  nlohmann::json json = small();
  json["normalizer"] = {{"type", "NFC"}};
  for (int i = 0; i < 20; ++i)
    json["normalizer"] = {{"type", "Sequence"}, {"normalizers", nlohmann::json::array({json["normalizer"]})}};
  EXPECT_NE(verdict(json).find("more than 16 sequences within one another"), std::string::npos);
  Expected<std::unique_ptr<graph::TokenizerT>> nested = readTokenizerJson(std::string(1'000'000, '['), "t.json");
  EXPECT_FALSE(bool(nested));
  consumeError(nested.takeError());
  Expected<std::unique_ptr<graph::TokenizerT>> doubled = readTokenizerJson(R"({"model": {}, "model": {}})", "t.json");
  ASSERT_FALSE(bool(doubled));
  EXPECT_NE(toString(doubled.takeError()).find("model"), std::string::npos);
}

TEST_F(TokenizerFolderTest, FilesBesideIt) {
  EXPECT_EQ(verdict(), "accepted");
  EXPECT_TRUE(read->add_bos == false && read->prefix_ids == std::vector<int32_t>{4});
  write("tokenizer_config.json", R"({"bos_token": {"content": "<s>"}, "eos_token": "c", "add_bos_token": false,
                                     "chat_template": [{"name": "default", "template": "{{ 1 }}"}],
                                     "added_tokens_decoder": {"6": {"content": "<new>", "special": true}}})");
  write("generation_config.json", R"({"eos_token_id": [3, 1], "pad_token_id": 2, "temperature": 0.5})");
  ASSERT_EQ(verdict(), "accepted");
  EXPECT_EQ(read->bos_id, 4);
  EXPECT_EQ(read->eos_id, 3);
  EXPECT_EQ(read->eot_ids, std::vector<int32_t>{1});
  EXPECT_EQ(read->pad_id, 2);
  EXPECT_TRUE(read->prefix_ids.empty());
  EXPECT_EQ(read->chat_template, "{{ 1 }}");
  EXPECT_EQ(read->tokens, (std::vector<std::string>{"a", "b", "ab", "c", "<s>", "<unused 5>", "<new>"}));
  EXPECT_EQ(read->token_types, (std::vector<int32_t>{1, 1, 1, 1, 3, 5, 3}));
  write("chat_template.jinja", "{{ 2 }}");
  ASSERT_EQ(verdict(), "accepted");
  EXPECT_EQ(read->chat_template, "{{ 2 }}");
}

TEST_F(TokenizerFolderTest, ContradictionsBesideIt) {
  write("tokenizer_config.json", R"({"bos_token": "<bos>", "pad_token": 3, "add_prefix_space": true, "odd": 1,
                                     "additional_special_tokens": ["c", "<none>"]})");
  EXPECT_EQ(verdict(), "tokenizer_config.json\n"
                       "  bos_token: '<bos>' is not in the vocabulary\n"
                       "  pad_token: wanted a token's text\n"
                       "  additional_special_tokens: 'c' is no special token in tokenizer.json's added_tokens\n"
                       "  additional_special_tokens: found a token that is not in the vocabulary: <none>\n"
                       "  add_prefix_space: found true, tokenizer.json does the opposite\n"
                       "  top level: member 'odd' is not understood");
  write("tokenizer_config.json", "{}");
  write("config.json", R"({"eos_token_id": 5})");
  EXPECT_EQ(verdict(), "config.json: eos_token_id: wanted the id of one of 5 tokens");
}

TEST_F(TokenizerFolderTest, OtherTokenizers) {
  sys::fs::remove(path("tokenizer.json"));
  EXPECT_EQ(verdict(), "none");
  write("tokenizer.model", "x");
  EXPECT_EQ(verdict(), "tokenizer.model: found a tokenizer of this kind alone, wanted tokenizer.json beside it");
  sys::fs::remove(path("tokenizer.model"));
  ASSERT_FALSE(sys::fs::create_link(path("elsewhere"), path("tokenizer.json")));
  EXPECT_NE(verdict(), "none");
}
