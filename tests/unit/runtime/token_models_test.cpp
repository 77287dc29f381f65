// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokenizers that are not byte-level: what has no token, special tokens of every sort, damaged data.
#include "runtime/api/Error.h"
#include "runtime/tokenize/CharsMap.h"
#include "runtime/tokenize/Tokenizer.h"
#include "runtime/tokenize/UnicodeText.h"
#include "tests/unit/support/ExpectError.h"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>

using namespace tilewright;
using namespace tilewright::test;

namespace {

using Ids = std::vector<int32_t>;

/// Characters a, b and a space sign, joins of them, and the byte tokens of 0xC3, 0xA9 and 0xFF.
TokenizerData scored() {
  TokenizerData data;
  data.kind = "bpe_scores";
  data.tokens = {"<unk>", "<s>", "<0xC3>", "<0xA9>", "<0xFF>", "\xE2\x96\x81", "a",
                 "b",     "ab",  "ba",     "aba",    "cd",     "<u>"};
  data.tokenTypes = {2, 3, 6, 6, 6, 1, 1, 1, 1, 1, 1, 1, 4};
  data.scores = {0, 0, 0, 0, 0, -9, -9, -9, -2, -1, -3, -4, 0};
  data.unkId = 0;
  data.byteFallback = true;
  data.fuseUnknown = true;
  data.normalizers = {{.name = "prepend", .text = " "}, {.name = "replace", .text = " ", .with = "\xE2\x96\x81"}};
  data.decoders = {{.name = "replace", .text = "\xE2\x96\x81", .with = " "},
                   {.name = "strip_first", .text = " ", .number = 1}};
  return data;
}

TokenizerData unigram() {
  TokenizerData data;
  data.kind = "unigram";
  data.tokens = {"<unk>", "a", "b", "ab", "abab", "<x>"};
  data.tokenTypes = {2, 1, 1, 1, 1, 3};
  data.scores = {0, -1, -1, -1.5, -5, 0};
  data.unkId = 0;
  return data;
}

TokenizerData pieces() {
  TokenizerData data;
  data.kind = "wordpiece";
  data.tokens = {"[UNK]", "un", "##able", "##a", "able", "a"};
  data.unkId = 0;
  data.continuation = "##";
  data.mostCharacters = 10;
  data.preTokenizers = {{.name = "split_bert"}};
  data.decoders = {{.name = "word_piece", .text = "##", .flag = true}};
  return data;
}

} // namespace

TEST(ScoredTokenizer, MergesTheBestFirst) {
  const Tokenizer tokenizer(scored());
  EXPECT_EQ(tokenizer.encode("bab"), (Ids{5, 9, 7})); // "ba" is better than "ab"
  EXPECT_EQ(tokenizer.encode("cd"), (Ids{5, 11}));    // of characters that are no tokens
  EXPECT_EQ(tokenizer.encode("c"), (Ids{5, 0}));
  EXPECT_EQ(tokenizer.encode("a<u>b"), (Ids{5, 6, 12, 5, 7})); // user-defined ones are always read
  EXPECT_EQ(tokenizer.encode("<s>a", true), (Ids{1, 5, 6}));
  EXPECT_EQ(tokenizer.encode("aba"), (Ids{5, 10}));
  EXPECT_EQ(tokenizer.decode(Ids{5, 6, 9}), "aba");
  EXPECT_EQ(tokenizer.decode(Ids{1, 5, 6}), "<s> a");
  EXPECT_EQ(tokenizer.decode(Ids{1, 5, 6}, true), "a");
}

TEST(ScoredTokenizer, BytesWithoutCharacters) {
  const Tokenizer tokenizer(scored());
  EXPECT_EQ(tokenizer.encode("\xC3\xA9"), (Ids{5, 2, 3})); // a character by its bytes
  EXPECT_EQ(tokenizer.encode("\xC3\xA8"), (Ids{5, 0}));    // one of them has no token
  EXPECT_EQ(tokenizer.encode("\xFF"
                             "a"),
            (Ids{4, 5, 6}));                                   // no UTF-8
  EXPECT_EQ(tokenizer.encode("\xED\xA0\x80"), (Ids{0, 0, 0})); // a surrogate
  EXPECT_EQ(tokenizer.decode(Ids{5, 2, 3, 4}), "\xC3\xA9\xFF");
}

