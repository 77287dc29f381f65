// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/speculative_decoding/Options.h"
#include "plugins/speculative_decoding/Fault.h"
#include "plugins/speculative_decoding/Lookup.h"

#include <gtest/gtest.h>

#include <vector>

using namespace tilewright::speculative_decoding;

TEST(Options, AreReadFromWords) {
  Options options = parseOptions("ngram");
  EXPECT_EQ(options.source, Options::Source::Ngram);
  EXPECT_EQ(options.drafted, 5);
  EXPECT_EQ(options.lossyThreshold, 0);
  EXPECT_EQ(parseOptions("ngram:1").drafted, 1);
  EXPECT_EQ(parseOptions("ngram:16").drafted, 16);
  options = parseOptions("draft:/some/where:else,max=3,lossy-threshold=0.25");
  EXPECT_EQ(options.source, Options::Source::DraftModel);
  EXPECT_EQ(parseOptions("mtp,max=2").source, Options::Source::PredictionHeads);
  EXPECT_FALSE(options.lossyUnverified);
  EXPECT_TRUE(parseOptions("mtp,lossy-unverified,max=2").lossyUnverified);
  EXPECT_EQ(options.draftModel, "/some/where:else");
  EXPECT_EQ(options.drafted, 3);
  EXPECT_EQ(options.lossyThreshold, 0.25);
}

TEST(Options, EachFaultHasItsMessage) {
  struct Case {
    const char *words, *message;
  };
  for (const Case &c :
       {Case{"medusa", "the policy is 'medusa', wanted ngram, draft or mtp"},
        {"", "the policy is '', wanted ngram, draft or mtp"},
        {"mtp:3", "mtp is '3', wanted nothing behind it"},
        {"ngram:0", "ngram is '0', wanted 1 to 16 drafted tokens"},
        {"ngram:17", "ngram is '17', wanted 1 to 16 drafted tokens"},
        {"ngram:-1", "ngram is '-1', wanted 1 to 16 drafted tokens"},
        {"ngram:4x", "ngram is '4x', wanted 1 to 16 drafted tokens"},
        {"ngram:99999999999999999999", "ngram is '99999999999999999999', wanted 1 to 16 drafted tokens"},
        {"draft", "draft is '', wanted the folder of a compiled model (draft:FOLDER)"},
        {"draft:,max=2", "draft is '', wanted the folder of a compiled model (draft:FOLDER)"},
        {"ngram,max=", "max is '', wanted 1 to 16 drafted tokens"},
        {"ngram,k=2", "a setting of policy ngram is 'k', wanted max=K, lossy-threshold=P or lossy-unverified"},
        {"mtp,lossy-unverified=1",
         "a setting of policy mtp is 'lossy-unverified', wanted max=K, lossy-threshold=P or lossy-unverified"},
        {"ngram,lossy-threshold=0", "lossy-threshold is '0', wanted a probability above 0, up to 1"},
        {"ngram,lossy-threshold=nan", "lossy-threshold is 'nan', wanted a probability above 0, up to 1"},
        {"ngram,lossy-threshold=1.5", "lossy-threshold is '1.5', wanted a probability above 0, up to 1"}})
    try {
      parseOptions(c.words);
      ADD_FAILURE() << c.words;
    } catch (const Fault &fault) {
      EXPECT_EQ(fault.status, TW_INVALID);
      EXPECT_STREQ(fault.what(), c.message);
    }
}

namespace {
std::vector<int32_t> found(const std::vector<int32_t> &history, size_t capacity, size_t longest = 3) {
  const auto part = lookUp(history, capacity, longest);
  return {part.begin(), part.end()};
}
using Ids = std::vector<int32_t>;
} // namespace

TEST(Lookup, DraftsWhatFollowedBefore) {
  EXPECT_EQ(found({1, 2, 3, 4, 5, 1, 2}, 2), (Ids{3, 4}));
  EXPECT_EQ(found({1, 2, 3, 4, 5, 1, 2}, 9), (Ids{3, 4, 5, 1, 2})) << "up to the end of the text";
  EXPECT_EQ(found({7, 2, 8, 1, 2, 9, 1, 2}, 1), (Ids{9})) << "two tokens that fit before one";
  EXPECT_EQ(found({1, 2, 5, 1, 2, 6, 1, 2}, 1), (Ids{6})) << "the latest of equally long ones";
  EXPECT_EQ(found({4, 1, 2, 3, 5, 9, 1, 2, 3, 6, 4, 1, 2, 3}, 1, 3), (Ids{6}));
  EXPECT_EQ(found({4, 1, 2, 3, 5, 9, 1, 2, 3, 6, 4, 1, 2, 3}, 1, 4), (Ids{5})) << "four tokens that fit";
  EXPECT_EQ(found({3, 3, 3}, 5), (Ids{3})) << "a repetition drafts itself";
  EXPECT_EQ(found({1, 2, 3}, 5), (Ids{}));
  EXPECT_EQ(found({1}, 5), (Ids{}));
  EXPECT_EQ(found({}, 5), (Ids{}));
  EXPECT_EQ(found({1, 2, 1}, 0), (Ids{}));
}
