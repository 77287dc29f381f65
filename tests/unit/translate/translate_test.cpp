// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/translate/Translate.h"

#include "frontend/graph/GraphBuilder.h"
#include "ir/tw/Tw.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright;
using GraphAttribute = tilewright::Attribute;

namespace {

std::string message(llvm::Error error) { return llvm::toString(std::move(error)); }

struct TranslateTest : testing::Test {
  TranslateTest() {
    DialectRegistry registry;
    registry.insert<tw::TwDialect>();
    context.appendDialectRegistry(registry);
  }

  GraphFile load(const std::vector<uint8_t> &bytes) {
    StringRef text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    llvm::Expected<GraphFile> file = GraphFile::loadBytes(llvm::MemoryBuffer::getMemBufferCopy(text), "memory.twg");
    if (!file)
      ADD_FAILURE() << message(file.takeError());
    return std::move(*file);
  }
  GraphFile load(GraphBuilder &builder) {
    llvm::Expected<std::vector<uint8_t>> bytes = builder.finish();
    if (!bytes)
      ADD_FAILURE() << message(bytes.takeError());
    return load(*bytes);
  }
  std::string errorOf(GraphBuilder &builder, const TranslateOptions &options = {}) {
    llvm::Expected<OwningOpRef<ModuleOp>> module = translateToModule(load(builder), context, options);
    return module ? "no error" : message(module.takeError());
  }