TEST(UnigramTokenizer, TakesTheBestWay) {
  const Tokenizer tokenizer(unigram());
  EXPECT_EQ(tokenizer.encode("abab"), (Ids{3, 3}));
  EXPECT_EQ(tokenizer.encode("bca"), (Ids{2, 0, 1}));
  EXPECT_EQ(tokenizer.encode("acdcb"), (Ids{1, 0, 2})); // unknown characters in a row are one
  EXPECT_EQ(tokenizer.encode("<x>"), (Ids{0}));
  EXPECT_EQ(tokenizer.encode("<x>", true), (Ids{5}));
  EXPECT_EQ(tokenizer.encode(""), Ids{});
}

TEST(WordPieceTokenizer, UnknownWordsAreWhole) {
  const Tokenizer tokenizer(pieces());
  EXPECT_EQ(tokenizer.encode("unable a"), (Ids{1, 2, 5}));
  EXPECT_EQ(tokenizer.encode("unab a"), (Ids{0, 5}));
  EXPECT_EQ(tokenizer.encode("unaaaaaaaa unaaaaaaaaa"), (Ids{1, 3, 3, 3, 3, 3, 3, 3, 3, 0})); // 10 characters at most
  EXPECT_EQ(tokenizer.encode("a\xFF"
                             "a"),
            (Ids{5, 0, 5}));
  EXPECT_EQ(tokenizer.decode(Ids{1, 2, 5}), "unable a");
}

TEST(TokenizerPrefix, BothEndsOnce) {
  TokenizerData data = pieces();
  data.prefixIds = {4, 5};
  data.suffixIds = {5};
  const Tokenizer tokenizer(data);
  const EncodeOptions both{.addBegin = true, .addEnd = true};
  EXPECT_EQ(tokenizer.encode("un", both), (Ids{4, 5, 1, 5}));
  EXPECT_EQ(tokenizer.encode("able a un", both), (Ids{4, 5, 1, 5}));
  EXPECT_EQ(tokenizer.encode("un a", both), (Ids{4, 5, 1, 5}));
  EXPECT_EQ(tokenizer.encode("", both), (Ids{4, 5, 5}));
}

TEST(TokenizerSpecials, WhiteSpaceAndWords) {
  TokenizerData data = pieces();
  data.tokens.insert(data.tokens.end(), {"<l>", "<r>", "<w>", "N"});
  data.tokenTypes = {2, 1, 1, 1, 1, 1, 4, 4, 4, 4};
  data.matching = {0, 0, 0, 0, 0, 0, kTakesSpaceBefore, kTakesSpaceBehind, kWholeWordsOnly, kInNormalizedText};
  data.normalizers = {{.name = "lowercase"}};
  const Tokenizer tokenizer(data);
  EXPECT_EQ(tokenizer.encode("a \xE2\x80\x83<l> a"), (Ids{5, 6, 5}));
  EXPECT_EQ(tokenizer.encode("a<r>  a"), (Ids{5, 7, 5}));
  EXPECT_EQ(tokenizer.encode("a <w> a"), (Ids{5, 8, 5}));
  EXPECT_EQ(tokenizer.encode("a<w>").back(), 0); // next to a letter it is no token
  EXPECT_EQ(tokenizer.encode("n N"), (Ids{9, 9}));
}

