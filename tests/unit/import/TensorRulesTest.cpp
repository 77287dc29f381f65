// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that are parts of tensors, several tensors, or stored transposed, of a family of the user's own.
#include "frontend/graph/Access.h"
#include "frontend/graph/GraphFile.h"
#include "frontend/import/ImportModel.h"
#include "tests/unit/support/Replaced.h"
#include "tests/unit/support/SafetensorsWriter.h"
#include "tests/unit/support/TestFolder.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr StringLiteral family = R"json({
  "family": "stacked",
  "config": {"model_types": ["stacked"], "architectures": ["Stacked"], "ignored": ["model_type"]},
  "parameters": [{"name": "X", "type": "int", "config": "experts", "min": 1}],
  "weights": [
    {"name": "upper", "shape": ["2", "3"], "config": {"tensor": "both", "from": "0", "of": "5"}},
    {"name": "lower", "shape": ["3", "3"], "config": {"tensor": "both", "from": "2", "of": "5"}},
    {"name": "turned", "shape": ["4", "3"], "config": {"tensor": "turned", "transposed": true}},
    {"name": "experts", "shape": ["X", "2", "3"], "config": {"tensor": "e.{part}.w", "parts": "X"}}
  ],
  "layers": "0", "layer_weights": [], "entry": "run",
  "functions": [{"name": "run", "arguments": [], "results": ["y"],
    "body": [{"op": "alpha.all", "operands": ["@upper", "@lower", "@turned", "@experts"], "results": ["y: f32[2]"]}]}]
})json";

class TensorRules : public testing::Test {
protected:
  TensorRules() {
    share.makeFolder("families");
    setFamily(family);
    setenv("TILEWRIGHT_SHARE", share.path().c_str(), 1);
    setExperts("2");
  }
  ~TensorRules() override { unsetenv("TILEWRIGHT_SHARE"); }

  void setFamily(StringRef text) { share.write("families/stacked.json", arrayRefFromStringRef(text)); }
  void setExperts(StringRef count) {
    folder.write("config.json",
                 arrayRefFromStringRef(("{\"model_type\": \"stacked\", \"experts\": " + count + "}").str()));
  }

  Expected<ImportResult> import(const SafetensorsWriter &tensors) {
    folder.write("model.safetensors", tensors.finish());
    return importModel(folder.path(), folder.path("m.twg"));
  }

  std::string verdict(const SafetensorsWriter &tensors) {
    Expected<ImportResult> result = import(tensors);
    if (result)
      return "accepted";
    std::string message = toString(result.takeError());
    StringRef shown = message;
    shown.consume_front(folder.path() + ": ");
    return shown.str();
  }

  static SafetensorsWriter tensors() {
    return SafetensorsWriter().tensor("both", {5, 3}).tensor("turned", {3, 4}).tensor("e.0.w", {2, 3});
  }

  TestFolder share, folder;
};

TEST_F(TensorRules, WhatTheGraphSaysOfThem) {
  Expected<ImportResult> result = import(tensors().tensor("e.1.w", {2, 3}));
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  GraphFile file = cantFail(GraphFile::loadBytes(bufferOf(result->bytes), folder.path("m.twg")));
  const auto &weights = *file.graph().weights();
  ASSERT_EQ(weights.size(), 4u);
  EXPECT_EQ(text(weights.Get(0)->name()), "both[0:2]");
  EXPECT_EQ(weights.Get(0)->length(), 24u);
  EXPECT_EQ(text(weights.Get(1)->name()), "both[2:5]");
  EXPECT_EQ(weights.Get(1)->offset(), weights.Get(0)->offset() + 24);
  EXPECT_TRUE(weights.Get(2)->transposed());
  EXPECT_EQ(text(weights.Get(3)->name()), "e.*.w");
  EXPECT_EQ(sizeOf(weights.Get(3)->parts()), 2u);
  EXPECT_EQ(file.weights().bytes(3).size(), 48u);
}

TEST_F(TensorRules, WhatDoesNotFit) {
  EXPECT_EQ(verdict(tensors()), "tensor 'e.1.w': missing, wanted shape [2 = 2, 3 = 3]");
  EXPECT_EQ(verdict(tensors().tensor("e.1.w", {3, 2}).tensor("e.2.w", {2, 3})),
            "2 tensors do not fit family 'stacked':\n"
            "  tensor 'e.1.w': found shape [3, 2], wanted [2 = 2, 3 = 3]\n"
            "  tensor 'e.2.w': found, but the family has no place for it");
  EXPECT_EQ(verdict(SafetensorsWriter()
                        .tensor("both", {6, 3})
                        .tensor("turned", {4, 3})
                        .tensor("e.0.w", {2, 3})
                        .tensor("e.1.w", {2, 3})),
            "2 tensors do not fit family 'stacked':\n"
            "  tensor 'both': found shape [6, 3], wanted [5 = 5, 3 = 3]\n"
            "  tensor 'turned': found shape [4, 3], wanted [3 = 3, 4 = 4]");
  EXPECT_EQ(verdict(SafetensorsWriter()
                        .tensor("both", {5, 3}, "U32")
                        .tensor("turned", {3, 4})
                        .tensor("e.0.w", {2, 3})
                        .tensor("e.1.w", {2, 3})),
            "unsupported quantisation U32 of tensor both");
  setExperts("1000000000");
  EXPECT_EQ(verdict(tensors()), "weight 'experts': found 1000000000 parts and 3 tensors, wanted a tensor for each of "
                                "1000000000 parts");
}

TEST_F(TensorRules, MistakesOfDescriptions) {
  auto changed = [&](StringRef from, StringRef to) {
    setFamily(replaced(family, from, to));
    return verdict(tensors().tensor("e.1.w", {2, 3}));
  };
  EXPECT_EQ(changed("\"from\": \"2\"", "\"from\": \"3\""),
            "family 'stacked': weight 'lower': found rows 3 to 6, wanted a part of the 5 rows of tensor 'both'");
  EXPECT_EQ(changed("\"parts\": \"X\"", "\"parts\": \"X + 1\""),
            "weight 'experts': found 3 parts and 4 tensors, wanted a tensor for each of 2 parts");
  EXPECT_EQ(
      changed("\"shape\": [\"4\", \"3\"]", "\"shape\": [\"4\"]"),
      "family 'stacked': weight 'turned': found a shape of 1 dimensions, wanted at least 2 for a part, or parts, or "
      "a transposed matrix");
  EXPECT_EQ(changed("[\"4\", \"3\"], \"config\": {\"tensor\": \"turned\", \"transposed\": true",
                    "[\"-4\", \"-3\"], \"config\": {\"tensor\": \"turned\", \"stored\": [\"3\", \"4\"]"),
            "family 'stacked': weight 'turned': found the stored shape [3 = 3, 4 = 4], wanted as many elements as "
            "[-4 = -4, -3 = -3] has, and no part");
  EXPECT_EQ(changed(", \"of\": \"5\"", ""),
            "expected from and of together, and one of them, row_permutation, and transposed or parts at "
            "stacked.json.weights[0].config");
}

} // namespace