  MLIRContext context;
};

/// One layer called twice, weights of which one is permuted and one has a function's name, a state, grouped operands
/// and every kind of attribute that a core op has.
void build(GraphBuilder &builder) {
  builder.setName("tiny");
  builder.setFamily("test");
  builder.setContextLength(64);
  float numbers[16] = {};
  auto raw = [&](size_t count) { return ArrayRef(reinterpret_cast<const uint8_t *>(numbers), count * sizeof(float)); };
  builder.addInlineWeight("layer", Tensor{"f32", {4, 4}}, raw(16));
  builder.addInlineWeight("gain", Tensor{"f32", {4}}, raw(4));

  Tensor rows{"f32", {"N", 4}}, heads{"f32", {"N", 2, 2}};
  Tensor cached{"f32", {Dimension::unknown(), 2, 2}};
  Tensor counts{"i32", {"B"}}, bounds{"i32", {Dimension::unknown()}}, positions{"i32", {"N"}};
  FunctionBuilder &layer = builder.addFunction("layer");
  ValueId x = layer.argument("x", rows), w = layer.argument("w", Tensor{"f32", {4, 4}});
  ValueId state = layer.argument("kv", ValueType::state({cached, cached}));
  ValueId starts = layer.argument("row_start", bounds), lengths = layer.argument("kv_len", counts);
  ValueId at = layer.argument("positions", positions);
  ValueId q = layer.op("tw.reshape", {layer.op("tw.linear", {x, w}, rows, {}, "projected")}, heads, {}, "q");
  OpSpec append{"tw.append", {state, starts, q, q}, {}, {}, {ValueType::state({cached, cached})},
                {"kv_1"},    "layer.cpp:7"};
  ValueId kv = layer.op(append).front();
  OpSpec attention{"tw.attention",
                   {q, kv, starts, lengths, at},
                   {1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0},
                   {GraphAttribute("scale", 0.5), GraphAttribute("causal", "end"), GraphAttribute("window", 3)},
                   {heads},
                   {"o"},
                   ""};
  ValueId o = layer.op(attention).front();
  ValueId y = layer.op("tw.reshape", {o}, rows, {}, "y");
  layer.results({y, kv}, {"y", "kv"});

  FunctionBuilder &step = builder.addFunction("step");
  ValueId in = step.argument("x", rows), kv0 = step.argument("kv", ValueType::state({cached, cached}));
  ValueId start = step.argument("row_start", bounds), length = step.argument("kv_len", counts);
  ValueId position = step.argument("positions", positions);
  ValueId weight = step.weight("layer");
  std::vector<ValueId> first = step.call(layer, {in, weight, kv0, start, length, position}, {"h", "kv_1"});
  ValueId gain = step.op("tw.broadcast", {step.weight("gain"), first[0]}, rows,
                         {GraphAttribute("dims", std::vector<int64_t>{1})}, "gains");
  ValueId ones = step.op("tw.constant", {}, Tensor{"f32", {4}},
                         {GraphAttribute("value", std::vector<double>{1, 2, 3, 4.5})}, "ones");
  ValueId scaled = step.op("tw.mul", {first[0], gain}, rows, {}, "scaled");
  step.results({scaled, first[1], ones}, {"logits", "kv", "ones"});
  builder.setEntry("step");
}

TEST_F(TranslateTest, GraphToModule) {
  GraphBuilder builder("translate test");
  build(builder);
  GraphFile file = load(builder);
  llvm::Expected<OwningOpRef<ModuleOp>> module = translateToModule(file, context);
  ASSERT_TRUE(bool(module)) << message(module.takeError());

  EXPECT_EQ((*module)->getOperation()->getAttrOfType<StringAttr>("tw.entry").getValue(), "step");
  auto step = (*module)->lookupSymbol<func::FuncOp>("step"), layer = (*module)->lookupSymbol<func::FuncOp>("layer");
  ASSERT_TRUE(step && layer);
  EXPECT_TRUE(step.isPublic());
  EXPECT_TRUE(layer.isPrivate());
  EXPECT_EQ(step.getArgAttrOfType<StringAttr>(0, "tw.name").getValue(), "x");
  std::string symbols;
  llvm::raw_string_ostream(symbols) << step.getArgAttr(0, "tw.symbols") << step.getArgAttr(1, "tw.symbols")
                                    << step.getResultAttr(0, "tw.name");
  EXPECT_EQ(symbols, "[\"N\", 4][[-1, 2, 2], [-1, 2, 2]]\"logits\"");

  // The weight whose name a function has.
  auto weight = (*module)->lookupSymbol<ml_program::GlobalOp>("layer$weight");
  ASSERT_TRUE(bool(weight));
  EXPECT_EQ(weight->getAttrOfType<IntegerAttr>("tw.weight_index").getInt(), 0);
  EXPECT_EQ(weight->getAttrOfType<StringAttr>("tw.weight_name").getValue(), "layer");

  tw::AttentionOp attention;
  layer.walk([&](tw::AttentionOp op) { attention = op; });
  EXPECT_EQ(attention.getWindow(), 3);
  EXPECT_EQ(graphNameOf(attention.getResult()), "o");
  EXPECT_EQ(graphNameOf(layer.getArgument(2)), "kv");
  tw::AppendOp append;
  layer.walk([&](tw::AppendOp op) { append = op; });
  EXPECT_EQ(originOf(append.getLoc()).location, "layer.cpp:7");
}

TEST_F(TranslateTest, RoundTripThroughText) {
  GraphBuilder builder("translate test");
  build(builder);
  llvm::Expected<std::vector<uint8_t>> original = builder.finish();
  ASSERT_TRUE(bool(original)) << message(original.takeError());
  GraphFile file = load(*original);
  llvm::Expected<OwningOpRef<ModuleOp>> module = translateToModule(file, context);
  ASSERT_TRUE(bool(module)) << message(module.takeError());
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream, OpPrintingFlags().enableDebugInfo());
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(bool(parsed));
  llvm::Expected<std::vector<uint8_t>> again = translateToGraph(*parsed, file);
  ASSERT_TRUE(bool(again)) << message(again.takeError());

  // Unpacked and packed anew, so that only content counts.
  auto canonical = [](const std::vector<uint8_t> &bytes) {
    std::unique_ptr<graph::GraphT> graph(graph::GetGraph(bytes.data())->UnPack());
    flatbuffers::FlatBufferBuilder out;
    graph::FinishGraphBuffer(out, graph::CreateGraph(out, graph.get()));
    return std::vector<uint8_t>(out.GetBufferPointer(), out.GetBufferPointer() + out.GetSize());
  };
  EXPECT_EQ(canonical(*again), canonical(*original));
}

