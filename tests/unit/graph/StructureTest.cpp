// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structural verifier: one damaged field a test, and the message that names it.
#include "tests/unit/support/GraphFixture.h"

#include <gtest/gtest.h>

#include <functional>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

using Tree = graph::GraphT;
using Damage = std::function<void(Tree &)>;

std::string damaged(const Damage &damage) {
  std::unique_ptr<Tree> tree = sampleTree();
  damage(*tree);
  return verdict(pack(*tree));
}

graph::FunctionT &layer(Tree &tree) { return *tree.functions[0]; }
graph::FunctionT &mainOf(Tree &tree) { return *tree.functions[1]; }
graph::OpT &firstOp(Tree &tree) { return *layer(tree).body[0]; }
graph::OpT &call(Tree &tree) { return *mainOf(tree).body[2]; }
graph::TensorTypeT &type(graph::FunctionT &function, size_t value) {
  return *function.values[value]->type.AsTensorType();
}

TEST(Structure, SampleIsAccepted) {
  EXPECT_EQ(damaged([](Tree &) {}), "accepted");
}

/// Every field of the schema that holds an index of a value, with its place in messages and the count it must be below.
struct IndexField {
  const char *place;
  uint32_t count;
  std::function<uint32_t &(Tree &)> field;
};

std::vector<IndexField> indexFields() {
  return {
      {"function 'layer', argument 1", 7, [](Tree &t) -> uint32_t & { return layer(t).arguments[1]; }},
      {"function 'layer', result 0", 7, [](Tree &t) -> uint32_t & { return layer(t).results[0]; }},
      {"function 'layer', op 0 'some.op', operand 1", 7, [](Tree &t) -> uint32_t & { return firstOp(t).operands[1]; }},
      {"function 'layer', op 0 'some.op', result 0", 7, [](Tree &t) -> uint32_t & { return firstOp(t).results[0]; }},
      {"function 'layer', op 0 'some.op', region 0 argument 0", 7,
       [](Tree &t) -> uint32_t & { return firstOp(t).regions[0]->arguments[0]; }},
      {"function 'layer', op 0 'some.op', region 0 yield 0", 7,
       [](Tree &t) -> uint32_t & { return firstOp(t).regions[0]->yields[0]; }},
      {"function 'layer', op 0 'some.op', op 0 'arith.negf', operand 0", 7,
       [](Tree &t) -> uint32_t & { return firstOp(t).regions[0]->body[0]->operands[0]; }},
      {"function 'main', op 2 'call', operand 2", 6, [](Tree &t) -> uint32_t & { return call(t).operands[2]; }},
      {"function 'main', op 2 'call', result 1", 6, [](Tree &t) -> uint32_t & { return call(t).results[1]; }},
  };
}

TEST(Structure, IndicesOutOfRange) {
  for (const IndexField &field : indexFields())
    for (uint32_t bad : {field.count, UINT32_MAX, UINT32_MAX - 1, uint32_t(INT32_MAX)})
      EXPECT_EQ(damaged([&](Tree &tree) { field.field(tree) = bad; }),
                std::string("t.twg: ") + field.place + ": found value index " + std::to_string(bad) +
                    ", wanted an index below " + std::to_string(field.count));
}

TEST(Structure, NoIndexFieldOfTheSchemaIsForgotten) {
  // Fields of unsigned numbers are indices of values, but for operand_segments and perm, which have tests of their own.
  auto schema = cantFail(errorOrToExpected(MemoryBuffer::getFile(TILEWRIGHT_TEST_DATA "/../frontend/graph/graph.fbs")));
  std::vector<std::string> fields;
  std::string table;
  SmallVector<StringRef, 200> lines;
  schema->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    line = line.split("//").first;
    if (line.starts_with("table "))
      table = line.split("table ").second.split(' ').first.str();
    SmallVector<StringRef, 8> declarations;
    line.split(declarations, ';');
    for (StringRef declaration : declarations)
      if (declaration.contains("[uint]"))
        fields.push_back(table + "." + declaration.split(':').first.rsplit(' ').second.str());
  }
  EXPECT_EQ(fields,
            (std::vector<std::string>{"Region.arguments", "Region.yields", "Op.operands", "Op.operand_segments",
                                      "Op.results", "Function.arguments", "Function.results", "RowPermutation.perm"}));
}

