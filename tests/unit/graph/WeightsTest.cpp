// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights: their entries in the graph, and the files that they name.
#include "frontend/graph/BeneathFile.h"
#include "tests/unit/support/GraphFixture.h"

#include <gtest/gtest.h>

#include <functional>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

std::string damaged(const std::function<void(graph::WeightT &)> &damage, size_t index = 1) {
  std::unique_ptr<graph::GraphT> tree = sampleTree();
  damage(*tree->weights[index]);
  return verdict(pack(*tree));
}

using W = graph::WeightT;
const std::string place = "t.twg: weight 'big'";

TEST(Weights, Entries) {
  EXPECT_EQ(damaged([](W &w) { w.name = "w"; }), "t.twg: weight 'w': found the name twice, wanted different names");
  EXPECT_EQ(damaged([](W &w) { w.name = "\n"; }),
            "t.twg: weight '\\x0a': wanted a name of 1 to 1024 bytes of UTF-8 without control characters");
  EXPECT_EQ(damaged([](W &w) { w.type->element = "f31"; }),
            place + ", type: found element type 'f31', wanted a builtin one (f32, i32, ...) or \"!dialect.type\"");
  EXPECT_EQ(damaged([](W &w) { w.type->shape[0]->size = 0; }),
            place + ", type: found !packed.b4[0, 32], wanted each dimension a number of at least 1");
  EXPECT_EQ(damaged([](W &w) { w.type->shape[0]->size = -1; }),
            place + ", type: found an unknown dimension, wanted a size or a symbol");
  EXPECT_EQ(damaged([](W &w) {
              w.type->shape[0]->size = -1;
              w.type->shape[0]->symbol = "N";
            }),
            place + ", type: found !packed.b4[N, 32], wanted each dimension a number of at least 1");
  EXPECT_EQ(damaged([](W &w) {
              w.type->shape[0]->size = int64_t(1) << 32;
              w.type->shape[1]->size = int64_t(1) << 32;
            }),
            place + ", type: found !packed.b4[4294967296, 4294967296], wanted a size below 2^64 bytes");
  EXPECT_EQ(damaged([](W &w) { w.file = ""; }),
            place + ": found neither inline bytes nor a file, wanted one of the two");
  EXPECT_EQ(damaged([](W &w) { w.inline_data = {1}; }),
            place + ": found inline bytes and an extent in a file, wanted one of the two");
  EXPECT_EQ(damaged([](W &w) { w.offset = UINT64_MAX - 8; }),
            place + ": found offset 18446744073709551607 and length 80, wanted a sum below 2^64");
  EXPECT_EQ(damaged([](W &w) { w.length = 0; }), place + ", length: found 0 bytes, wanted at least 1");
  EXPECT_EQ(damaged([](W &w) { w.type->element = "f32"; }),
            place + ", length: found 80 bytes, wanted 512 for f32[4, 32]");
  EXPECT_EQ(damaged([](W &w) {
              w.type->element = "f32";
              w.length = 512;
              w.offset = 10;
            }),
            place + ", offset: found 10, wanted a multiple of 4, the size of an element");
  EXPECT_EQ(damaged(
                [](W &w) {
                  w.inline_data.pop_back();
                  w.length = 0;
                },
                0),
            "t.twg: weight 'w', length: found 23 bytes, wanted 24 for f32[2, 3]");
}

