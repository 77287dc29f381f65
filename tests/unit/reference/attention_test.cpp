// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tw.attention against golden data (PyTorch and own formulas in f64), and its two forms against each other.
#include "backends/reference/Interpreter.h"
#include "ir/tw/Tw.h"
#include "tests/unit/support/GoldenCase.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::reference;
using tilewright::test::GoldenCase;

namespace {

std::string typeOf(const Tensor &t, StringRef element) {
  std::string type = "tensor<";
  for (int64_t d : t.shape)
    type += std::to_string(d) + "x";
  return type + element.str() + ">";
}

struct Attention : testing::Test {
  Attention() {
    DialectRegistry registry;
    registry.insert<tw::TwDialect, func::FuncDialect>();
    context.appendDialectRegistry(registry);
  }

  /// Runs @main of the module that `text` is.
  std::vector<RunValue> run(const std::string &text, std::vector<RunValue> inputs, Precision precision) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "cannot parse " << text;
      return {};
    }
    NoWeights none;
    auto interpreter = Interpreter::create(*module, none, precision);
    if (failed(interpreter)) {
      ADD_FAILURE() << "cannot interpret " << text;
      return {};
    }
    auto outputs = (*interpreter)->run("main", std::move(inputs));
    if (failed(outputs)) {
      ADD_FAILURE() << "failed: " << text;
      return {};
    }
    return *outputs;
  }

  MLIRContext context;
};

/// A function of the dense form over all that the case gives.
std::string denseModule(const GoldenCase &golden, const llvm::json::Object &attrs, bool maskOnly,
                        std::vector<RunValue> &inputs) {
  std::string arguments, operands;
  auto add = [&](StringRef operand, StringRef tensor, StringRef element) {
    std::optional<Tensor> value = golden.tensor(tensor);
    if (!value)
      return;
    std::string type = typeOf(*value, element);
    arguments += llvm::formatv("{0}%{1}: {2}", arguments.empty() ? "" : ", ", operand, type);
    operands += llvm::formatv(" {0}(%{0} : {1})", operand, type);
    inputs.push_back(std::move(*value));
  };
  add("query", "in.q", "f32");
  add("key", "in.k", "f32");
  add("value", "in.v", "f32");
  add("mask", maskOnly ? "aux.visible" : "in.mask", "i1");
  add("bias", "in.bias", "f32");
  add("sinks", "in.sinks", "f32");
  Tensor q = *golden.tensor("in.q"), v = *golden.tensor("in.v");
  double scale = attrs.getNumber("scale").value_or(1.0 / std::sqrt(double(q.shape[3])));
  std::string options = llvm::formatv("scale = {0:E17} : f64", scale);
  if (!maskOnly) {
    options += llvm::formatv(", causal = \"{0}\"", *attrs.getString("causal"));
    if (auto window = attrs.getInteger("window"))
      options += llvm::formatv(", window = {0} : i64", *window);
  }
  if (auto softcap = attrs.getNumber("softcap"))
    options += llvm::formatv(", softcap = {0:E17} : f64", *softcap);
  q.shape[3] = v.shape[3];
  std::string result = typeOf(q, "f32");
  return llvm::formatv("func.func @main({0}) -> {1} {{\n  %0 = tw.attention{2} {{{3}} -> {1}\n  return %0 : {1}\n}\n",
                       arguments, result, operands, options);
}

double largestDifference(const Tensor &a, const Tensor &b) {
  double largest = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    largest = std::isnan(a.reals[i] - b.reals[i]) ? INFINITY : std::fmax(largest, std::fabs(a.reals[i] - b.reals[i]));
  return largest;
}

