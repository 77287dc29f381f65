// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading damaged graph files: never a crash, always an error or a graph that can be used.
#include "frontend/graph/Inspect.h"
#include "tests/unit/support/GraphFixture.h"
#include "tests/unit/support/ProcessorTime.h"

#include <gtest/gtest.h>

#include <unistd.h>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

/// Loads and, if that succeeds, reads all of the graph by every view of it.
bool loadAndUse(ArrayRef<uint8_t> bytes) {
  Expected<GraphFile> file = GraphFile::loadBytes(bufferOf(bytes), "t.twg", {"", /*openWeights=*/false});
  if (!file) {
    EXPECT_FALSE(toString(file.takeError()).empty());
    return false;
  }
  std::string text;
  raw_string_ostream os(text);
  inspectSummary(*file, os);
  inspectTable(*file, os);
  inspectJson(*file, os);
  inspectDot(*file, os);
  EXPECT_FALSE(text.empty());
  return true;
}

TEST(Load, TooShortOrNotAGraph) {
  EXPECT_EQ(verdict({}), "t.twg: found a file of 0 bytes, wanted a graph file (at least 8)");
  EXPECT_EQ(verdict({'T', 'W', 'G', '1', 0, 0, 0}), "t.twg: found a file of 7 bytes, wanted a graph file (at least 8)");
  EXPECT_EQ(verdict({4, 0, 0, 0, 'G', 'G', 'U', 'F'}),
            "t.twg: found the file identifier 'GGUF', wanted 'TWG1': not a Tilewright graph file");
  // An offset that leads out of the file, and the identifier.
  EXPECT_EQ(
      verdict({0x18, 0, 0, 0, 'T', 'W', 'G', '1'}),
      "t.twg: damaged: the FlatBuffers verifier refuses its 8 bytes (an offset, a size or a required field is wrong, "
      "tables nest deeper than 64, or vectors share so many bytes that it holds more entries than bytes)");
}

TEST(Load, SchemaVersion) {
  for (uint32_t version : {0u, 2u, 0xffffffffu}) {
    std::unique_ptr<graph::GraphT> tree = sampleTree();
    tree->schema_version = version;
    EXPECT_EQ(verdict(pack(*tree)), "t.twg: found schema version " + std::to_string(version) +
                                        ", wanted 1 to 1: written by a newer Tilewright, or damaged");
  }
}

/// sample-1.twg is what `sampleGraph` gave when schema version 1 was fixed; it stays readable.
TEST(Load, FileOfSchemaVersion1) {
  std::vector<uint8_t> bytes = readBytes(TILEWRIGHT_TEST_DATA "/golden/graph/sample-1.twg");
  ASSERT_TRUE(loadAndUse(bytes));
  GraphFile file = cantFail(GraphFile::loadBytes(bufferOf(bytes), "t.twg", {"", /*openWeights=*/false}));
  EXPECT_EQ(file.graph().schema_version(), 1u);
  std::unique_ptr<graph::GraphT> stored(file.graph().UnPack()), now = sampleTree();
  EXPECT_EQ(pack(*stored), pack(*now));
}

TEST(Load, FilesThatAreNone) {
  TestFolder folder;
  EXPECT_EQ(toString(GraphFile::load(folder.path("none.twg")).takeError()),
            folder.path("none.twg") + ": No such file or directory");
  EXPECT_EQ(toString(GraphFile::load(folder.path()).takeError()), folder.path() + ": is not a regular file");
  std::string large = folder.write("large.twg", {});
  ASSERT_EQ(truncate(large.c_str(), int64_t(1) << 31), 0);
  EXPECT_EQ(toString(GraphFile::load(large).takeError()),
            large + ": found a file of 2147483648 bytes, wanted at most 2147483646");
}

TEST(Load, MisalignedCopy) {
  std::vector<uint8_t> bytes = sampleGraph();
  for (size_t shift : {1, 2, 3, 4, 7, 8}) {
    std::vector<uint8_t> shifted(shift);
    shifted.insert(shifted.end(), bytes.begin(), bytes.end());
    StringRef view(reinterpret_cast<const char *>(shifted.data()) + shift, bytes.size());
    Expected<GraphFile> file = GraphFile::loadBytes(
        MemoryBuffer::getMemBuffer(view, "shifted", /*RequiresNullTerminator=*/false), "t.twg", {"", false});
    ASSERT_TRUE(bool(file)) << toString(file.takeError());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&file->graph()) % 4, 0u);
  }
}

TEST(Load, EveryPrefix) {
  std::vector<uint8_t> bytes = sampleGraph();
  ASSERT_TRUE(loadAndUse(bytes));
  size_t accepted = 0;
  for (size_t length = 0; length < bytes.size(); ++length)
    accepted += loadAndUse(ArrayRef(bytes).take_front(length));
  // A few bytes of padding may end the file.
  EXPECT_LT(accepted, 8u);
}

TEST(Load, EveryByteChanged) {
  const std::vector<uint8_t> bytes = sampleGraph();
  size_t accepted = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::vector<uint8_t> changed = bytes;
    for (int value : {0, 255, bytes[at] ^ 1, bytes[at] ^ 0x80}) {
      changed[at] = static_cast<uint8_t>(value);
      accepted += loadAndUse(changed);
    }
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, bytes.size() * 4);
}