TEST(Weights, RowPermutations) {
  std::string at = place + ", row_permutation: ";
  EXPECT_EQ(damaged([](W &w) { w.row_permutation->dims = {2, 3}; }),
            at + "found dims with the product 6, wanted the 4 rows of the weight");
  EXPECT_EQ(damaged([](W &w) { w.row_permutation->dims = {-2, -2}; }),
            at + "found dims with the product beyond 64 bits, wanted the 4 rows of the weight");
  EXPECT_EQ(damaged([](W &w) { w.row_permutation->dims = {INT64_MAX, INT64_MAX}; }),
            at + "found dims with the product beyond 64 bits, wanted the 4 rows of the weight");
  EXPECT_EQ(damaged([](W &w) { w.row_permutation->dims = {4}; }),
            at + "found 1 dims and 2 entries of perm, wanted as many of one as of the other, 1 to 16");
  EXPECT_EQ(damaged([](W &w) { w.row_permutation->perm = {1, 1}; }),
            at + "found perm entry 1, wanted each of 0 to 1 once");
  EXPECT_EQ(damaged([](W &w) { w.row_permutation->perm = {1, UINT32_MAX}; }),
            at + "found perm entry 4294967295, wanted each of 0 to 1 once");
  EXPECT_EQ(damaged([](W &w) { w.type->shape.clear(); }), at + "found it on a scalar, wanted a weight with rows");
}

TEST(Weights, PathsThatLeaveTheFolder) {
  std::pair<std::string, const char *> paths[] = {
      {"../w.bin", "has a part '..'"}, {"a/../../w.bin", "has a part '..'"}, {"/etc/passwd", "is absolute"},
      {"a//b", "has an empty part"},   {"./w.bin", "has a part '.'"},        {"a/", "has an empty part"},
      {"..", "has a part '..'"},
  };
  for (const auto &[path, problem] : paths)
    EXPECT_EQ(damaged([&](W &w) { w.file = path; }),
              place + ", file: found '" + path + "', which " + problem +
                  "; wanted a relative path beneath the graph's folder or --weights-dir");
  EXPECT_EQ(damaged([&](W &w) { w.file = std::string("w\0.bin", 6); }),
            place + ", file: found 'w\\x00.bin', which is not a file name of 1 to 1024 bytes of UTF-8 without control "
                    "characters; wanted a relative path beneath the graph's folder or --weights-dir");
}

class WeightFiles : public testing::Test {
protected:
  /// Loads the sample graph from the folder after `change`; the error without the folder, or "accepted".
  std::string load(StringRef weightsDir = "", const std::function<void(graph::GraphT &)> &change = nullptr) {
    std::unique_ptr<graph::GraphT> tree = sampleTree();
    if (change)
      change(*tree);
    std::string path = folder.write("graphs/g.twg", pack(*tree));
    Expected<GraphFile> file = GraphFile::load(path, {weightsDir.str(), true});
    if (file) {
      ArrayRef<uint8_t> bytes = file->weights().bytes(1);
      EXPECT_EQ(bytes.size(), 80u);
      EXPECT_EQ(bytes.front(), 7);
      EXPECT_EQ(bytes.back(), 7);
      return "accepted";
    }
    std::string message = toString(file.takeError());
    for (size_t at; (at = message.find(folder.path())) != std::string::npos;)
      message.replace(at, folder.path().size(), "DIR");
    return message;
  }

  void SetUp() override {
    folder.makeFolder("graphs");
    folder.makeFolder("elsewhere");
  }

  TestFolder folder;
};

TEST_F(WeightFiles, AreFoundBesideTheGraphOrInTheGivenFolder) {
  EXPECT_EQ(load(), "DIR/graphs/g.twg: weights file 'w.bin' not found beneath 'DIR/graphs'; put it there or give its "
                    "folder with --weights-dir");
  folder.write("elsewhere/w.bin", sampleWeights());
  EXPECT_EQ(load(folder.path("elsewhere")), "accepted");
  EXPECT_EQ(load(folder.path("graphs")), "DIR/graphs/g.twg: weights file 'w.bin' not found beneath 'DIR/graphs', "
                                         "'DIR/graphs'; put it there or give its folder with --weights-dir");
  folder.write("graphs/w.bin", sampleWeights());
  EXPECT_EQ(load(), "accepted");
  folder.makeFolder("empty");
  EXPECT_EQ(load(folder.path("empty")), "accepted");
}