TEST(Structure, DefinitionsAndUses) {
  EXPECT_EQ(damaged([](Tree &t) { firstOp(t).results[0] = 0; }),
            "t.twg: function 'layer', op 0 'some.op', result 0: found value 0 'x' defined a second time, wanted one "
            "definition");
  EXPECT_EQ(damaged([](Tree &t) { layer(t).arguments[1] = 0; }),
            "t.twg: function 'layer', argument 1: found value 0 'x' defined a second time, wanted one definition");
  EXPECT_EQ(
      damaged([](Tree &t) { firstOp(t).operands[1] = 3; }),
      "t.twg: function 'layer', op 0 'some.op', operand 1: found value 3 'y' before its definition, wanted a value "
      "defined before");
  EXPECT_EQ(damaged([](Tree &t) { layer(t).body[1]->operands[1] = 5; }),
            "t.twg: function 'layer', op 1 'tw.append', operand 1: found value 5 'inner' of a region that has ended, "
            "wanted a value defined before");
  EXPECT_EQ(damaged([](Tree &t) { layer(t).body.pop_back(); }),
            "t.twg: function 'layer', result 1: found value 6 'grown' before its definition, wanted a value defined "
            "before");
  EXPECT_EQ(damaged([](Tree &t) {
              mainOf(t).values.push_back(std::make_unique<graph::ValueT>(*mainOf(t).values[0]));
              mainOf(t).values.back()->name = "orphan";
            }),
            "t.twg: function 'main', value 6 'orphan': found no definition, wanted an argument or an op's result");
}

TEST(Structure, NamesOfValuesAndFunctions) {
  EXPECT_EQ(damaged([](Tree &t) { layer(t).values[1]->name = "x"; }),
            "t.twg: function 'layer', value 1 'x': found the name twice, wanted different names");
  EXPECT_EQ(damaged([](Tree &t) { layer(t).values[0]->name = ""; }),
            "t.twg: function 'layer', argument 0: found no name, wanted one");
  EXPECT_EQ(
      damaged([](Tree &t) { layer(t).values[3]->name = std::string("a\0b", 3); }),
      "t.twg: function 'layer', value 3 'a\\x00b': found this name, wanted 1 to 1024 bytes of UTF-8 without control "
      "characters");
  EXPECT_EQ(damaged([](Tree &t) { layer(t).name = "main"; }),
            "t.twg: function 1, name: found 'main' twice, wanted different names");
  EXPECT_EQ(damaged([](Tree &t) { layer(t).name = "a b"; }),
            "t.twg: function 0, name: found 'a b', wanted an identifier");
  EXPECT_EQ(damaged([](Tree &t) { t.entry = "nowhere"; }),
            "t.twg: entry: found 'nowhere', wanted one of its 2 functions");
  EXPECT_EQ(damaged([](Tree &t) { mainOf(t).result_names.pop_back(); }),
            "t.twg: function 'main', result_names: found 1 names, wanted 2, one for each result");
  EXPECT_EQ(damaged([](Tree &t) { mainOf(t).result_names[1] = "y"; }),
            "t.twg: function 'main', result_names: found 'y' twice, wanted different names");
  EXPECT_EQ(damaged([](Tree &t) { mainOf(t).result_names[1] = "\n"; }),
            "t.twg: function 'main', result_names: found '\\x0a', wanted a printable name");
}

