// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Distances in a syntax tree from the heads of its tokens.
#include "plugins/position_encoding/SyntaxTree.h"

#include "gtest/gtest.h"

using namespace tilewright::position_encoding;

namespace {

using Matrix = std::vector<int32_t>;

Matrix distances(std::vector<int64_t> heads, int32_t clip) {
  llvm::Expected<Matrix> found = treeDistances(heads, clip);
  if (!found) {
    ADD_FAILURE() << llvm::toString(found.takeError());
    return {};
  }
  return *found;
}

std::string errorOf(std::vector<int64_t> heads, int32_t clip = 8) {
  llvm::Expected<Matrix> found = treeDistances(heads, clip);
  EXPECT_FALSE(static_cast<bool>(found));
  return found ? std::string() : llvm::toString(found.takeError());
}

// "the cat sat down": the <- cat <- sat -> down
TEST(SyntaxTree, Edges) {
  EXPECT_EQ(distances({1, 2, -1, 2}, 8), (Matrix{0, 1, 2, 3, 1, 0, 1, 2, 2, 1, 0, 1, 3, 2, 1, 0}));
  EXPECT_EQ(distances({1, 2, -1, 2}, 2), (Matrix{0, 1, 2, 2, 1, 0, 1, 2, 2, 1, 0, 1, 2, 2, 1, 0}));
  EXPECT_EQ(distances({1, 2, -1, 2}, 0), Matrix(16, 0));
}

// Siblings are two apart, whatever the order of their heads.
TEST(SyntaxTree, Siblings) { EXPECT_EQ(distances({2, 2, -1}, 5), (Matrix{0, 2, 1, 2, 0, 1, 1, 1, 0})); }

TEST(SyntaxTree, TokensOfTwoTreesAreTheClipApart) {
  EXPECT_EQ(distances({-1, 0, -1}, 4), (Matrix{0, 1, 4, 1, 0, 4, 4, 4, 0}));
}

TEST(SyntaxTree, NoTokensAndOne) {
  EXPECT_EQ(distances({}, 4), Matrix{});
  EXPECT_EQ(distances({-1}, 4), Matrix{0});
}

// The same as paths found edge by edge, over trees of 1 to 40 tokens.
TEST(SyntaxTree, AgreesWithShortestPaths) {
  uint32_t seed = 1;
  for (int64_t count = 1; count <= 40; ++count) {
    std::vector<int64_t> heads(count, -1);
    for (int64_t t = 1; t < count; ++t)
      heads[t] = (seed = seed * 1664525 + 1013904223) % t;
    constexpr int32_t kClip = 6;
    Matrix paths(count * count, kClip);
    for (int64_t t = 0; t < count; ++t) {
      paths[t * count + t] = 0;
      if (heads[t] >= 0)
        paths[t * count + heads[t]] = paths[heads[t] * count + t] = 1;
    }
    for (int64_t via = 0; via < count; ++via)
      for (int64_t a = 0; a < count; ++a)
        for (int64_t b = 0; b < count; ++b)
          paths[a * count + b] = std::min(paths[a * count + b], paths[a * count + via] + paths[via * count + b]);
    EXPECT_EQ(distances(heads, kClip), paths) << count << " tokens";
  }
}

TEST(SyntaxTree, ErrorsNameTheToken) {
  EXPECT_EQ(errorOf({1, 9, -1}), "token 1 has the head 9, wanted -1 (root) or a token from 0 to 2");
  EXPECT_EQ(errorOf({-1, -2}), "token 1 has the head -2, wanted -1 (root) or a token from 0 to 1");
  EXPECT_EQ(errorOf({-1, 2, 3, 1}), "token 1 is its own ancestor: its heads lead back to it without a root");
  EXPECT_EQ(errorOf({-1, 1}), "token 1 is its own ancestor: its heads lead back to it without a root");
  EXPECT_EQ(errorOf({-1}, -1), "distances are clipped to -1, wanted 0 or more");
}

} // namespace