TEST(Load, EveryWordChanged) {
  const std::vector<uint8_t> bytes = sampleGraph();
  size_t accepted = 0;
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4)
    for (uint32_t value : {0u, 1u, 0x7fffffffu, 0xffffffffu, 0x80000000u, uint32_t(bytes.size()), uint32_t(at)}) {
      std::vector<uint8_t> changed = bytes;
      memcpy(changed.data() + at, &value, 4);
      accepted += loadAndUse(changed);
    }
  EXPECT_LT(accepted, bytes.size() / 4 * 7);
}

TEST(Load, VectorsThatShareBytesAreNotWalkedAgainAndAgain) {
  // 3000 ops that are one op of 3000 operands: nine million operands in a file of 30 kB.
  flatbuffers::FlatBufferBuilder builder;
  constexpr size_t count = 3000;
  auto element = builder.CreateString("f32");
  auto type = graph::CreateTensorType(builder, element);
  auto value = graph::CreateValue(builder, builder.CreateString("x"), graph::Type::TensorType, type.Union());
  auto operands = builder.CreateVector(std::vector<uint32_t>(count, 0));
  auto op = graph::CreateOp(builder, builder.CreateString("tw.none"), operands);
  auto body = builder.CreateVector(std::vector<flatbuffers::Offset<graph::Op>>(count, op));
  auto arguments = builder.CreateVector(std::vector<uint32_t>{0});
  auto values = builder.CreateVector(std::vector<flatbuffers::Offset<graph::Value>>{value});
  auto name = builder.CreateString("main");
  auto function = graph::CreateFunction(builder, name, values, arguments, 0, 0, body);
  auto functions = builder.CreateVector(std::vector<flatbuffers::Offset<graph::Function>>{function});
  graph::FinishGraphBuffer(builder, graph::CreateGraph(builder, 1, 0, 0, functions, name));
  EXPECT_EQ(
      verdict({builder.GetBufferPointer(), builder.GetSize()}),
      "t.twg: function 'main', op 8 'tw.none', operands: found more, wanted fewer entries than the file has bytes: "
      "its vectors share bytes");
}

/// A file of about a megabyte whose `count` attributes are one list of `count` strings, or whose functions are one.
std::vector<uint8_t> manyTimesTheSame(uint32_t count, bool strings) {
  flatbuffers::FlatBufferBuilder builder;
  auto name = builder.CreateString("main");
  flatbuffers::Offset<graph::Op> op;
  if (strings) {
    auto list = builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(count, name));
    std::vector<flatbuffers::Offset<graph::Attr>> attributes;
    for (uint32_t i = 0; i < count / 8; ++i)
      attributes.push_back(graph::CreateAttr(builder, name, graph::AttrValue::StringsAttr,
                                             graph::CreateStringsAttr(builder, list).Union()));
    op = graph::CreateOp(builder, name, 0, 0, 0, builder.CreateVector(attributes));
  } else {
    op = graph::CreateOp(builder, name);
  }
  auto body = builder.CreateVector(std::vector<flatbuffers::Offset<graph::Op>>(strings ? 1 : count, op));
  auto values = builder.CreateVector(std::vector<flatbuffers::Offset<graph::Value>>());
  auto function = graph::CreateFunction(builder, name, values, 0, 0, 0, body);
  auto functions =
      builder.CreateVector(std::vector<flatbuffers::Offset<graph::Function>>(strings ? 1 : count, function));
  graph::FinishGraphBuffer(builder, graph::CreateGraph(builder, 1, 0, 0, functions, name));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

TEST(Load, SharedStorageDoesNotCostTheSquareOfTheFile) {
  for (bool strings : {true, false}) {
    std::vector<uint8_t> bytes = manyTimesTheSame(130'000, strings);
    ASSERT_GT(bytes.size(), 900'000u);
    ASSERT_LT(bytes.size(), 1'200'000u);
    double start = processorTime();
    EXPECT_TRUE(StringRef(verdict(bytes)).starts_with("t.twg: damaged: the FlatBuffers verifier refuses"));
    EXPECT_LT(processorTime() - start, 1.0) << (strings ? "strings" : "tables");
  }
}

TEST(Load, RegionsWithinRegions) {
  auto nested = [](size_t depth) {
    auto tree = std::make_unique<graph::GraphT>();
    tree->functions.push_back(std::make_unique<graph::FunctionT>());
    tree->functions[0]->name = tree->entry = "main";
    auto *body = &tree->functions[0]->body;
    for (size_t i = 0; i < depth; ++i) {
      body->push_back(std::make_unique<graph::OpT>());
      body->back()->name = "tw.nest";
      body->back()->regions.push_back(std::make_unique<graph::RegionT>());
      body = &body->back()->regions[0]->body;
    }
    return verdict(pack(*tree));
  };
  EXPECT_EQ(nested(30), "accepted");
  EXPECT_TRUE(StringRef(nested(40)).starts_with("t.twg: damaged: the FlatBuffers verifier refuses"));
}

} // namespace