TEST(Structure, Ops) {
  for (const char *name : {"", "plain", "tw.", ".op", "a b.c", "tw.a b"})
    EXPECT_EQ(damaged([&](Tree &t) { firstOp(t).name = name; }),
              std::string("t.twg: function 'layer', op 0 '") + name + "', name: found '" + name +
                  "', wanted \"call\", \"weight\" or \"dialect.op\"");
  EXPECT_EQ(damaged([](Tree &t) { firstOp(t).operand_segments = {1, 2}; }),
            "t.twg: function 'layer', op 0 'some.op', operand_segments: found sizes with the sum 3, wanted 2 operands");
  EXPECT_EQ(damaged([](Tree &t) { firstOp(t).operand_segments = {UINT32_MAX, 3}; }),
            "t.twg: function 'layer', op 0 'some.op', operand_segments: found sizes with the sum 4294967298, wanted 2 "
            "operands");
  EXPECT_EQ(damaged([](Tree &t) { firstOp(t).attrs[1]->name = "i"; }),
            "t.twg: function 'layer', op 0 'some.op', attribute 'i': found it twice, wanted it once");
  EXPECT_EQ(damaged([](Tree &t) { firstOp(t).attrs[1]->name = "1"; }),
            "t.twg: function 'layer', op 0 'some.op', attribute '1': found this name, wanted an identifier");
  EXPECT_EQ(damaged([](Tree &t) { firstOp(t).location = "\x01"; }),
            "t.twg: function 'layer', op 0 'some.op', location: found '\\x01', wanted a printable text");
}

TEST(Structure, Types) {
  auto typeVerdict = [](const std::function<void(graph::TensorTypeT &)> &change) {
    return damaged([&](Tree &t) { change(type(layer(t), 0)); });
  };
  std::string place = "t.twg: function 'layer', value 0 'x': ";
  for (const char *element : {"", "f31", "float", "!", "!dialect", "!.x", "! .x"})
    EXPECT_EQ(typeVerdict([&](graph::TensorTypeT &t) { t.element = element; }),
              place + "found element type '" + element +
                  "', wanted a builtin one (f32, i32, ...) or \"!dialect.type\"");
  EXPECT_EQ(typeVerdict([](graph::TensorTypeT &t) { t.shape[1]->size = -2; }),
            place + "found dimension -2, wanted -1 or more");
  EXPECT_EQ(typeVerdict([](graph::TensorTypeT &t) { t.shape[0]->size = 4; }),
            place + "found a dimension of size 4 with the symbol 'N', wanted one of the two");
  EXPECT_EQ(typeVerdict([](graph::TensorTypeT &t) { t.shape[0]->symbol = "a b"; }),
            place + "found the symbol 'a b', wanted an identifier");
  EXPECT_EQ(typeVerdict([](graph::TensorTypeT &t) {
              while (t.shape.size() < 17)
                t.shape.push_back(std::make_unique<graph::DimT>(*t.shape[1]));
            }),
            place + "found rank 17, wanted at most 16");
  EXPECT_EQ(damaged([](Tree &t) { layer(t).values[2]->type.AsStateType()->buffers.clear(); }),
            "t.twg: function 'layer', value 2 'cache': found a state without buffers, wanted at least one");
  EXPECT_EQ(
      damaged([](Tree &t) { layer(t).values[2]->type.AsStateType()->buffers[0]->shape[0]->size = 4; }),
      "t.twg: function 'layer', value 2 'cache': found a state buffer of type f32[4, 2], wanted its first dimension "
      "unknown");
}