TEST_F(WeightFiles, ExtentsLieWithinTheFile) {
  std::vector<uint8_t> bytes = sampleWeights();
  bytes.pop_back();
  folder.write("graphs/w.bin", bytes);
  EXPECT_EQ(load(),
            "DIR/graphs/g.twg: weight 'big': found offset 8 and length 80, wanted an extent within the 87 bytes "
            "of 'w.bin'");
  EXPECT_EQ(
      load("", [](graph::GraphT &t) { t.weights[1]->offset = uint64_t(1) << 62; }),
      "DIR/graphs/g.twg: weight 'big': found offset 4611686018427387904 and length 80, wanted an extent within the "
      "87 bytes of 'w.bin'");
  folder.write("graphs/w.bin", {});
  EXPECT_EQ(load(), "DIR/graphs/g.twg: weight 'big': found offset 8 and length 80, wanted an extent within the 0 bytes "
                    "of 'w.bin'");
}

TEST_F(WeightFiles, LinksAreNotFollowed) {
  folder.write("elsewhere/w.bin", sampleWeights());
  std::string message = "DIR/graphs/g.twg: weights file: DIR/graphs/";
  ASSERT_EQ(symlink(folder.path("elsewhere/w.bin").c_str(), folder.path("graphs/w.bin").c_str()), 0);
  EXPECT_EQ(load(), message + "w.bin: a link stands in the way at 'w.bin'; weights are read without following links");
  ASSERT_EQ(symlink(folder.path("elsewhere").c_str(), folder.path("graphs/sub").c_str()), 0);
  EXPECT_EQ(load("", [](graph::GraphT &t) { t.weights[1]->file = "sub/w.bin"; }),
            message + "sub/w.bin: a link stands in the way at 'sub'; weights are read without following links");
  // The folder itself is the user's choice, link or not.
  EXPECT_EQ(load(folder.path("graphs/sub")), "accepted");
}

TEST_F(WeightFiles, OnlyRegularFiles) {
  ASSERT_EQ(mkfifo(folder.path("graphs/w.bin").c_str(), 0600), 0);
  EXPECT_EQ(load(), "DIR/graphs/g.twg: weights file: DIR/graphs/w.bin: is not a regular file");
  ASSERT_EQ(unlink(folder.path("graphs/w.bin").c_str()), 0);
  folder.makeFolder("graphs/w.bin");
  EXPECT_EQ(load(), "DIR/graphs/g.twg: weights file: DIR/graphs/w.bin: is not a regular file");
  EXPECT_EQ(load("", [](graph::GraphT &t) { t.weights[1]->file = "g.twg/w.bin"; }),
            "DIR/graphs/g.twg: weights file: DIR/graphs/g.twg/w.bin: Not a directory");
}

TEST_F(WeightFiles, HashesAreCheckedOnRequest) {
  folder.write("graphs/w.bin", sampleWeights());
  GraphFile file = cantFail(GraphFile::load(folder.write("graphs/g.twg", sampleGraph())));
  EXPECT_EQ(toString(file.weights().checkHash(file.graph(), 0)), "");
  std::string message = toString(file.weights().checkHash(file.graph(), 1));
  EXPECT_TRUE(StringRef(message).starts_with("weight 'big': its bytes have the hash "));
  EXPECT_TRUE(StringRef(message).ends_with(", wanted 0000000000000000; the weights file has changed since the import"));
}

TEST(Weights, InlineBytesAreLimited) {
  GraphBuilder builder("test");
  std::vector<uint8_t> bytes((64 << 20) + 1);
  builder.addInlineWeight("w", Tensor{"i8", {int64_t(bytes.size())}}, bytes);
  builder.addFunction("main");
  builder.setEntry("main");
  EXPECT_EQ(toString(builder.finish().takeError()),
            "graph builder: weight 'w': more than 67108864 bytes of inline weights");
}

} // namespace
