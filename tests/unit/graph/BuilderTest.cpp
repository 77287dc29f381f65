// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/GraphBuilder.h"
#include "frontend/graph/GraphFile.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tilewright;

namespace {

std::string message(Error error) { return toString(std::move(error)); }

Expected<GraphFile> loadBytes(const std::vector<uint8_t> &bytes) {
  StringRef text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  return GraphFile::loadBytes(MemoryBuffer::getMemBufferCopy(text, "memory"), "memory.twg");
}

TEST(GraphBuilder, FunctionsCallsWeightsAndRegionsLoadBack) {
  GraphBuilder builder("test");
  builder.setName("tiny");
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  builder.addInlineWeight("w", Tensor{"f32", {2, 3}}, ArrayRef(reinterpret_cast<uint8_t *>(numbers), sizeof(numbers)));
  FunctionBuilder &layer = builder.addFunction("layer");
  ValueId x = layer.argument("x", Tensor{"f32", {"N", 3}});
  ValueId w = layer.argument("w", Tensor{"f32", {2, 3}});
  ValueId y = layer.op("tw.linear", {x, w}, Tensor{"f32", {"N", 2}}, {}, "y");
  layer.results({y});
  FunctionBuilder &entry = builder.addFunction("main");
  ValueId input = entry.argument("input", Tensor{"f32", {"N", 3}});
  ValueId out = entry.call(layer, {input, entry.weight("w")}).front();
  ValueId scored = entry.op("other.score", {out}, Tensor{"f32", {"N", 2}}, {Attribute("cap", 2.5)});
  std::vector<ValueId> scalar = entry.beginRegion({Tensor{"f32", {}}});
  entry.endRegion({entry.op("arith.negf", {scalar[0]}, Tensor{"f32", {}})});
  entry.results({scored}, {"scores"});
  builder.setEntry("main");

  Expected<std::vector<uint8_t>> bytes = builder.finish();
  ASSERT_TRUE(bool(bytes)) << message(bytes.takeError());
  Expected<GraphFile> file = loadBytes(*bytes);
  ASSERT_TRUE(bool(file)) << message(file.takeError());
  EXPECT_EQ(file->graph().functions()->size(), 2u);
  EXPECT_EQ(file->graph().required_plugins()->Get(0)->str(), "other");
  ASSERT_EQ(file->graph().required_plugins()->size(), 1u);
  ArrayRef<uint8_t> stored = file->weights().bytes(0);
  ASSERT_EQ(stored.size(), sizeof(numbers));
  EXPECT_EQ(memcmp(stored.data(), numbers, sizeof(numbers)), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(stored.data()) % 4, 0u);
  EXPECT_FALSE(bool(file->weights().checkHash(file->graph(), 0)));
}

TEST(GraphBuilder, MisuseIsReportedByFinish) {
  GraphBuilder builder("test");
  FunctionBuilder &f = builder.addFunction("main");
  builder.setEntry("main");
  f.results({f.weight("nowhere")});
  EXPECT_EQ(message(builder.finish().takeError()),
            "graph builder: function 'main': weight 'nowhere' has not been added");
}

TEST(GraphBuilder, MisuseOfArgumentsAndRegions) {
  Tensor type{"f32", {"N"}};
  auto misuse = [&](void (*use)(FunctionBuilder &, const Tensor &)) {
    GraphBuilder builder("test");
    FunctionBuilder &f = builder.addFunction("main");
    builder.setEntry("main");
    use(f, type);
    return message(builder.finish().takeError());
  };
  EXPECT_EQ(misuse([](FunctionBuilder &f, const Tensor &type) {
              f.op("tw.neg", {f.argument("x", type)}, type);
              f.argument("late", type);
            }),
            "graph builder: function 'main': argument 'late' added after an op");
  EXPECT_EQ(misuse([](FunctionBuilder &f, const Tensor &type) { f.beginRegion({type}); }),
            "graph builder: function 'main': a region is begun before the first op");
  EXPECT_EQ(misuse([](FunctionBuilder &f, const Tensor &) { f.endRegion({}); }),
            "graph builder: function 'main': a region is ended that was not begun");
  EXPECT_EQ(misuse([](FunctionBuilder &f, const Tensor &type) {
              f.op("tw.neg", {f.argument("x", type)}, type);
              f.beginRegion({});
            }),
            "graph builder: function 'main': a region was not ended");
  EXPECT_EQ(misuse([](FunctionBuilder &f, const Tensor &type) { f.results({ValueId{7}}); }),
            "graph builder: function 'main', result 0: found value index 7, wanted an index below 0");
}

TEST(GraphBuilder, EqualNamesBecomeDifferent) {
  GraphBuilder builder("test");
  FunctionBuilder &f = builder.addFunction("main");
  builder.setEntry("main");
  Tensor type{"f32", {"N"}};
  ValueId x = f.argument("x", type);
  ValueId a = f.op("tw.neg", {x}, type, {}, "x");
  ValueId b = f.op("tw.neg", {a}, type, {}, "x");
  f.results({b});
  Expected<std::vector<uint8_t>> bytes = builder.finish();
  ASSERT_TRUE(bool(bytes)) << message(bytes.takeError());
  const graph::Function *function = graph::GetGraph(bytes->data())->functions()->Get(0);
  EXPECT_EQ(function->values()->Get(1)->name()->str(), "x_1");
  EXPECT_EQ(function->values()->Get(2)->name()->str(), "x_2");
}

} // namespace
