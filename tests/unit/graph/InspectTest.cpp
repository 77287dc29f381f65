// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Inspect.h"
#include "tests/unit/support/GraphFixture.h"

#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

std::string view(void (*inspect)(const GraphFile &, raw_ostream &), ArrayRef<uint8_t> bytes = sampleGraph()) {
  GraphFile file = cantFail(GraphFile::loadBytes(bufferOf(bytes), "t.twg", {"", /*openWeights=*/false}));
  std::string text;
  raw_string_ostream os(text);
  inspect(file, os);
  return text;
}

TEST(Inspect, Summary) {
  std::string text = view(inspectSummary);
  // The first line ends with the file's size.
  EXPECT_TRUE(StringRef(text).starts_with("t.twg: graph, schema 1, "));
  EXPECT_EQ(StringRef(text).split('\n').second, "  name        sample\n"
                                                "  family      none\n"
                                                "  context     16 tokens\n"
                                                "  plugins     packed, some\n"
                                                "  functions   2\n"
                                                "    layer: 3 ops, called 1 time\n"
                                                "    main: 3 ops, entry\n"
                                                "  arguments   of main\n"
                                                "    input: f32[N, 3]\n"
                                                "    cache: state{f32[?, 2]}\n"
                                                "  weights     2, 104 B\n"
                                                "    !packed.b4: 1, 80 B\n"
                                                "    f32: 1, 24 B\n"
                                                "  tokenizer   gpt2, 3 tokens, 1 merges, no chat template\n");
}

TEST(Inspect, Table) {
  EXPECT_EQ(view(inspectTable),
            "function layer(x: f32[N, 3], w: f32[2, 3], cache: state{f32[?, 2]}) -> (y: f32[N, 2], cache: state{f32[?, "
            "2]})\n"
            "  y: f32[N, 2] = some.op(x, w) groups [1, 0, 1] {i = 1, f = 0.5, b = true, s = 'text', is = [1, 2], fs = "
            "[0.5], ss = ['a', 'b']}\n"
            "    region(%4: f32[])\n"
            "      inner: f32[] = arith.negf(%4)\n"
            "      yield inner\n"
            "  grown: state{f32[?, 2]} = tw.append(cache, y)\n"
            "  return y, grown\n"
            "\n"
            "entry main(input: f32[N, 3], cache: state{f32[?, 2]}) -> (y: f32[N, 2], cache: state{f32[?, 2]})\n"
            "  w: f32[2, 3] = weight() {name = 'w'}\n"
            "  big: !packed.b4[4, 32] = weight() {name = 'big'}\n"
            "  %4: f32[N, 2], %5: state{f32[?, 2]} = call(input, w, cache) {callee = 'layer'}\n"
            "  return %4, %5\n"
            "\n"
            "weight w    f32[2, 3]                    24 bytes inline\n"
            "weight big  !packed.b4[4, 32]            80 bytes at 8 of w.bin, rows [2, 2] by [1, 0]\n");
}

TEST(Inspect, Json) {
  json::Value document = cantFail(json::parse(view(inspectJson)));
  const json::Object &root = *document.getAsObject();
  EXPECT_EQ(root.getString("entry"), "main");
  EXPECT_EQ(root.getInteger("vocab_size"), 3);
  const json::Object &op = *(*(*root.getArray("functions"))[0].getAsObject()->getArray("ops"))[0].getAsObject();
  EXPECT_EQ(op.getString("op"), "some.op");
  EXPECT_EQ(*op.get("operand_segments"), json::Value(json::Array{1, 0, 1}));
  EXPECT_EQ(*op.get("attributes"), json::Value(json::Object{{"i", 1},
                                                            {"f", 0.5},
                                                            {"b", true},
                                                            {"s", "text"},
                                                            {"is", json::Array{1, 2}},
                                                            {"fs", json::Array{0.5}},
                                                            {"ss", json::Array{"a", "b"}}}));
  EXPECT_EQ(*op.get("regions"),
            json::Value(json::Array{json::Object{
                {"arguments", json::Array{json::Object{{"name", "%4"}, {"type", "f32[]"}}}},
                {"ops", json::Array{json::Object{
                            {"op", "arith.negf"},
                            {"operands", json::Array{"%4"}},
                            {"results", json::Array{json::Object{{"name", "inner"}, {"type", "f32[]"}}}}}}},
                {"yields", json::Array{"inner"}}}}));
  const json::Object &weight = *(*root.getArray("weights"))[1].getAsObject();
  EXPECT_EQ(*weight.get("row_permutation"),
            json::Value(json::Object{{"dims", json::Array{2, 2}}, {"perm", json::Array{1, 0}}}));
  EXPECT_EQ(weight.getString("hash"), "0000000000000000");
  EXPECT_EQ(root.getObject("tokenizer")->getInteger("eos_id"), 2);
}

TEST(Inspect, Dot) {
  std::string text = view(inspectDot);
  EXPECT_TRUE(StringRef(text).starts_with("digraph graph_file {"));
  EXPECT_NE(text.find("f0_o0 [shape=box, label=\"some.op\\ny: f32[N, 2]\"];"), std::string::npos);
  EXPECT_NE(text.find("f1_o0 [shape=box, peripheries=2, label=\"call layer\\nw\\n%4: f32[N, 2]"), std::string::npos);
  EXPECT_NE(text.find("f1_v0 -> f1_o0;"), std::string::npos);
  EXPECT_NE(text.find("f0_v0 -> f0_o0;"), std::string::npos);
}

TEST(Inspect, TextOfTheFileCannotBreakTheFormat) {
  std::unique_ptr<graph::GraphT> tree = sampleTree();
  tree->name = "a\nb\x1b[31m";
  tree->functions[0]->values[3]->name = "q\"\\";
  tree->functions[0]->body[0]->attrs[3]->value.AsStringAttr()->value = "\xff\"\n";
  tree->functions[0]->body[0]->attrs[1]->value.AsFloatAttr()->value = NAN;
  std::vector<uint8_t> bytes = pack(*tree);
  EXPECT_NE(view(inspectSummary, bytes).find("name        a\\x0ab\\x1b[31m\n"), std::string::npos);
  EXPECT_NE(view(inspectTable, bytes).find("s = '\\xff\"\\x0a'"), std::string::npos);
  EXPECT_NE(view(inspectDot, bytes).find("label=\"some.op\\nq\\\"\\\\: f32[N, 2]\""), std::string::npos);
  Expected<json::Value> document = json::parse(view(inspectJson, bytes));
  ASSERT_TRUE(bool(document)) << toString(document.takeError());
  EXPECT_NE(view(inspectJson, bytes).find("\"f\": \"nan\""), std::string::npos);
}

} // namespace