TEST(TokenizerData, ScoresAndStepsAreChecked) {
  auto refuse = [](tw_status_code code, const std::string &message, TokenizerData data) {
    expectError(code, message, [&] { Tokenizer tokenizer(data); });
  };
  TokenizerData data = unigram();
  data.scores.clear();
  refuse(TW_CORRUPT, "tokenizer: kind 'unigram' needs scores, found none", data);
  data = unigram();
  data.scores[3] = std::numeric_limits<double>::quiet_NaN();
  refuse(TW_CORRUPT, "tokenizer: the score of token 3 is not a finite number", data);
  data = unigram();
  data.tokens[4] = std::string(1025, 'a');
  refuse(TW_CORRUPT, "tokenizer: token 4 is 1025 bytes long, at most 1024 are possible", data);
  data = unigram();
  data.matching = {1};
  refuse(TW_CORRUPT, "tokenizer: matching has 1 entries for 6 tokens", data);
  data = unigram();
  data.prefixIds = {6};
  refuse(TW_CORRUPT, "tokenizer: an entry of prefix_ids is 6, wanted 0 to 5", data);
  data = unigram();
  data.suffixIds = {-1};
  refuse(TW_CORRUPT, "tokenizer: an entry of suffix_ids is -1, wanted 0 to 5", data);
  data = unigram();
  data.normalizers = {{.name = "nosuch"}};
  refuse(TW_UNSUPPORTED, "tokenizer: unknown normalizer step 'nosuch'", data);
  data.normalizers = {{.name = "prepend", .text = "\xFF"}};
  refuse(TW_CORRUPT, "tokenizer: normalizer step 'prepend' holds text that is not UTF-8", data);
  data = unigram();
  data.preTokenizers = {{.name = "nosuch"}};
  refuse(TW_UNSUPPORTED, "tokenizer: unknown pre-tokenizer step 'nosuch'", data);
  data.preTokenizers = {{.name = "split_text"}};
  refuse(TW_CORRUPT, "tokenizer: pre-tokenizer step 'split_text': text is empty", data);
  data.preTokenizers = {{.name = "split_punctuation", .number = 5}};
  refuse(TW_CORRUPT, "tokenizer: pre-tokenizer step 'split_punctuation': number is 5, wanted 0 to 4", data);
  data.preTokenizers = {{.name = "metaspace", .text = " "}};
  refuse(TW_CORRUPT, "tokenizer: pre-tokenizer step 'metaspace': text is ' ', wanted a character in place of the space",
         data);
  data = unigram();
  data.decoders = {{.name = "nosuch"}};
  refuse(TW_UNSUPPORTED, "tokenizer: unknown decoder step 'nosuch'", data);
  data.decoders = {{.name = "replace"}};
  refuse(TW_CORRUPT, "tokenizer: decoder step 'replace' has no text", data);
  data = unigram();
  data.unkId = -1;
  expectError(TW_INVALID, "text: byte 0x63 at offset 1 has no token in this vocabulary of 6 tokens",
              [&] { Tokenizer(data).encode("acb"); });
}

TEST(CharsMap, DamagedTablesAreRefusedOrHarmless) {
  auto refuse = [](const std::string &message, const std::string &table) {
    expectError(TW_CORRUPT, "tokenizer: table of replacements (charsmap): " + message, [&] { CharsMap map(table); });
  };
  refuse("3 bytes, wanted at least 4", "abc");
  refuse("a trie of 8 bytes in a table of 8", std::string("\x08\0\0\0abcd", 8));
  refuse("a trie of 0 bytes in a table of 4", std::string(4, '\0'));
  refuse("the last replacement has no end", std::string("\x04\0\0\0\0\0\0\0x", 9));
  refuse("byte 0 of the replacements is not UTF-8", std::string("\x04\0\0\0\0\0\0\0\xFF\0", 10));
  // Units that point anywhere: nothing outside of the table is read, and the text stays UTF-8.
  for (uint32_t unit : {0xFFFFFFFFu, 0x7FFFFFFFu, 0x000FFE00u, 0x80000161u, 0x00000161u, 0x00000761u}) {
    std::string table("\x10\0\0\0", 4);
    for (int i = 0; i < 4; ++i)
      table.append(reinterpret_cast<const char *>(&unit), 4);
    table += std::string("x\xC3\xA9\0", 4);
    const std::string text = "a \xC3\xA9 abc";
    const std::string result = CharsMap(table).apply(text);
    EXPECT_EQ(validUtf8Prefix(result), result.size()) << unit;
  }
}

TEST(UnicodeText, NormalFormsOfLongRuns) {
  EXPECT_EQ(normalForm("e\xCC\x81", NormalForm::C), "\xC3\xA9");
  EXPECT_EQ(normalForm("\xC3\xA9", NormalForm::D), "e\xCC\x81");
  EXPECT_EQ(normalForm("a\xCC\x87\xCC\xA3", NormalForm::D), "a\xCC\xA3\xCC\x87"); // by class: below, then above
  EXPECT_EQ(normalForm("\xEF\xAC\x81", NormalForm::KC), "fi");
  EXPECT_EQ(lowerCase("\xC4\xB0\xCE\xA3"), "i\xCC\x87\xCF\x83");
  // Marks in the wrong order all the way: sorting by exchanging neighbours would take 10^11 steps.
  std::string marks = "a";
  for (int i = 0; i < 250'000; ++i)
    marks += "\xCC\x87";
  for (int i = 0; i < 250'000; ++i)
    marks += "\xCC\xA3";
  const std::clock_t begin = std::clock();
  const std::string sorted = normalForm(marks, NormalForm::D);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5);
  EXPECT_EQ(sorted.substr(0, 3), "a\xCC\xA3");
  EXPECT_EQ(sorted.size(), marks.size());
}
