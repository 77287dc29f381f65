// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Family descriptions: the ones built in, one of the user's own, and ones with mistakes.
#include "frontend/import/Family.h"

#include "frontend/graph/GraphFile.h"
#include "frontend/import/ImportModel.h"
#include "tests/unit/support/GgufWriter.h"
#include "tests/unit/support/Replaced.h"
#include "tests/unit/support/TestFolder.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

/// A family of one dense layer repeated; nothing in the importer knows it.
constexpr StringLiteral denseFamily = R"json({
  "family": "dense",
  "gguf": {"architectures": ["dense"], "prefix": "dense."},
  "parameters": [
    {"name": "L", "type": "int", "gguf": "dense.layers", "min": 1},
    {"name": "W", "type": "int", "gguf": "dense.width", "default": 4, "max": 64},
    {"name": "slope", "type": "float", "gguf": "dense.slope", "default": "1 / float(W)"}
  ],
  "weights": [{"name": "scale", "gguf": "scale", "shape": ["W"], "optional": true}],
  "layers": "L",
  "layer_weights": [{"name": "w", "gguf": "{layer}.w", "shape": ["W", "W"]}],
  "symbols": {"N": "rows"},
  "entry": "run",
  "functions": [
    {"name": "one", "per_layer": true, "arguments": ["x: f32[N, W]"], "weights": ["w", "scale?"],
     "body": [{"op": "alpha.dense", "operand_groups": [["x"], ["w"], ["scale?"]], "results": ["y: f32[N, W]"],
               "attributes": {"slope": "=slope", "count": "=2 * W", "kind": "leaky", "flags": [1, 2], "on": true,
                              "half": 0.5}}],
     "results": ["y"]},
    {"name": "run", "arguments": ["x: f32[N, W]"],
     "body": [{"each_layer": [{"call": "one", "operands": ["x"], "results": ["x"]}]}],
     "results": ["x"]}
  ]
})json";

std::vector<uint8_t> denseModel(bool scaled) {
  GgufWriter writer;
  writer.string("general.architecture", "dense").u32("dense.layers", 2);
  writer.tensor("0.w", {4, 4}, 0, 64).tensor("1.w", {4, 4}, 0, 64);
  if (scaled)
    writer.tensor("scale", {4}, 0, 16);
  return writer.finish();
}

/// Sets TILEWRIGHT_SHARE while it lives.
class Share {
public:
  explicit Share(const std::string &folder) { setenv("TILEWRIGHT_SHARE", folder.c_str(), 1); }
  ~Share() { unsetenv("TILEWRIGHT_SHARE"); }
};

std::string parseError(StringRef json) { return toString(Family::parse(json, "f.json").takeError()); }

TEST(Family, BuiltInOnesAreWellFormed) {
  FamilyLibrary library = cantFail(FamilyLibrary::load());
  EXPECT_FALSE(library.entries().empty());
  for (const FamilyLibrary::Entry &entry : library.entries()) {
    Expected<Family> family = library.read(entry);
    EXPECT_TRUE(bool(family)) << toString(family.takeError());
  }
  ASSERT_NE(library.ggufTypes().find(3), nullptr);
  EXPECT_EQ(library.ggufTypes().find(3)->bytes, 20u);
  EXPECT_EQ(library.ggufTypes().find(1000), nullptr);
}