TEST_F(Attention, GoldenCases) {
  std::error_code error;
  unsigned cases = 0;
  for (llvm::sys::fs::directory_iterator it(TILEWRIGHT_TEST_DATA "/golden/cases", error), end; it != end && !error;
       it.increment(error)) {
    std::string name = llvm::sys::path::filename(it->path()).str();
    if (!StringRef(name).starts_with("attn_"))
      continue;
    GoldenCase golden("golden/cases/" + name);
    ASSERT_TRUE(golden.isRead()) << name;
    llvm::json::Object attrs = golden.metadata("attrs");
    if (attrs.getString("kv_map") == "tile") // another order of heads than the op has
      continue;
    // What the op has no option for is a mask.
    bool maskOnly = attrs.getInteger("chunk") || golden.has("in.prefix_len") || golden.has("in.kv_start") ||
                    golden.has("in.cu_seqlens_q");
    ++cases;
    std::optional<Tensor> exact = golden.tensor("f64.out.o"), wanted = exact ? exact : golden.tensor("out.o");
    for (Precision precision : {Precision::F64, Precision::F32}) {
      std::vector<RunValue> inputs;
      std::string module = denseModule(golden, attrs, maskOnly, inputs);
      std::vector<RunValue> outputs = run(module, std::move(inputs), precision);
      ASSERT_EQ(outputs.size(), 1u) << name;
      const Tensor &found = std::get<Tensor>(outputs[0]);
      ASSERT_EQ(found.shape, wanted->shape) << name;
      double largest = 0;
      for (double x : wanted->reals)
        largest = std::fmax(largest, std::fabs(x));
      // f64 against f64 outputs; outputs stored as f32 are rounded. f32: the bound that golden/README gives.
      double f32Error = (*golden.metadata("f32_err").getArray("out.o"))[0].getAsNumber().value_or(0);
      double bound =
          precision == Precision::F32 ? std::fmax(20 * f32Error, 2e-5 * largest) : (exact ? 1e-12 : 1e-7) * largest;
      EXPECT_LE(largestDifference(found, *wanted), bound) << name << "\n" << module;
    }
  }
  EXPECT_FALSE(error);
  EXPECT_GE(cases, 40u);
}