TEST_F(TranslateTest, RowPermutationIsOnTheGlobal) {
  GraphBuilder builder("test");
  float numbers[8] = {};
  builder.addInlineWeight("w", Tensor{"f32", {8}},
                          ArrayRef(reinterpret_cast<const uint8_t *>(numbers), sizeof(numbers)));
  FunctionBuilder &f = builder.addFunction("main");
  f.results({f.weight("w")});
  builder.setEntry("main");
  llvm::Expected<std::vector<uint8_t>> bytes = builder.finish();
  ASSERT_TRUE(bool(bytes)) << message(bytes.takeError());
  std::unique_ptr<graph::GraphT> graph(graph::GetGraph(bytes->data())->UnPack());
  graph->weights[0]->row_permutation = std::make_unique<graph::RowPermutationT>();
  graph->weights[0]->row_permutation->dims = {2, 2, 2};
  graph->weights[0]->row_permutation->perm = {0, 2, 1};
  flatbuffers::FlatBufferBuilder out;
  graph::FinishGraphBuffer(out, graph::CreateGraph(out, graph.get()));
  GraphFile file = load(std::vector<uint8_t>(out.GetBufferPointer(), out.GetBufferPointer() + out.GetSize()));
  llvm::Expected<OwningOpRef<ModuleOp>> module = translateToModule(file, context);
  ASSERT_TRUE(bool(module)) << message(module.takeError());
  auto weight = (*module)->lookupSymbol<ml_program::GlobalOp>("w");
  std::string text;
  llvm::raw_string_ostream(text) << weight->getAttr("tw.row_dims") << weight->getAttr("tw.row_perm");
  EXPECT_EQ(text, "array<i64: 2, 2, 2>array<i64: 0, 2, 1>");
}

/// Functions "main" of one op on x: f32[N, 4].
struct TranslateErrors : TranslateTest {
  std::string fail(OpSpec spec, unsigned operands, const TranslateOptions &options = {}) {
    GraphBuilder builder("test");
    FunctionBuilder &f = builder.addFunction("main");
    ValueId x = f.argument("x", Tensor{"f32", {"N", 4}});
    spec.operands.assign(operands, x);
    f.results({f.op(std::move(spec)).front()});
    builder.setEntry("main");
    return errorOf(builder, options);
  }
  Tensor rows{"f32", {"N", 4}};
};

TEST_F(TranslateErrors, MissingPluginOfAnOp) {
  TranslateOptions options;
  options.searchedPlugins = {"/opt/a", "/opt/b"};
  EXPECT_EQ(
      fail({"other_norm.norm", {}, {}, {}, {rows}, {}, ""}, 1, options),
      "memory.twg: function 'main', op 0 'other_norm.norm': op 'other_norm.norm' needs plugin 'other_norm', which is "
      "not loaded (searched /opt/a, /opt/b)");
}

TEST_F(TranslateErrors, MissingPluginOfAType) {
  EXPECT_EQ(fail({"tw.cast", {}, {}, {}, {Tensor{"!other.q4", {"N", 4}}}, {}, ""}, 1),
            "memory.twg: function 'main': value '' needs plugin 'other', which is not loaded (searched no "
            "folder)");
}

TEST_F(TranslateErrors, UnknownOp) {
  EXPECT_EQ(fail({"tw.linera", {}, {}, {}, {rows}, {}, ""}, 1),
            "memory.twg: function 'main', op 0 'tw.linera': 'tw' has no such op");
}

/// Ops of the compiler's later stages are registered, too.
TEST_F(TranslateErrors, OpsOfLaterStages) {
  std::string error = fail({"func.return", {}, {}, {}, {rows}, {}, ""}, 1);
  EXPECT_EQ(error,
            "memory.twg: function 'main', op 0 'func.return': it is no op of a graph: it has no reference lowering");
  error = fail({"arith.negf", {}, {}, {}, {rows}, {}, ""}, 1);
  EXPECT_EQ(error,
            "memory.twg: function 'main', op 0 'arith.negf': it is no op of a graph: it has no reference lowering");
}

TEST_F(TranslateErrors, ElementTypesThatAreNoNumbers) {
  std::string error = fail({"tw.cast", {}, {}, {}, {Tensor{"!tw.state<tensor<?x4xf32>>", {"N", 4}}}, {}, ""}, 1);
  EXPECT_NE(error.find("is neither a number nor a storage type"), std::string::npos) << error;
}

