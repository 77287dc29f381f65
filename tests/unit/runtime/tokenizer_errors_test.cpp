// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every message of the tokenizer.
#include "runtime/tokenize/Tokenizer.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/StreamDecoder.h"
#include "tests/unit/support/ExpectError.h"
#include "tests/unit/support/TestVocabulary.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// A vocabulary of four normal tokens and one control token.
TokenizerData small() {
  TokenizerData data;
  data.kind = "gpt2";
  data.tokens = {"a", "b", "ab", "abb", "<end>"};
  data.tokenTypes = {1, 1, 1, 1, 3};
  data.merges = {"a b", "ab b"};
  return data;
}

void expectRefused(tw_status_code code, const std::string &message, const std::function<void(TokenizerData &)> &spoil) {
  TokenizerData data = small();
  spoil(data);
  expectError(code, message, [&] { Tokenizer tokenizer(data); });
}

} // namespace

TEST(TokenizerErrors, Accepted) { EXPECT_EQ(Tokenizer(small()).encode("abbab"), (std::vector<int32_t>{3, 2})); }

TEST(TokenizerErrors, Kind) {
  expectRefused(
      TW_UNSUPPORTED,
      "tokenizer: kind 'llama' is not supported; wanted 'gpt2', 'bpe', 'bpe_scores', 'wordpiece', 'wordlevel' or "
      "'unigram'",
      [](auto &d) { d.kind = "llama"; });
  expectRefused(
      TW_UNSUPPORTED,
      "tokenizer: unknown pre-tokenizer rule 'nosuch'; known rules: default, gpt-2, gpt2, phi-2, mpt, olmo, jais, "
      "modern-bert, smollm, starcoder, refact, command-r, codeshell, llama-bpe, llama3, llama-v3, dbrx, smaug-bpe, "
      "qwen2, stablelm2, deepseek-r1-qwen, tekken, gpt-4o, deepseek-v3",
      [](auto &d) { d.pre = "nosuch"; });
}

TEST(TokenizerErrors, Sizes) {
  expectRefused(TW_CORRUPT, "tokenizer: the vocabulary is empty", [](auto &d) { d.tokens.clear(); });
  expectRefused(TW_CORRUPT, "tokenizer: token_types has 4 entries for 5 tokens",
                [](auto &d) { d.tokenTypes.pop_back(); });
  expectRefused(TW_CORRUPT, "tokenizer: scores has 1 entries for 5 tokens", [](auto &d) { d.scores = {1}; });
}

TEST(TokenizerErrors, Tokens) {
  expectRefused(TW_CORRUPT, "tokenizer: token 1 has type 7, wanted 1 to 6", [](auto &d) { d.tokenTypes[1] = 7; });
  expectRefused(TW_CORRUPT, "tokenizer: token 2 has type -1, wanted 1 to 6", [](auto &d) { d.tokenTypes[2] = -1; });
  expectRefused(TW_CORRUPT, "tokenizer: token 4 is empty", [](auto &d) { d.tokens[4] = ""; });
  expectRefused(TW_CORRUPT, "tokenizer: tokens 1 and 3 are both 'b'", [](auto &d) { d.tokens[3] = "b"; });
  expectRefused(TW_CORRUPT, "tokenizer: special token 4 is 1025 bytes long, at most 1024 are possible",
                [](auto &d) { d.tokens[4] = std::string(1025, '<'); });
  for (const std::string text : {"<0x6>", "<0x6G>", "<0xG6>", "0x061>", "<0x61)", "<0x-1>"})
    expectRefused(TW_CORRUPT, "tokenizer: byte token 4 is '" + text + "', wanted the form '<0x0A>'", [&](auto &d) {
      d.tokenTypes[4] = 6;
      d.tokens[4] = text;
    });
}

TEST(TokenizerErrors, SpecialIds) {
  expectRefused(TW_CORRUPT, "tokenizer: bos_id is 5, wanted -1 to 4", [](auto &d) { d.bosId = 5; });
  expectRefused(TW_CORRUPT, "tokenizer: eos_id is -2, wanted -1 to 4", [](auto &d) { d.eosId = -2; });
  expectRefused(TW_CORRUPT, "tokenizer: unk_id is 2147483647, wanted -1 to 4", [](auto &d) { d.unkId = INT32_MAX; });
  expectRefused(TW_CORRUPT, "tokenizer: pad_id is -2147483648, wanted -1 to 4", [](auto &d) { d.padId = INT32_MIN; });
  expectRefused(TW_CORRUPT, "tokenizer: an entry of eot_ids is -1, wanted 0 to 4", [](auto &d) { d.eotIds = {0, -1}; });
  expectRefused(TW_CORRUPT, "tokenizer: add_bos is set, but there is no bos_id", [](auto &d) { d.addBos = true; });
}

