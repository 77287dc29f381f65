// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small graph that uses every kind of table and field, as an object tree that tests damage and pack again.
#ifndef TILEWRIGHT_TESTS_UNIT_SUPPORT_GRAPHFIXTURE_H
#define TILEWRIGHT_TESTS_UNIT_SUPPORT_GRAPHFIXTURE_H

#include "frontend/graph/GraphBuilder.h"
#include "frontend/graph/GraphFile.h"
#include "tests/unit/support/TestFolder.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewright::test {

/// Functions: 0 "layer" (x, w, cache) with one op of two groups and a region, 1 "main" that calls it. Weights: 0 "w"
/// inline, 1 "big" in w.bin. Values of "main": 0 input, 1 cache, 2 w, 3 big, 4 and 5 the call's results.
inline std::vector<uint8_t> sampleGraph() {
  GraphBuilder builder("test");
  builder.setName("sample");
  builder.setFamily("none");
  builder.setContextLength(16);
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  builder.addInlineWeight("w", Tensor{"f32", {2, 3}},
                          llvm::ArrayRef(reinterpret_cast<uint8_t *>(numbers), sizeof(numbers)));
  builder.addWeight("big", Tensor{"!packed.b4", {4, 32}}, {"w.bin", 8, 80, 0}, RowOrder{{2, 2}, {1, 0}});
  ValueType state = ValueType::state({Tensor{"f32", {Dimension::unknown(), 2}}});

  FunctionBuilder &layer = builder.addFunction("layer");
  ValueId x = layer.argument("x", Tensor{"f32", {"N", 3}});
  ValueId w = layer.argument("w", Tensor{"f32", {2, 3}});
  ValueId cache = layer.argument("cache", state);
  OpSpec spec;
  spec.name = "some.op";
  spec.operands = {x, w};
  spec.operandSegments = {1, 0, 1};
  spec.attributes = {{"i", 1},
                     {"f", 0.5},
                     {"b", true},
                     {"s", "text"},
                     {"is", std::vector<int64_t>{1, 2}},
                     {"fs", std::vector<double>{0.5}},
                     {"ss", std::vector<std::string>{"a", "b"}}};
  spec.resultTypes = {Tensor{"f32", {"N", 2}}};
  spec.resultNames = {"y"};
  spec.location = "here";
  ValueId y = layer.op(spec).front();
  std::vector<ValueId> scalar = layer.beginRegion({Tensor{"f32", {}}});
  layer.endRegion({layer.op("arith.negf", {scalar[0]}, Tensor{"f32", {}}, {}, "inner")});
  ValueId grown = layer.op("tw.append", {cache, y}, state, {}, "grown");
  layer.results({y, grown}, {"y", "cache"});

  FunctionBuilder &main = builder.addFunction("main");
  ValueId input = main.argument("input", Tensor{"f32", {"N", 3}});
  ValueId mainCache = main.argument("cache", state);
  std::vector<ValueId> loaded = {main.weight("w"), main.weight("big")};
  std::vector<ValueId> called = main.call(layer, {input, loaded[0], mainCache});
  main.results(called, {"y", "cache"});
  builder.setEntry("main");

  graph::TokenizerT tokenizer;
  tokenizer.kind = "gpt2";
  tokenizer.tokens = {"a", "b", "c"};
  tokenizer.token_types = {1, 1, 3};
  tokenizer.scores = {0, 0, 0};
  tokenizer.merges = {"a b"};
  tokenizer.eos_id = 2;
  tokenizer.eot_ids = {1};
  builder.setTokenizer(std::move(tokenizer));
  return llvm::cantFail(builder.finish());
}

/// The bytes of w.bin.
inline std::vector<uint8_t> sampleWeights() { return std::vector<uint8_t>(88, 7); }

inline std::unique_ptr<graph::GraphT> sampleTree() {
  std::vector<uint8_t> bytes = sampleGraph();
  return std::unique_ptr<graph::GraphT>(graph::GetGraph(bytes.data())->UnPack());
}

inline std::vector<uint8_t> pack(const graph::GraphT &tree) {
  flatbuffers::FlatBufferBuilder builder;
  graph::FinishGraphBuffer(builder, graph::Graph::Pack(builder, &tree));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// The error that loading gives (weights files unopened), or "accepted".
inline std::string verdict(llvm::ArrayRef<uint8_t> bytes) {
  llvm::Expected<GraphFile> file = GraphFile::loadBytes(bufferOf(bytes), "t.twg", {"", /*openWeights=*/false});
  return file ? "accepted" : toString(file.takeError());
}

} // namespace tilewright::test

#endif // TILEWRIGHT_TESTS_UNIT_SUPPORT_GRAPHFIXTURE_H