TEST(Family, OneOfTheUsersOwn) {
  TestFolder folder;
  folder.makeFolder("families");
  folder.write("families/dense.json", arrayRefFromStringRef(denseFamily));
  Share share(folder.path());
  for (bool scaled : {false, true}) {
    std::string model = folder.write("m.gguf", denseModel(scaled));
    Expected<ImportResult> result = importModel(model, folder.path("m.twg"));
    ASSERT_TRUE(bool(result)) << toString(result.takeError());
    EXPECT_EQ(result->family, "dense");
    GraphFile file = cantFail(GraphFile::loadBytes(bufferOf(result->bytes), folder.path("m.twg")));
    EXPECT_EQ(file.graph().required_plugins()->Get(0)->str(), "alpha");
    const graph::Function &layer = *file.graph().functions()->Get(0);
    const graph::Op &op = *layer.body()->Get(0);
    EXPECT_EQ(op.operands()->size(), scaled ? 3u : 2u);
    EXPECT_EQ(op.operand_segments()->Get(2), scaled ? 1u : 0u);
    std::map<std::string, const graph::Attr *> attributes;
    for (const graph::Attr *attr : *op.attrs())
      attributes[attr->name()->str()] = attr;
    EXPECT_EQ(attributes.at("slope")->value_as_FloatAttr()->value(), 0.25);
    EXPECT_EQ(attributes.at("count")->value_as_IntAttr()->value(), 8);
    EXPECT_EQ(attributes.at("kind")->value_as_StringAttr()->value()->str(), "leaky");
    EXPECT_EQ(attributes.at("flags")->value_as_IntsAttr()->value()->Get(1), 2);
    EXPECT_TRUE(attributes.at("on")->value_as_BoolAttr()->value());
    EXPECT_EQ(attributes.at("half")->value_as_FloatAttr()->value(), 0.5);
    EXPECT_EQ(file.graph().functions()->Get(1)->body()->size(), scaled ? 5u : 4u);
  }
}

TEST(Family, MistakesInTheUsersFolder) {
  TestFolder folder;
  folder.makeFolder("families");
  Share share(folder.path());
  folder.write("families/broken.json", {'{'});
  EXPECT_TRUE(StringRef(toString(FamilyLibrary::load().takeError())).starts_with("broken.json: "));
  folder.write("families/broken.json", arrayRefFromStringRef("{}"));
  EXPECT_EQ(toString(FamilyLibrary::load().takeError()), "missing value at broken.json.family");
  Share nowhere(folder.path("none"));
  EXPECT_EQ(toString(FamilyLibrary::load().takeError()),
            "TILEWRIGHT_SHARE: " + folder.path("none/families") + ": No such file or directory");
}

TEST(Family, MistakesOfForm) {
  auto changed = [](StringRef from, StringRef to) { return parseError(replaced(denseFamily, from, to)); };
  EXPECT_EQ(changed("\"type\": \"int\"", "\"type\": \"integer\""),
            "expected int, float, bool, string or list at f.json.parameters[0].type");
  EXPECT_EQ(changed("\"gguf\": \"dense.layers\", ", ""),
            "expected gguf, config, gguf_count or default at f.json.parameters[0]");
  EXPECT_EQ(changed("\"op\": \"alpha.dense\", ", ""),
            "expected one of op, call, let and each_layer at f.json.functions[0].body[0]");
  EXPECT_EQ(changed("\"results\": [\"y\"]", "\"result\": [\"y\"]"), "missing value at f.json.functions[0].results");
  EXPECT_EQ(changed("[\"W\", \"W\"]", "[\"W\", 4]"), "expected string at f.json.layer_weights[0].shape[1]");
  EXPECT_EQ(changed("\"gguf\": \"scale\"",
                    "\"gguf\": {\"tensor\": \"s\", \"row_permutation\": {\"dims\": [\"2\", \"2\"], \"perm\": [0]}}"),
            "expected one axis for each of dims at f.json.weights[0].gguf.row_permutation.perm");
  EXPECT_EQ(changed("\"max\": 64", "\"allowed\": 4"), "expected a list at f.json.parameters[1].allowed");
  EXPECT_EQ(changed("\"max\": 64", "\"allowed\": {\"config\": [4], \"gguf\": 4}"),
            "expected a list at f.json.parameters[1].allowed.gguf");
  EXPECT_EQ(changed("\"max\": 64", "\"allowed\": {\"confg\": [4]}"),
            "unknown field at f.json.parameters[1].allowed.confg");
  EXPECT_EQ(changed("\"max\": 64", "\"maximum\": 64"), "unknown field at f.json.parameters[1].maximum");
  EXPECT_EQ(changed("\"layers\": \"L\"", "\"outputs\": {\"hidden\": true}, \"layers\": \"L\""),
            "expected a condition at f.json.outputs.hidden");
  EXPECT_EQ(changed("\"prefix\": \"dense.\"", "\"ignored_tensors\": [{\"tensor\": \"x\"}]"),
            "missing value at f.json.gguf.ignored_tensors[0].if");
  EXPECT_EQ(changed("\"prefix\": \"dense.\"", "\"with\": {\"dense.depth\": 1}"),
            "expected true or false at f.json.gguf.with.dense.depth");
}

