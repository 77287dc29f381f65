// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every attribute and every optional operand of attention changes the result, however it is computed: none is read and
// then dropped.
#include "tests/unit/kernels/FunctionCase.h"

#include "ir/tw/Tw.h"

#include <limits>
#include <map>
#include <set>

using namespace tilewright;
using namespace tilewright::test;
using reference::Tensor;

namespace {

constexpr int64_t kHeads = 5, kRows = 5, kKeys = 7, kDim = 8;

/// Attention with one thing in two forms.
struct Probe {
  const char *name;               ///< the attribute, operand or region
  std::vector<std::string> forms; ///< attributes, behind an operand of that name where `operand` is not empty
  const char *operand = "";       ///< its type; the first form goes without it
};

const std::vector<Probe> &probes() {
  static const std::vector<Probe> all = {
      {"scale", {"scale = 0.3 : f64", "scale = 0.4 : f64"}},
      {"causal", {"causal = \"none\"", "causal = \"start\"", "causal = \"end\""}},
      {"window",
       {"causal = \"end\"", "causal = \"end\", window = 2 : i64", "causal = \"end\", window = 3 : i64",
        "window = 2 : i64", "window = 3 : i64"}},
      {"softcap", {"", "softcap = 0.5 : f64", "softcap = 5.0 : f64", "softcap = 50.0 : f64"}},
      {"offset",
       {"causal = \"start\"", "causal = \"start\", offset = 1 : i64", "causal = \"start\", offset = -2 : i64"}},
      {"radius", {"", "radius = 1 : i64", "radius = 3 : i64"}},
      {"chunk", {"", "chunk = 2 : i64", "chunk = 3 : i64"}},
      {"layout", {"layout = \"bhtd\"", "layout = \"bthd\""}},
      {"mask", {"", ""}, "tensor<5x7xi1>"},
      {"bias", {"", ""}, "tensor<5x7xf32>"},
      {"sinks", {"", ""}, "tensor<5xf32>"},
      {"kv_start", {"", ""}, "tensor<1xi32>"},
      {"kv_end", {"", ""}, "tensor<1xi32>"},
      {"prefix_len", {"causal = \"start\"", "causal = \"start\""}, "tensor<1xi32>"},
      {"cu_seqlens_q", {"", ""}, "tensor<3xi32>"},
      {"score", {"", ""}},
  };
  return all;
}

/// What an operand holds: numbers that leave something and take something away.
Tensor valueOf(llvm::StringRef name) {
  if (name == "mask") {
    Tensor mask = Tensor::ints({kRows, kKeys});
    for (int64_t i = 0; i < kRows * kKeys; ++i)
      mask.integers[i] = i % 3 != 0;
    return mask;
  }
  if (name == "bias" || name == "sinks") {
    Tensor numbers = Tensor::floats(name == "bias" ? std::vector<int64_t>{kRows, kKeys} : std::vector<int64_t>{kHeads});
    for (size_t i = 0; i < numbers.reals.size(); ++i)
      numbers.reals[i] = static_cast<double>(i % 5) / 2;
    return numbers;
  }
  if (name == "cu_seqlens_q")
    return integers({0, 2, 5});
  return integers({name == "kv_end" ? 5 : 2});
}

struct Given {
  std::string text;
  std::vector<Tensor> inputs;
};

Given given(const Probe &probe, size_t form) {
  // Heads and rows are as many, so that either layout fits; keys are then as many as well.
  const int64_t keys = llvm::StringRef(probe.name) == "layout" ? kRows : kKeys;
  const Shapes shapes = {{1, kHeads, kRows, kDim}, {1, kHeads, keys, kDim}, {1, kHeads, keys, kDim}};
  const std::string q = typeText(shapes[0], "f32"), k = typeText(shapes[1], "f32");
  std::string arguments = "%q: " + q + ", %k: " + k + ", %v: " + k,
              operands = "query(%q : " + q + ") key(%k : " + k + ") value(%v : " + k + ")",
              attributes = probe.forms[form];
  Given made;
  std::mt19937 random(5);
  for (const auto &shape : shapes) {
    made.inputs.push_back(Tensor::floats(shape));
    for (double &number : made.inputs.back().reals)
      number = static_cast<double>(random() % 257) / 64.0 - 2.0;
  }
  auto add = [&](llvm::StringRef name) {
    arguments += ", %" + name.str() + ": " + probe.operand;
    operands += " " + name.str() + "(%" + name.str() + " : " + probe.operand + ")";
    made.inputs.push_back(valueOf(name));
  };
  if (*probe.operand && form > 0)
    add(probe.name);
  if (llvm::StringRef(probe.name) == "cu_seqlens_q" && form > 0) {
    add("cu_seqlens_kv");
    made.inputs.back() = integers({0, 3, 7});
  }
  if (llvm::StringRef(probe.name) == "score" && form > 0)
    operands +=
        " score {\n  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):\n    %f = arith.sitofp %j : i32 to f32\n"
        "    %r = arith.addf %s, %f : f32\n    tw.yield %r : f32\n  }";
  if (!llvm::StringRef(attributes).contains("scale"))
    attributes += std::string(attributes.empty() ? "" : ", ") + "scale = 0.3 : f64";
  made.text = "func.func @f(" + arguments + ") -> " + q + " {\n  %y = tw.attention " + operands + " {" + attributes +
              "} -> " + q + "\n  return %y : " + q + "\n}\n";
  return made;
}

/// Results of the interpreter, of core's kernel, and of what a plugin makes of it.
std::map<std::string, std::vector<double>> results(const Given &given) {
  SCOPED_TRACE(given.text);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(given.text, &context());
  if (!module) {
    ADD_FAILURE() << "is not read";
    return {};
  }
  std::map<std::string, std::vector<double>> all;
  auto interpreted = interpret(*module, given.inputs);
  EXPECT_TRUE(succeeded(interpreted));
  if (succeeded(interpreted))
    all["interpreted"] = interpreted->front().reals;
  reference::NoWeights none;
  for (const char *first : {"tile", "simplify"}) {
    FunctionOptions options;
    options.firstStage = first;
    auto compiled = CompiledFunction::create(*module, "f", host().stages, none, options);
    EXPECT_TRUE(succeeded(compiled));
    if (failed(compiled))
      continue;
    auto got = (*compiled)->run(given.inputs);
    EXPECT_TRUE(succeeded(got));
    if (succeeded(got))
      all[std::string("from stage ") + first] = got->front().reals;
  }
  return all;
}

class AttentionAttributes : public testing::TestWithParam<Probe> {};

TEST_P(AttentionAttributes, Matter) {
  std::vector<std::map<std::string, std::vector<double>>> all;
  for (size_t form = 0; form < GetParam().forms.size(); ++form) {
    all.push_back(results(given(GetParam(), form)));
    for (size_t other = 0; other < form; ++other)
      for (const auto &[way, numbers] : all[form])
        EXPECT_NE(numbers, all[other][way]) << way << ": forms " << other << " and " << form << " give the same bits";
  }
}
INSTANTIATE_TEST_SUITE_P(Probes, AttentionAttributes, testing::ValuesIn(probes()),
                         [](const auto &info) { return std::string(info.param.name); });

/// None is forgotten above.
TEST(AttentionAttributesTable, HasAllOfTheOp) {
  std::set<std::string> names;
  for (const Probe &probe : probes())
    names.insert(probe.name);
  for (llvm::StringRef name : tw::AttentionOp::getAttributeNames())
    if (name != "operandSegmentSizes")
      EXPECT_TRUE(names.count(name.str())) << name.str();
  // Behind these: of the dense form all, and the state's three tables.
  context();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(given(probes().front(), 0).text, &context());
  ASSERT_TRUE(module);
  module->walk([&](tw::AttentionOp op) {
    const size_t groups = op.getProperties().operandSegmentSizes.size(), ofEvery = 3, ofStates = 4, probed = 8;
    EXPECT_EQ(groups, ofEvery + ofStates + probed) << "an operand that no probe has";
  });
}

// Sinks of minus infinity take part in nothing: every bit is as without them.
TEST(AttentionSinks, OfMinusInfinityAreNone) {
  const Probe sinks = {"sinks", {"", ""}, "tensor<5xf32>"};
  Given with = given(sinks, 1);
  with.inputs.back().reals.assign(kHeads, -std::numeric_limits<double>::infinity());
  const auto without = results(given(sinks, 0)), none = results(with);
  EXPECT_EQ(without.size(), 3u);
  EXPECT_EQ(none, without);
}

} // namespace