/// Two sequences over a state, prefilled in two steps and then decoded, against the dense form of each sequence.
/// `valuesInKeys`: the state has keys alone, whose first columns are the values.
void raggedEqualsDense(Attention &test, int64_t heads, int64_t kvHeads, std::optional<int64_t> window, bool sinks,
                       bool valuesInKeys = false) {
  constexpr int64_t kDepth = 16, kValueDepth = 8, kSequences = 2;
  std::mt19937 random(static_cast<uint32_t>(heads * 131 + kvHeads));
  std::normal_distribution<float> normal;
  auto randomTensor = [&](ArrayRef<int64_t> shape) {
    Tensor t = Tensor::floats(shape);
    for (double &x : t.reals)
      x = normal(random);
    return t;
  };
  auto integers = [](ArrayRef<int64_t> values) {
    Tensor t = Tensor::ints({static_cast<int64_t>(values.size())});
    t.integers.assign(values.begin(), values.end());
    return t;
  };
  std::string options = "scale = 0.25 : f64, causal = \"end\"" +
                        (window ? ", window = " + std::to_string(*window) + " : i64" : std::string());
  std::string sinkArgument = llvm::formatv(", %sinks: tensor<{0}xf32>", heads),
              sinkOperand = llvm::formatv(" sinks(%sinks : tensor<{0}xf32>)", heads);
  if (!sinks)
    sinkOperand.clear();
  std::string keys = llvm::formatv("tensor<?x{0}x16xf32>", kvHeads),
              values = llvm::formatv(", tensor<?x{0}x8xf32>", kvHeads);
  std::string state = "!tw.state<" + keys + (valuesInKeys ? "" : values) + ">";
  std::string ragged = llvm::formatv(R"(
func.func @main(%q: tensor<?x{0}x16xf32>, %k: tensor<?x{1}x16xf32>, %v: tensor<?x{1}x8xf32>, %s: {2}, %r: tensor<?xi32>,
    %l: tensor<?xi32>, %p: tensor<?xi32>{3}) -> (tensor<?x{0}x8xf32>, {2}) {{
  %s1 = tw.append %s, %r, %k{6} : {2}, tensor<?xi32>, tensor<?x{1}x16xf32>{7}
  %y = tw.attention query(%q : tensor<?x{0}x16xf32>) state(%s1 : {2}) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>){4} {{{5}} -> tensor<?x{0}x8xf32>
  return %y, %s1 : tensor<?x{0}x8xf32>, {2}
})",
                                     heads, kvHeads, state, sinkArgument, sinkOperand, options,
                                     valuesInKeys ? "" : ", %v", valuesInKeys ? "" : values);
  std::string dense = llvm::formatv(R"(
func.func @main(%q: tensor<1x{0}x?x16xf32>, %k: tensor<1x{1}x?x16xf32>, %v: tensor<1x{1}x?x8xf32>{2}) -> tensor<1x{0}x?x8xf32> {{
  %y = tw.attention query(%q : tensor<1x{0}x?x16xf32>) key(%k : tensor<1x{1}x?x16xf32>) value(%v : tensor<1x{1}x?x8xf32>){3}
       {{{4}} -> tensor<1x{0}x?x8xf32>
  return %y : tensor<1x{0}x?x8xf32>
})",
                                    heads, kvHeads, sinkArgument, sinkOperand, options);

  const int64_t steps[][kSequences] = {{4, 0}, {3, 5}, {1, 1}}; // new rows of each sequence
  Tensor sink = randomTensor({heads});
  struct History {
    std::vector<double> q, k, v, y; ///< [rows, heads, depth]
    int64_t rows = 0;
  } histories[kSequences];

  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(ragged, &test.context);
  ASSERT_TRUE(bool(module)) << ragged;
  NoWeights none;
  auto interpreter = Interpreter::create(*module, none, Precision::F64);
  ASSERT_TRUE(succeeded(interpreter));
  RunValue kept = StateHandle();
  for (const auto &step : steps) {
    int64_t rows = step[0] + step[1], padded = rows + 2; // two padding rows
    Tensor q = randomTensor({padded, heads, kDepth}), k = randomTensor({padded, kvHeads, kDepth}),
           v = randomTensor({padded, kvHeads, kValueDepth});
    for (int64_t i = 0; valuesInKeys && i < padded * kvHeads; ++i)
      std::copy_n(k.reals.begin() + i * kDepth, kValueDepth, v.reals.begin() + i * kValueDepth);
    std::vector<int64_t> positions, lengths, starts = {0};
    for (int64_t b = 0, n = 0; b < kSequences; ++b) {
      for (int64_t i = 0; i < step[b]; ++i, ++n) {
        positions.push_back(histories[b].rows + i);
        auto keep = [&](std::vector<double> &to, const Tensor &from) {
          int64_t width = from.size() / padded;
          to.insert(to.end(), from.reals.begin() + n * width, from.reals.begin() + (n + 1) * width);
        };
        keep(histories[b].q, q);
        keep(histories[b].k, k);
        keep(histories[b].v, v);
      }
      histories[b].rows += step[b];
      lengths.push_back(histories[b].rows);
      starts.push_back(n);
    }
    positions.resize(padded, 0);
    auto outputs =
        (*interpreter)->run("main", {q, k, v, kept, integers(starts), integers(lengths), integers(positions), sink});
    ASSERT_TRUE(succeeded(outputs));
    kept = (*outputs)[1];
    const Tensor &y = std::get<Tensor>((*outputs)[0]);
    int64_t width = heads * kValueDepth;
    for (int64_t b = 0; b < kSequences; ++b)
      histories[b].y.insert(histories[b].y.end(), y.reals.begin() + starts[b] * width,
                            y.reals.begin() + starts[b + 1] * width);
    for (int64_t i = rows * width; i < padded * width; ++i)
      ASSERT_EQ(y.reals[i], 0.0) << "a padding row is not 0";
  }
  // Rows to heads outside.
  auto toDense = [](const std::vector<double> &values, int64_t rows, int64_t h, int64_t d) {
    Tensor t = Tensor::floats({1, h, rows, d});
    for (int64_t n = 0; n < rows; ++n)
      for (int64_t i = 0; i < h; ++i)
        std::copy_n(values.begin() + (n * h + i) * d, d, t.reals.begin() + (i * rows + n) * d);
    return t;
  };
  for (History &history : histories) {
    int64_t n = history.rows;
    std::vector<RunValue> outputs =
        test.run(dense,
                 {toDense(history.q, n, heads, kDepth), toDense(history.k, n, kvHeads, kDepth),
                  toDense(history.v, n, kvHeads, kValueDepth), sink},
                 Precision::F64);
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_LE(largestDifference(std::get<Tensor>(outputs[0]), toDense(history.y, n, heads, kValueDepth)), 1e-14);
  }
}

TEST_F(Attention, RaggedEqualsDense) {
  raggedEqualsDense(*this, 9, 3, std::nullopt, false);
  raggedEqualsDense(*this, 28, 4, std::nullopt, true);
  raggedEqualsDense(*this, 12, 1, 3, false);
  raggedEqualsDense(*this, 4, 4, 1, true);
  raggedEqualsDense(*this, 6, 2, std::nullopt, true, /*valuesInKeys=*/true);
}

TEST_F(Attention, RunTimeErrors) {
  const char *text = R"(
!state = !tw.state<tensor<?x1x2xf32>, tensor<?x1x2xf32>>
func.func @main(%q: tensor<?x1x2xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> tensor<?x1x2xf32> {
  %y = tw.attention query(%q : tensor<?x1x2xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64} -> tensor<?x1x2xf32>
  return %y : tensor<?x1x2xf32>
})";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  NoWeights none;
  auto interpreter = Interpreter::create(*module, none, Precision::F64);
  ASSERT_TRUE(succeeded(interpreter));
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { error = diagnostic.str(); });
  Tensor q = Tensor::floats({2, 1, 2}), bounds = Tensor::ints({2}), one = Tensor::ints({1}), two = Tensor::ints({2});
  bounds.integers = {0, 2};
  one.integers = {1};
  EXPECT_TRUE(failed((*interpreter)->run("main", {q, StateHandle(), bounds, one, two})));
  EXPECT_EQ(error, "'tw.attention' op kv_len 0 is 1 at run time, wanted at most the 0 rows that the state holds");
  one.integers = {0};
  EXPECT_TRUE(succeeded((*interpreter)->run("main", {q, StateHandle(), bounds, one, two})));
  bounds.integers = {0, 3};
  EXPECT_TRUE(failed((*interpreter)->run("main", {q, StateHandle(), bounds, one, two})));
  EXPECT_EQ(error, "'tw.attention' op row_start has 3 after 0 at run time, wanted rising numbers up to 2");
  bounds.integers = {0, 2};
  EXPECT_TRUE(failed((*interpreter)->run("main", {q, StateHandle(), bounds, one, one})));
  EXPECT_EQ(
      error,
      "'tw.attention' op row_start, kv_len and positions have 2, 1 and 1 elements at run time, wanted B+1, B and 2");
  EXPECT_TRUE(failed((*interpreter)->run("main", {q, q, bounds, one, two})));
  EXPECT_NE(error.find("argument 1 of type"), std::string::npos) << error;
  EXPECT_NE(error.find("was given a tensor"), std::string::npos) << error;
  EXPECT_TRUE(failed((*interpreter)->run("main", {q})));
  EXPECT_EQ(error, "'func.func' op was given 1 arguments, wanted 5");
  EXPECT_TRUE(failed((*interpreter)->run("other", {})));
  EXPECT_EQ(error, "there is no function 'other' to run");
}

} // namespace