TEST(Family, MistakesOfMeaning) {
  TestFolder folder;
  folder.makeFolder("families");
  Share share(folder.path());
  std::string model = folder.write("m.gguf", denseModel(false));
  auto changed = [&](StringRef from, StringRef to) -> std::string {
    folder.write("families/dense.json", arrayRefFromStringRef(replaced(denseFamily, from, to)));
    Expected<ImportResult> result = importModel(model, folder.path("m.twg"));
    if (result)
      return "accepted";
    std::string message = toString(result.takeError());
    StringRef shown = message;
    shown.consume_front(folder.path() + "/");
    return shown.str();
  };
  EXPECT_EQ(changed("[\"x\"], [\"w\"]", "[\"z\"], [\"w\"]"),
            "family 'dense': function 'one', op 'alpha.dense': unknown operand 'z'");
  EXPECT_EQ(changed("[\"x\"], [\"w\"]", "[\"@q\"], [\"w\"]"),
            "family 'dense': function 'one', op 'alpha.dense': unknown weight 'q'");
  EXPECT_EQ(changed("[\"scale?\"]]", "[\"@scale\"]]"),
            "family 'dense': function 'one', op 'alpha.dense': weight 'scale' "
            "is absent, and not marked with '?'");
  EXPECT_EQ(changed("[\"w\", \"scale?\"]", "[\"w\", \"scale\"]"),
            "family 'dense': function 'one': weight 'scale' is absent, and not marked with '?'");
  EXPECT_EQ(changed("[\"w\", \"scale?\"]", "[\"w\", \"v\"]"), "family 'dense': function 'one': unknown weight 'v'");
  EXPECT_EQ(
      changed("y: f32[N, W]", "y: f32[M, W]"),
      "family 'dense': function 'one', op 'alpha.dense', result 'y: f32[M, W]': expression 'M': unknown name 'M'");
  EXPECT_EQ(changed("y: f32[N, W]", "y"),
            "family 'dense': function 'one', op 'alpha.dense', result 'y': type '': wanted element[dimensions]");
  EXPECT_EQ(changed("\"=slope\"", "\"=slop\""), "family 'dense': function 'one', op 'alpha.dense', attribute 'slope': "
                                                "expression 'slop': unknown name 'slop'");
  EXPECT_EQ(changed("\"on\": true", "\"on\": null"),
            "family 'dense': function 'one', op 'alpha.dense', attribute 'on': wanted a string, \"=expression\", bool, "
            "number or array of integers");
  EXPECT_EQ(changed("\"results\": [\"y\"]", "\"results\": [\"z\"]"),
            "family 'dense': function 'one': unknown result 'z'");
  EXPECT_EQ(
      changed("\"call\": \"one\"", "\"call\": \"two\""),
      "family 'dense': function 'run', call of 'two': wanted a per_layer function described before, called inside "
      "each_layer");
  EXPECT_EQ(changed("\"operands\": [\"x\"], \"results\": [\"x\"]", "\"operands\": [\"x\"], \"results\": []"),
            "family 'dense': function 'run', call of 'one': found 0 results, wanted 1");
  EXPECT_EQ(changed("\"operands\": [\"x\"], \"results\": [\"x\"]", "\"operands\": [], \"results\": [\"x\"]"),
            "m.gguf: graph builder: function 'run', op 1 'call', operands: found 1, wanted 2 as 'one' has");
  EXPECT_EQ(changed("\"entry\": \"run\"", "\"entry\": \"go\""),
            "m.gguf: graph builder: entry: found 'go', wanted one of its 2 functions");
  EXPECT_EQ(changed("\"default\": 4, \"max\"", "\"default\": \"2 * slope\", \"max\""),
            "family 'dense': the default of parameter 'W' needs its own value");
  EXPECT_EQ(changed("\"default\": 4, \"max\"", "\"default\": 4, \"when\": [\"Q\", \"x\"], \"max\""),
            "family 'dense': parameter 'W': found no parameter 'Q' that it is read beside");
  EXPECT_EQ(changed("\"prefix\": \"dense.\"",
                    "\"prefix\": \"dense.\", \"ignored_tensors\": [{\"if\": \"1\", \"tensor\": \"{Q}\"}]"),
            "family 'dense': ignored tensor '{Q}': expression 'Q': unknown name 'Q'");
  EXPECT_EQ(changed("\"layers\": \"L\"", "\"layers\": \"K\""), "m.gguf: expression 'K': unknown name 'K'");
  EXPECT_EQ(changed("\"layers\": \"L\"", "\"outputs\": {\"hidden\": \"Q\"}, \"layers\": \"L\""),
            "m.gguf: output 'hidden': expression 'Q': unknown name 'Q'");
  EXPECT_EQ(changed("[\"W\", \"W\"]", "[\"W\", \"Q\"]"), "m.gguf: weight 'w': expression 'Q': unknown name 'Q'");
  EXPECT_EQ(
      changed("\"weights\": [{", "\"requirements\": [{\"require\": \"Q > 1\", \"message\": \"\"}], \"weights\": [{"),
      "m.gguf: expression 'Q > 1': unknown name 'Q'");
  EXPECT_EQ(changed("\"weights\": [{",
                    "\"requirements\": [{\"require\": \"W > L + 8\", \"message\": \"{W} of {L}, {Q}\"}], "
                    "\"weights\": [{"),
            "m.gguf: 4 of 2, {Q}");
  EXPECT_EQ(changed("[\"W\", \"W\"]", "[\"W\", \"present('w') && !present('scale') ? W : 1\"]"), "accepted");
  EXPECT_EQ(changed("[\"W\", \"W\"]", "[\"W\", \"present('Q') ? W : 1\"]"),
            "m.gguf: weight 'w': expression 'present('Q') ? W : 1': present('Q') has no value");
  EXPECT_EQ(changed("\"default\": 4, \"max\": 64", "\"default\": 65, \"max\": 64"),
            "m.gguf: metadata key 'dense.width': found 65, wanted at most 64");
}

TEST(Family, TypeTableMistakes) {
  auto error = [](StringRef json) { return toString(gguf::TypeTable::parse(json, "t.json").takeError()); };
  EXPECT_EQ(error("[]"), "t.json: found no array \"types\", wanted one");
  EXPECT_EQ(error(R"({"types": [{"id": -1, "name": "X"}]})"),
            "t.json: types[0]: wanted an \"id\" of 32 bits and a \"name\"");
  EXPECT_EQ(error(R"({"types": [{"id": 1, "name": "X", "block_elements": 4}]})"),
            "t.json: types[0]: found block_elements 4 and block_bytes 0, wanted both positive or neither");
  EXPECT_EQ(error(R"({"types": [{"id": 1, "name": "X", "element": "f32"}]})"),
            "t.json: types[0]: found an element type without a block size, wanted both");
  EXPECT_EQ(error(R"({"types": [{"id": 1, "name": "X"}, {"id": 1, "name": "Y"}]})"),
            "t.json: found the id 1 twice, wanted it once");
}

} // namespace