TEST_F(TranslateErrors, UnknownAttribute) {
  EXPECT_EQ(fail({"tw.neg", {}, {}, {GraphAttribute("scale", 1.0)}, {rows}, {}, ""}, 1),
            "memory.twg: function 'main', op 0 'tw.neg': there is no attribute 'scale'");
}

TEST_F(TranslateErrors, AttributeOfAnotherKind) {
  std::string error =
      fail({"tw.reduce", {}, {}, {GraphAttribute("kind", "sum"), GraphAttribute("dims", 1)}, {rows}, {}, ""}, 1);
  EXPECT_NE(error.find("op 0 'tw.reduce': attribute 'dims' failed to satisfy constraint"), std::string::npos) << error;
}

TEST_F(TranslateErrors, Meaning) {
  EXPECT_EQ(
      fail({"tw.slice",
            {},
            {},
            {GraphAttribute("dim", 1), GraphAttribute("start", 3), GraphAttribute("size", 2)},
            {rows},
            {},
            ""},
           1),
      "memory.twg: function 'main', op 0 'tw.slice': 'tw.slice' op takes 2 elements from 3 of dimension 1, which has "
      "4");
}

TEST_F(TranslateErrors, WrongNumberOfOperands) {
  EXPECT_EQ(fail({"tw.add", {}, {}, {}, {rows}, {}, ""}, 1),
            "memory.twg: function 'main', op 0 'tw.add': 'tw.add' op expected 2 operands, but found 1");
}

TEST_F(TranslateErrors, OperandGroups) {
  EXPECT_EQ(
      fail({"tw.attention", {}, {}, {GraphAttribute("scale", 1.0)}, {rows}, {}, ""}, 1),
      "memory.twg: function 'main', op 0 'tw.attention': operand_segments: found none, wanted the sizes of its operand "
      "groups");
  EXPECT_EQ(fail({"tw.neg", {}, {1}, {}, {rows}, {}, ""}, 1),
            "memory.twg: function 'main', op 0 'tw.neg': operand_segments: its operands are not grouped");
  std::string error = fail({"tw.attention", {}, {1}, {GraphAttribute("scale", 1.0)}, {rows}, {}, ""}, 1);
  EXPECT_NE(error.find("memory.twg: function 'main', op 0 'tw.attention': "), std::string::npos) << error;
}

TEST_F(TranslateErrors, Constants) {
  Tensor four{"f32", {4}}, integers{"i8", {2}};
  EXPECT_EQ(fail({"tw.constant", {}, {}, {GraphAttribute("value", std::vector<double>{1, 2})}, {four}, {}, ""}, 0),
            "memory.twg: function 'main', op 0 'tw.constant': attribute 'value': it has 2 numbers, wanted 4 or one");
  EXPECT_EQ(
      fail({"tw.constant", {}, {}, {GraphAttribute("value", std::vector<int64_t>{1, 200})}, {integers}, {}, ""}, 0),
      "memory.twg: function 'main', op 0 'tw.constant': attribute 'value': it has 200, which does not fit into i8");
}

TEST_F(TranslateErrors, ConstantsOfOtherKinds) {
  Tensor integers{"i8", {2}}, open{"f32", {"N"}};
  EXPECT_EQ(fail({"tw.constant", {}, {}, {GraphAttribute("value", 1.5)}, {integers}, {}, ""}, 0),
            "memory.twg: function 'main', op 0 'tw.constant': attribute 'value': it has floats, wanted integers");
  EXPECT_EQ(
      fail({"tw.constant", {}, {}, {GraphAttribute("value", 1.5)}, {open}, {}, ""}, 0),
      "memory.twg: function 'main', op 0 'tw.constant': attribute 'value': its type is not a static tensor of numbers");
}

TEST_F(TranslateErrors, CallWithAnAttribute) {
  GraphBuilder builder("test");
  FunctionBuilder &callee = builder.addFunction("callee");
  Tensor type{"f32", {4}};
  callee.results({callee.argument("y", type)});
  FunctionBuilder &f = builder.addFunction("main");
  ValueId x = f.argument("x", type);
  f.results({f.op("call", {x}, type, {GraphAttribute("callee", "callee"), GraphAttribute("speed", 3)})});
  builder.setEntry("main");
  EXPECT_EQ(errorOf(builder), "memory.twg: function 'main', op 0 'call': attribute 'speed' is not one of a call");
}