TEST(Structure, Calls) {
  EXPECT_EQ(damaged([](Tree &t) { call(t).attrs[0]->value.AsStringAttr()->value = "other"; }),
            "t.twg: function 'main', op 2 'call', attribute 'callee': found 'other', wanted a function of this file");
  EXPECT_EQ(damaged([](Tree &t) { call(t).attrs.clear(); }),
            "t.twg: function 'main', op 2 'call', attribute 'callee': found none, wanted a function's name");
  EXPECT_EQ(damaged([](Tree &t) { call(t).attrs[0]->value.Set(graph::IntAttrT()); }),
            "t.twg: function 'main', op 2 'call', attribute 'callee': found another kind of value, wanted a function's "
            "name");
  EXPECT_EQ(damaged([](Tree &t) { call(t).operands.pop_back(); }),
            "t.twg: function 'main', op 2 'call', operands: found 2, wanted 3 as 'layer' has");
  EXPECT_EQ(damaged([](Tree &t) {
              call(t).results.pop_back();
              mainOf(t).results.pop_back();
              mainOf(t).result_names.pop_back();
              mainOf(t).values.pop_back();
            }),
            "t.twg: function 'main', op 2 'call', results: found 1, wanted 2 as 'layer' has");
  EXPECT_EQ(damaged([](Tree &t) { std::swap(call(t).operands[0], call(t).operands[1]); }),
            "accepted"); // [2, 3] may be [N, 3], and [N, 3] may be [2, 3]: translation decides
  EXPECT_EQ(
      damaged([](Tree &t) { std::swap(call(t).operands[0], call(t).operands[2]); }),
      "t.twg: function 'main', op 2 'call', operand 0: found state{f32[?, 2]}, wanted f32[N, 3] as 'layer' has for "
      "'x'");
  EXPECT_EQ(damaged([](Tree &t) { type(mainOf(t), 0).element = "f16"; }),
            "t.twg: function 'main', op 2 'call', operand 0: found f16[N, 3], wanted f32[N, 3] as 'layer' has for 'x'");
  EXPECT_EQ(damaged([](Tree &t) { type(mainOf(t), 4).shape[1]->size = 5; }),
            "t.twg: function 'main', op 2 'call', result 0: found f32[N, 5], wanted f32[N, 2] as 'layer' has for 'y'");
  EXPECT_EQ(damaged([](Tree &t) { call(t).regions.push_back(std::make_unique<graph::RegionT>()); }),
            "t.twg: function 'main', op 2 'call', regions: found 1, wanted none");
}

TEST(Structure, CallsInACircle) {
  EXPECT_EQ(damaged([](Tree &t) {
              auto self = std::make_unique<graph::OpT>(call(t));
              mainOf(t).body.push_back(std::move(self));
              mainOf(t).body.back()->attrs[0]->value.AsStringAttr()->value = "main";
              mainOf(t).body.back()->operands = {0, 1};
              mainOf(t).body.back()->results = {6, 7};
              for (size_t value : {4, 5}) {
                mainOf(t).values.push_back(std::make_unique<graph::ValueT>(*mainOf(t).values[value]));
                mainOf(t).values.back()->name = "";
              }
            }),
            "t.twg: calls: found a cycle, 'main' calls 'main'; wanted none");
  // A chain as long as the file does not overflow the stack, and its end may not call its start.
  auto chain = [](bool closed) {
    auto tree = std::make_unique<Tree>();
    constexpr size_t length = 20000;
    for (size_t i = 0; i < length; ++i) {
      auto function = std::make_unique<graph::FunctionT>();
      function->name = "f" + std::to_string(i);
      if (i + 1 < length || closed) {
        auto op = std::make_unique<graph::OpT>();
        op->name = "call";
        auto attr = std::make_unique<graph::AttrT>();
        attr->name = "callee";
        graph::StringAttrT callee;
        callee.value = "f" + std::to_string((i + 1) % length);
        attr->value.Set(std::move(callee));
        op->attrs.push_back(std::move(attr));
        function->body.push_back(std::move(op));
      }
      tree->functions.push_back(std::move(function));
    }
    tree->entry = "f0";
    return verdict(pack(*tree));
  };
  EXPECT_EQ(chain(false), "accepted");
  EXPECT_TRUE(StringRef(chain(true)).starts_with("t.twg: calls: found a cycle, 'f0' calls 'f1' calls 'f2'"));
}

TEST(Structure, WeightOps) {
  auto weightOp = [](const std::function<void(graph::OpT &)> &change) {
    return damaged([&](Tree &t) { change(*mainOf(t).body[0]); });
  };
  std::string place = "t.twg: function 'main', op 0 'weight', ";
  EXPECT_EQ(weightOp([](graph::OpT &op) { op.attrs[0]->value.AsStringAttr()->value = "v"; }),
            place + "attribute 'name': found 'v', wanted a weight of this file");
  EXPECT_EQ(weightOp([](graph::OpT &op) { op.attrs.clear(); }),
            place + "attribute 'name': found none, wanted a weight's name");
  EXPECT_EQ(weightOp([](graph::OpT &op) { op.operands = {0}; }), place + "operands: found 1, wanted none");
  EXPECT_EQ(weightOp([](graph::OpT &op) { op.results.clear(); }), place + "results: found 0, wanted one");
  EXPECT_EQ(damaged([](Tree &t) { type(mainOf(t), 2).shape[0]->size = 3; }),
            place + "result 0: found f32[3, 3], wanted f32[2, 3], the type of weight 'w'");
}

