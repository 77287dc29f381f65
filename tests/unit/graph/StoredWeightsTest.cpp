// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that are put together: of parts, and stored transposed.
#include "frontend/graph/Access.h"
#include "frontend/graph/GraphBuilder.h"
#include "frontend/graph/GraphFile.h"
#include "tests/unit/support/TestFolder.h"

#include "llvm/Support/xxhash.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

class StoredWeights : public testing::Test {
protected:
  StoredWeights() {
    for (uint8_t i = 0; i < 96; ++i)
      bytes.push_back(i);
    folder.write("w.bin", bytes);
  }

  WeightExtent extent(uint64_t offset, uint64_t length) const {
    return {"w.bin", offset, length, xxh3_64bits(ArrayRef(bytes).slice(offset, length))};
  }

  Expected<GraphFile> load(Tensor type, std::vector<WeightExtent> parts, bool transposed) {
    GraphBuilder builder("test");
    builder.addWeight("w", type, std::move(parts), transposed);
    FunctionBuilder &f = builder.addFunction("main");
    f.results({f.weight("w")}, {"y"});
    builder.setEntry("main");
    Expected<std::vector<uint8_t>> graph = builder.finish();
    if (!graph)
      return graph.takeError();
    return GraphFile::loadBytes(bufferOf(*graph), folder.path("g.twg"));
  }

  std::vector<uint8_t> bytesOf(Expected<GraphFile> file) {
    EXPECT_TRUE(bool(file)) << toString(file.takeError());
    WeightBytes found = file->weights().bytes(0);
    return {found.data(), found.data() + found.size()};
  }

  std::string verdict(Expected<GraphFile> file) {
    if (file)
      return "accepted";
    std::string message = toString(file.takeError());
    return message.substr(message.find("weight 'w'"));
  }

  TestFolder folder;
  std::vector<uint8_t> bytes;
};

TEST_F(StoredWeights, Parts) {
  Expected<GraphFile> file = load(Tensor{"f32", {2, 3}}, {extent(24, 12), extent(0, 12)}, false);
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  EXPECT_FALSE(bool(file->weights().checkHash(file->graph(), 0)));
  EXPECT_EQ(file->graph().weights()->Get(0)->length(), 24u);
  std::vector<uint8_t> wanted(bytes.begin() + 24, bytes.begin() + 36);
  wanted.insert(wanted.end(), bytes.begin(), bytes.begin() + 12);
  EXPECT_EQ(bytesOf(std::move(file)), wanted);
}

TEST_F(StoredWeights, OnePartIsAnExtent) {
  GraphFile file = cantFail(load(Tensor{"f32", {2, 3}}, {extent(8, 24)}, false));
  EXPECT_EQ(sizeOf(file.graph().weights()->Get(0)->parts()), 0u);
  EXPECT_EQ(file.graph().weights()->Get(0)->offset(), 8u);
}

TEST_F(StoredWeights, Transposed) {
  // [3, 2] of 16 bits, stored as [2, 3].
  EXPECT_EQ(bytesOf(load(Tensor{"f16", {3, 2}}, {extent(0, 12)}, true)),
            (std::vector<uint8_t>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
  // A large one, by its definition.
  std::vector<uint8_t> large(70 * 45 * 4);
  for (size_t i = 0; i < large.size(); ++i)
    large[i] = static_cast<uint8_t>(i * 7 + i / 251);
  folder.write("large.bin", large);
  std::vector<uint8_t> found =
      bytesOf(load(Tensor{"f32", {70, 45}}, {{"large.bin", 0, large.size(), xxh3_64bits(large)}}, true));
  ASSERT_EQ(found.size(), large.size());
  for (size_t row = 0; row < 70; ++row)
    for (size_t column = 0; column < 45; ++column)
      for (size_t byte = 0; byte < 4; ++byte)
        ASSERT_EQ(found[(row * 45 + column) * 4 + byte], large[(column * 70 + row) * 4 + byte]);
}

TEST_F(StoredWeights, PartsThatAreTransposed) {
  EXPECT_EQ(bytesOf(load(Tensor{"f16", {2, 2, 2}}, {extent(8, 8), extent(0, 8)}, true)),
            (std::vector<uint8_t>{8, 9, 12, 13, 10, 11, 14, 15, 0, 1, 4, 5, 2, 3, 6, 7}));
}

TEST_F(StoredWeights, AChangedPart) {
  GraphFile file = cantFail(load(Tensor{"f32", {2, 3}}, {extent(24, 12), extent(0, 12)}, false));
  WeightExtent wrong = extent(0, 12);
  ++wrong.hash;
  GraphFile other = cantFail(load(Tensor{"f32", {2, 3}}, {extent(24, 12), wrong}, false));
  EXPECT_NE(toString(other.weights().checkHash(other.graph(), 0)).find("the weights file has changed"),
            std::string::npos);
}

TEST_F(StoredWeights, WhatIsRefused) {
  EXPECT_EQ(verdict(load(Tensor{"f32", {3, 2}}, {extent(0, 12), extent(12, 12)}, false)),
            "weight 'w', parts: found 2 of f32[3, 2], wanted a number that divides its first dimension");
  EXPECT_EQ(verdict(load(Tensor{"f32", {2, 3}}, {extent(0, 8), extent(8, 16)}, false)),
            "weight 'w', parts[0]: found 8 bytes, wanted one of 2 equal parts of 24");
  EXPECT_EQ(verdict(load(Tensor{"f32", {2, 3}}, {extent(0, 12), extent(13, 12)}, false)),
            "weight 'w', parts[1], offset: found 13, wanted a multiple of 4, the size of an element");
  EXPECT_EQ(
      verdict(load(Tensor{"f32", {2, 3}}, {extent(0, 12), {"../w", 0, 12, 0}}, false)),
      "weight 'w', parts[1], file: found '../w', which has a part '..'; wanted a relative path beneath the graph's "
      "folder or --weights-dir");
  EXPECT_EQ(verdict(load(Tensor{"f32", {2, 3}}, {extent(0, 12), {"w.bin", 88, 12, 0}}, false)),
            "weight 'w': found offset 88 and length 12, wanted an extent within the 96 bytes of 'w.bin'");
  EXPECT_EQ(verdict(load(Tensor{"f16", {4, 3}}, {extent(0, 12), extent(12, 12)}, true)),
            "weight 'w', transposed: found 2 parts of the matrix f16[4, 3], wanted parts of whole matrices");
  EXPECT_EQ(
      verdict(load(Tensor{"f32", {6}}, {extent(0, 24)}, true)),
      "weight 'w', transposed: wanted at least two dimensions, a builtin element type, and neither inline bytes nor a "
      "row_permutation");
}

} // namespace