TEST_F(TranslateErrors, CallOfAnotherShape) {
  GraphBuilder builder("test");
  FunctionBuilder &callee = builder.addFunction("callee");
  ValueId y = callee.argument("y", Tensor{"f32", {"N", 4}});
  callee.results({y});
  FunctionBuilder &f = builder.addFunction("main");
  ValueId x = f.argument("x", Tensor{"f32", {2, 4}});
  f.results({f.call(callee, {x}).front()});
  builder.setEntry("main");
  EXPECT_EQ(errorOf(builder), "memory.twg: function 'main', op 0 'call': operand 0 is tensor<2x4xf32>, wanted "
                              "tensor<?x4xf32> as 'callee' has");
}

TEST_F(TranslateErrors, StateUsedAgain) {
  GraphBuilder builder("test");
  FunctionBuilder &f = builder.addFunction("main");
  ValueType state = ValueType::state({Tensor{"f32", {Dimension::unknown(), 4}}});
  ValueId s = f.argument("s", state), starts = f.argument("starts", Tensor{"i32", {"B"}});
  ValueId x = f.argument("x", Tensor{"f32", {"N", 4}});
  ValueId one = f.op("tw.append", {s, starts, x}, state), two = f.op("tw.append", {s, starts, x}, state);
  f.results({one, two});
  builder.setEntry("main");
  EXPECT_EQ(
      errorOf(builder),
      "memory.twg: function 'main', op 1 'tw.append': 'tw.append' op uses a state after an op has changed it; a state "
      "is not copied; note: changed here (memory.twg: function 'main', op 0 'tw.append')");
}

TEST_F(TranslateTest, WhatAGraphCannotSay) {
  GraphBuilder builder("test");
  FunctionBuilder &f = builder.addFunction("main");
  f.results({f.argument("x", Tensor{"f32", {4}})});
  builder.setEntry("main");
  GraphFile origin = load(builder);
  context.loadDialect<tw::TwDialect, func::FuncDialect, ml_program::MLProgramDialect>();
  auto errorOf = [&](StringRef text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    llvm::Expected<std::vector<uint8_t>> bytes = translateToGraph(*module, origin);
    return bytes ? "no error" : message(bytes.takeError());
  };
  EXPECT_EQ(errorOf(R"(ml_program.global private @w(#ml_program.extern : tensor<2xf32>) : tensor<2xf32>)"),
            "op 'ml_program.global': weight 'w' has no tw.weight_index below 0, the weights of memory.twg");
  EXPECT_EQ(errorOf(R"(module attributes {tw.entry = "main"} {
    func.func @main(%x: tensor<4xf32>) -> memref<4xf32> {
      %0 = "tw.cast"(%x) : (tensor<4xf32>) -> tensor<4xbf16>
      %1 = builtin.unrealized_conversion_cast %x : tensor<4xf32> to memref<4xf32>
      return %1 : memref<4xf32>
    }})"),
            "type memref<4xf32> has no form in a graph file");
  EXPECT_EQ(errorOf(R"(func.func @main(%x: tensor<4xf32, "encoded">) { return })"),
            "an encoded tensor type has no form in a graph file");
  EXPECT_EQ(errorOf(R"(func.func private @main(tensor<4xf32>))"),
            "function 'main', op 'func.func': a function of more or less than one block has no form in a graph file");
  EXPECT_EQ(errorOf(R"(module { module {} })"), "op 'builtin.module': it has no form in a graph file");
  EXPECT_EQ(
      errorOf(R"(func.func @main(%x: tensor<4xf32>) {
      %0 = tw.constant dense_resource<blob> : tensor<4xf32>
      return
    })"),
      "function 'main', op 'tw.constant': attribute 'value': dense_resource<blob> : tensor<4xf32> has no form in a "
      "graph file");
  context.allowUnregisteredDialects();
  EXPECT_EQ(errorOf(R"(func.func @main() { "unknown.op"() : () -> () return })"),
            "function 'main', op 'unknown.op': its dialect is not loaded");
}

} // namespace