TEST(Structure, RequiredPluginsAreWhatIsUsed) {
  EXPECT_EQ(damaged([](Tree &t) { t.required_plugins.pop_back(); }),
            "t.twg: required_plugins: found 'packed', wanted 'packed, some', the dialects of its ops and types");
  EXPECT_EQ(damaged([](Tree &t) { t.required_plugins.push_back("zzz"); }),
            "t.twg: required_plugins: found 'packed, some, zzz', wanted 'packed, some', the dialects of its ops and "
            "types");
}

TEST(Structure, Generation) {
  auto generated = [](auto change) {
    return damaged([&](Tree &t) {
      t.vocab_size = 4;
      t.generation = std::make_unique<graph::GenerationT>();
      change(*t.generation);
    });
  };
  EXPECT_EQ(generated([](graph::GenerationT &g) {
              g.forced_eos_id = 3;
              g.bad_ids = {0, 3};
            }),
            "accepted");
  EXPECT_EQ(generated([](graph::GenerationT &g) { g.decoder_start_id = 4; }),
            "t.twg: generation, decoder_start_id: found 4, wanted -1 to 3");
  EXPECT_EQ(generated([](graph::GenerationT &g) { g.forced_bos_id = -2; }),
            "t.twg: generation, forced_bos_id: found -2, wanted -1 to 3");
  EXPECT_EQ(generated([](graph::GenerationT &g) { g.forced_eos_id = INT32_MAX; }),
            "t.twg: generation, forced_eos_id: found 2147483647, wanted -1 to 3");
  EXPECT_EQ(generated([](graph::GenerationT &g) { g.bad_ids = {0, -1}; }),
            "t.twg: generation, bad_ids: found -1, wanted 0 to 3");
}

TEST(Structure, Tokenizer) {
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->eos_id = 3; }), "t.twg: tokenizer, eos_id: found 3, wanted -1 to 2");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->bos_id = -2; }), "t.twg: tokenizer, bos_id: found -2, wanted -1 to 2");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->unk_id = INT32_MAX; }),
            "t.twg: tokenizer, unk_id: found 2147483647, wanted -1 to 2");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->pad_id = INT32_MIN; }),
            "t.twg: tokenizer, pad_id: found -2147483648, wanted -1 to 2");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->eot_ids = {-1}; }),
            "t.twg: tokenizer, eot_ids: found -1, wanted 0 to 2");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->token_types = {1}; }),
            "t.twg: tokenizer, token_types: found 1 entries, wanted 3, one for each token");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->matching = {1}; }),
            "t.twg: tokenizer, matching: found 1 entries, wanted 3, one for each token");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->exact_scores = {1}; }),
            "t.twg: tokenizer, exact_scores: found 1 entries, wanted 3, one for each token");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->prefix_ids = {3}; }),
            "t.twg: tokenizer, prefix_ids: found 3, wanted 0 to 2");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->suffix_ids = {-1}; }),
            "t.twg: tokenizer, suffix_ids: found -1, wanted 0 to 2");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->scores = {1, 2}; }),
            "t.twg: tokenizer, scores: found 2 entries, wanted 3, one for each token");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->tokens.clear(); }),
            "t.twg: tokenizer, tokens: found 0, wanted at least 1");
  EXPECT_EQ(damaged([](Tree &t) { t.tokenizer->kind = ""; }), "t.twg: tokenizer, kind: found '', wanted a name");
  EXPECT_EQ(damaged([](Tree &t) { t.vocab_size = 2; }),
            "t.twg: vocab_size: found 2, wanted at least 3, the number of tokens");
  // Tables may be longer than the vocabulary.
  EXPECT_EQ(damaged([](Tree &t) { t.vocab_size = 4; }), "accepted");
}

} // namespace