TEST(TokenizerErrors, Merges) {
  for (const std::string text : {"", "ab", " ", "a ", " b"})
    expectRefused(TW_CORRUPT, "tokenizer: merge 1 ('" + text + "') is not of the form 'left right'",
                  [&](auto &d) { d.merges[1] = text; });
  expectRefused(TW_CORRUPT, "tokenizer: merge 0 ('a c') needs the token 'c', which the vocabulary lacks",
                [](auto &d) { d.merges[0] = "a c"; });
  expectRefused(TW_CORRUPT, "tokenizer: merge 0 ('b a') needs the token 'ba', which the vocabulary lacks",
                [](auto &d) { d.merges[0] = "b a"; });
  expectRefused(TW_CORRUPT, "tokenizer: merge 0 ('a b c') needs the token 'b c', which the vocabulary lacks",
                [](auto &d) { d.merges[0] = "a b c"; });
  expectRefused(TW_CORRUPT, "tokenizer: merge 1 ('a b') stands in the list twice",
                [](auto &d) { d.merges[1] = "a b"; });
  expectRefused(TW_CORRUPT, "tokenizer: merge 1 ('ab b') involves token 3 ('abb'), which is an unused or a byte token",
                [](auto &d) { d.tokenTypes[3] = 5; });
}

// A control token that merges make is a result in text that may name it; elsewhere it is only a step to longer tokens.
TEST(TokenizerErrors, MergesOfControlTokens) {
  TokenizerData data = small();
  data.tokens = {"a", "b", "ab", "abb", "<end>", "abba"};
  data.tokenTypes = {1, 1, 3, 3, 3, 1};
  data.merges = {"a b", "ab b", "abb a"};
  data.matching = {0, 0, kWholeWordsOnly, kWholeWordsOnly, 0, 0};
  const Tokenizer tokenizer(data);
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(tokenizer.encode("babbb", true), (Ids{1, 3, 1}));
  EXPECT_EQ(tokenizer.encode("babbb"), (Ids{1, 0, 1, 1, 1}));
  EXPECT_EQ(tokenizer.encode("babba", true), (Ids{1, 5}));
  EXPECT_EQ(tokenizer.encode("babba"), (Ids{1, 5}));
  EXPECT_EQ(tokenizer.encode("ab"), (Ids{0, 1}));
  EXPECT_EQ(tokenizer.encode("ab", true), (Ids{2}));
}

TEST(TokenizerErrors, ByteWithoutToken) {
  const Tokenizer tokenizer(small());
  expectError(TW_INVALID, "text: byte 0x63 at offset 2 has no token in this vocabulary of 5 tokens",
              [&] { tokenizer.encode("abc"); });
  expectError(TW_INVALID, "text: byte 0xFF at offset 6 has no token in this vocabulary of 5 tokens",
              [&] { tokenizer.encode("<end>a\xFF", true); });
  EXPECT_EQ(tokenizer.encode("\xFF"
                             "ac<end>b",
                             {.parseSpecial = true, .skipUnencodable = true}),
            (std::vector<int32_t>{0, 4, 1}));
}

TEST(TokenizerErrors, IdsOutsideTheVocabulary) {
  const Tokenizer tokenizer(small());
  for (int32_t id : {-1, 5, INT32_MAX, INT32_MIN}) {
    const std::string tail = ": id " + std::to_string(id) + " is outside the vocabulary of 5 tokens";
    expectError(TW_INVALID, "token 1" + tail, [&] { tokenizer.decode(std::vector<int32_t>{0, id}); });
    expectError(TW_INVALID, "token" + tail, [&] { tokenizer.tokenBytes(id); });
    expectError(TW_INVALID, "token" + tail, [&] { tokenizer.tokenText(id); });
    expectError(TW_INVALID, "token" + tail, [&] { tokenizer.tokenType(id); });
    expectError(TW_INVALID, "token" + tail, [&] { StreamDecoder(tokenizer).push(id); });
  }
  expectError(TW_INVALID, "stop token: id 4294967295 is outside the vocabulary of 5 tokens",
              [&] { tokenizer.checkId(4294967295, "stop token"); });
  expectError(TW_INVALID, "stop token: id 2147483648 is outside the vocabulary of 5 tokens",
              [&] { tokenizer.checkId(2147483648, "stop token"); });
}
