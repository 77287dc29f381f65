// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tw.topk, tw.group_rows and tw.grouped_linear, compiled, against the reference interpreter.
#include "tests/unit/kernels/FunctionCase.h"

#include "llvm/Support/FormatVariadic.h"

#include <limits>
#include <numeric>

using namespace tilewright;
using namespace tilewright::test;
using reference::Tensor;

namespace {

std::string topkText(llvm::StringRef element, int64_t n, int64_t k, bool take) {
  int64_t out = std::min(n, k);
  return llvm::formatv(
             R"(func.func @f(%x: tensor<?x?x{0}x{1}>, %y: tensor<?x?x{0}x{1}>) -> (tensor<?x?x{2}x{1}>, tensor<?x?x{2}xi32>) {{
  %v, %i = tw.topk %x {3} k {4} : tensor<?x?x{0}x{1}>{5} -> tensor<?x?x{2}x{1}>, tensor<?x?x{2}xi32>
  return %v, %i : tensor<?x?x{2}x{1}>, tensor<?x?x{2}xi32>
})",
             n, element, out, take ? "take %y" : "", k,
             take ? llvm::formatv(", tensor<?x?x{0}x{1}>", n, element).str() : "")
      .str();
}

/// x [M, in], a group for each row -> its linear map, rows in their own order.
std::string linearText(llvm::StringRef element, int64_t groups, int64_t in, int64_t out, bool bias, bool inOut) {
  std::string weight = inOut ? llvm::formatv("{0}x{1}x{2}x{3}", groups, in, out, element).str()
                             : llvm::formatv("{0}x{1}x{2}x{3}", groups, out, in, element).str();
  return llvm::formatv(
             R"(func.func @f(%x: tensor<?x{1}x{3}>, %ids: tensor<?xi32>, %w: tensor<{4}>, %b: tensor<{0}x{2}x{3}>) -> (tensor<?x{2}x{3}>, tensor<{7}xi32>) {{
  %rows, %places, %offsets = tw.group_rows %ids groups {0} per_row 1 : tensor<?xi32> -> tensor<?xi32>, tensor<?xi32>, tensor<{7}xi32>
  %s = tw.gather %x, %rows : tensor<?x{1}x{3}>, tensor<?xi32> -> tensor<?x{1}x{3}>
  %y = tw.grouped_linear %s, %w offsets %offsets {5} {{in_out = {8}} : tensor<?x{1}x{3}>, tensor<{4}>, tensor<{7}xi32>{6} -> tensor<?x{2}x{3}>
  %z = tw.gather %y, %places : tensor<?x{2}x{3}>, tensor<?xi32> -> tensor<?x{2}x{3}>
  return %z, %offsets : tensor<?x{2}x{3}>, tensor<{7}xi32>
})",
             groups, in, out, element, weight, bias ? "bias %b" : "",
             bias ? llvm::formatv(", tensor<{0}x{1}x{2}>", groups, out, element).str() : "", groups + 1, inOut)
      .str();
}

Shapes linearShapes(int64_t rows, int64_t groups, int64_t in, int64_t out, bool inOut) {
  return {{rows, in}, {rows}, inOut ? std::vector{groups, in, out} : std::vector{groups, out, in}, {groups, out}};
}

/// What function @f of `text` gives, compiled, each of `times` times.
std::vector<Tensor> compiledResults(const std::string &text, const std::vector<Tensor> &inputs, unsigned threads = 1,
                                    int times = 1) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  reference::NoWeights none;
  FunctionOptions options;
  options.threads = threads;
  auto compiled = CompiledFunction::create(*module, "f", host().stages, none, options);
  auto results = succeeded(compiled) ? (*compiled)->run(inputs) : mlir::FailureOr<std::vector<Tensor>>(mlir::failure());
  EXPECT_TRUE(succeeded(results)) << text;
  for (int time = 1; time < times && succeeded(results); ++time) {
    auto again = (*compiled)->run(inputs);
    EXPECT_TRUE(succeeded(again));
    for (size_t i = 0; succeeded(again) && i < results->size(); ++i)
      EXPECT_EQ(firstDisagreement((*again)[i], (*results)[i], 0), "") << "result " << i << ", time " << time;
  }
  return succeeded(results) ? *results : std::vector<Tensor>();
}

} // namespace

TEST(Topk, AgreesWithTheReferenceInEveryShapeAndType) {
  for (auto [n, k] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 3}, {2, 1}, {7, 3}, {8, 8}, {33, 5}, {64, 4}, {130, 8}})
    for (bool take : {false, true})
      for (auto [a, b] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {3, 5}, {0, 2}})
        expectAgreement(topkText("f32", n, k, take), {{a, b, n}, {a, b, n}}, 0);
  // Numbers of 16 bits have ties.
  for (llvm::StringRef element : {"bf16", "f16", "f64"})
    expectAgreement(topkText(element, 40, 9, true), {{2, 3, 40}, {2, 3, 40}}, 0);
}

TEST(Topk, LowerPlacesWinTiesAndNaNNeverWins) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  struct {
    std::vector<double> keys;
    std::vector<int64_t> order;
  } cases[] = {
      {{1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5}},          {{-0.0, 0.0, -0.0, 0.0, 1, -1}, {4, 0, 1, 2, 3, 5}},
      {{nan, 1, nan, 2, -inf, inf}, {5, 3, 1, 4, 0, 2}}, {{nan, nan, nan, nan, nan, nan}, {0, 1, 2, 3, 4, 5}},
      {{3, 2, 2, 2, 1, 3}, {0, 5, 1, 2, 3, 4}},          {{-inf, -inf, -1e30, -1e-45, 1e-45, 0}, {4, 5, 3, 2, 0, 1}},
  };
  Tensor x = Tensor::floats({2, 3, 6});
  x.reals.clear();
  for (const auto &[keys, order] : cases)
    llvm::append_range(x.reals, keys);
  for (int64_t k : {1, 2, 6})
    for (unsigned threads : {1u, 2u, 3u, 8u}) {
      std::vector<Tensor> results = compiledResults(topkText("f32", 6, k, false), {x, x}, threads, /*times=*/20);
      ASSERT_EQ(results.size(), 2u);
      for (const auto &[row, entry] : llvm::enumerate(cases))
        for (int64_t r = 0; r < k; ++r) {
          EXPECT_EQ(results[1].integers[row * k + r], entry.order[r])
              << testing::PrintToString(entry.keys) << ", " << k;
          double want = static_cast<float>(entry.keys[entry.order[r]]), got = results[0].reals[row * k + r];
          EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << got << " " << want;
        }
    }
}

TEST(GroupRows, SortsStably) {
  for (int64_t groups : {1, 3, 8, 40})
    for (int64_t perRow : {1, 2, 3})
      for (int64_t rows : {0, 1, 5, 33}) {
        std::string text =
            llvm::formatv(R"(func.func @f(%ids: tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<{0}xi32>) {{
  %rows, %places, %offsets = tw.group_rows %ids groups {1} per_row {2} : tensor<?xi32> -> tensor<?xi32>, tensor<?xi32>, tensor<{0}xi32>
  return %rows, %places, %offsets : tensor<?xi32>, tensor<?xi32>, tensor<{0}xi32>
})",
                          groups + 1, groups, perRow)
                .str();
        expectAgreement(text, {{rows * perRow}}, 0, groups);
      }
}

// Bounds of f32 and of 16 bits are the contract's (ir/tw/Numerics.cpp), of results of f64 a few thousand times 2^-53.
TEST(GroupedLinear, AgreesWithTheReferenceInEveryShapeAndType) {
  for (int64_t rows : {0, 1, 3, 37, 150})
    for (auto [groups, in, out] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{
             {1, 1, 1}, {3, 5, 7}, {8, 60, 48}, {4, 32, 33}, {5, 70, 16}})
      for (bool inOut : {false, true})
        if (!inOut || rows % 37 == 1 || rows == 0)
          expectAgreement(linearText("f32", groups, in, out, rows % 3, inOut),
                          linearShapes(rows, groups, in, out, inOut), 1e-5, groups);
  for (llvm::StringRef element : {"bf16", "f16", "f64"})
    for (int64_t out : {16, 10})
      if (element == "f64" || hasPackedLayout(element))
        expectAgreement(linearText(element, 3, 33, out, true, false), linearShapes(21, 3, 33, out, false),
                        element == "f64" ? 1e-12 : 1e-2, 3);
  expectAgreement(linearText("f32", 3, 0, 4, true, false), linearShapes(5, 3, 0, 4, false), 0, 3);
  expectAgreement(linearText("f32", 3, 4, 0, true, false), linearShapes(5, 3, 4, 0, false), 0, 3);
}

// The experts without tokens are not computed and leave no trace; results are the same bits with any number of threads.
TEST(GroupedLinear, GroupsWithoutRows) {
  std::string text = linearText("f32", 8, 40, 32, true, false);
  for (std::vector<int64_t> ids :
       std::vector<std::vector<int64_t>>{{3, 3, 3, 3}, {7, 7, 7, 7, 7, 7}, {0}, {}, {0, 7, 0, 7, 7}}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
    std::vector<Tensor> inputs =
        randomInputs(module->lookupSymbol<mlir::func::FuncOp>("f"), linearShapes(ids.size(), 8, 40, 32, false), 8);
    inputs[1] = integers(ids);
    // The other experts' weights are NaN.
    for (int64_t g = 0; g < 8; ++g)
      if (!llvm::is_contained(ids, g))
        std::fill_n(inputs[2].reals.begin() + g * 32 * 40, 32 * 40, std::numeric_limits<double>::quiet_NaN());
    auto want = interpret(*module, inputs);
    ASSERT_TRUE(succeeded(want));
    std::vector<Tensor> first = compiledResults(text, inputs);
    ASSERT_EQ(first.size(), 2u);
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(firstDisagreement(first[i], (*want)[i], boundOf("f32")), "") << testing::PrintToString(ids);
    EXPECT_FALSE(llvm::any_of(first[0].reals, [](double y) { return std::isnan(y); }));
    EXPECT_EQ(compiledResults(text, inputs, /*threads=*/5)[0].reals, first[0].reals);
  }
}

TEST(GroupedLinear, RowsBehindTheLastOffsetAreZeroAndBadOffsetsAreErrors) {
  std::string text =
      R"(func.func @f(%x: tensor<6x8xf32>, %w: tensor<2x20x8xf32>, %o: tensor<3xi32>) -> tensor<6x20xf32> {
  %y = tw.grouped_linear %x, %w offsets %o : tensor<6x8xf32>, tensor<2x20x8xf32>, tensor<3xi32> -> tensor<6x20xf32>
  return %y : tensor<6x20xf32>
})";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  std::vector<Tensor> inputs =
      randomInputs(module->lookupSymbol<mlir::func::FuncOp>("f"), {{6, 8}, {2, 20, 8}, {3}}, 1);
  inputs[2] = integers({0, 1, 3});
  std::vector<Tensor> results = compiledResults(text, inputs);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(std::all_of(results[0].reals.begin() + 60, results[0].reals.end(), [](double y) { return y == 0; }));
  EXPECT_TRUE(std::all_of(results[0].reals.begin(), results[0].reals.begin() + 60, [](double y) { return y != 0; }));

  reference::NoWeights none;
  auto interpreter = reference::Interpreter::create(*module, none, reference::Precision::F64);
  for (auto [offsets, wanted] :
       std::vector<std::pair<std::vector<int64_t>, const char *>>{{{0, 4, 3}, "offset 2 is 3, wanted 4 to 6"},
                                                                  {{0, 4, 7}, "offset 2 is 7, wanted 4 to 6"},
                                                                  {{1, 4, 5}, "offset 0 is 1, wanted 0 to 0"}}) {
    inputs[2] = integers(offsets);
    std::string said;
    mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &d) { said += d.str(); });
    EXPECT_TRUE(failed((*interpreter)->run("f", {inputs.begin(), inputs.end()})));
    EXPECT_NE(said.find(wanted), std::string::npos) << said;
    // A kernel stays within its arguments.
    compiledResults(text, inputs);
  }
}

// A step's rows, in the three shape classes: padding rows belong to no group.
TEST(GroupedLinear, RowsOfAStep) {
  std::string text = R"(
ml_program.global private @w(#ml_program.extern : tensor<6x32x64xf32>) : tensor<6x32x64xf32>
func.func @f(%x: tensor<?x64xf32>, %logits: tensor<?x6xf32>) -> tensor<?x32xf32> {
  %w = ml_program.global_load_const @w : tensor<6x32x64xf32>
  %v, %i = tw.topk %logits k 2 : tensor<?x6xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  %ids = tw.reshape %i : tensor<?x2xi32> -> tensor<?xi32>
  %rows, %places, %offsets = tw.group_rows %ids groups 6 per_row 2 : tensor<?xi32> -> tensor<?xi32>, tensor<?xi32>, tensor<7xi32>
  %s = tw.gather %x, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  %y = tw.grouped_linear %s, %w offsets %offsets : tensor<?x64xf32>, tensor<6x32x64xf32>, tensor<7xi32> -> tensor<?x32xf32>
  %z = tw.gather %y, %places : tensor<?x32xf32>, tensor<?xi32> -> tensor<?x32xf32>
  %p = tw.reshape %z : tensor<?x32xf32> -> tensor<?x2x32xf32>
  %sum = tw.reduce "sum" %p dims [1] : tensor<?x2x32xf32> -> tensor<?x32xf32>
  return %sum : tensor<?x32xf32>
})";
  constexpr int64_t groups = 6, in = 64, out = 32;
  std::mt19937 random(3);
  auto numbers = [&](size_t count) {
    std::vector<float> made(count);
    for (float &number : made)
      number = 2.0f * (static_cast<float>(random() >> 8) / 16777216.0f) - 1.0f;
    return made;
  };
  std::vector<float> weight = numbers(groups * out * in);
  for (const CpuLevel *level : hostCpuLevels())
    for (const ShapeClass &shapeClass : shapeClasses()) {
      ProgramRunner runner(text, "tile", shapeClass.name, "precise", *level);
      ASSERT_TRUE(runner.ready());
      runner.setWeight("w", {reinterpret_cast<const uint8_t *>(weight.data()), weight.size() * sizeof(float)});
      for (int64_t rows :
           shapeClass.name == "decode" ? std::vector<int64_t>{1} : std::vector<int64_t>{2, 5, 8, 17, 40}) {
        Step step;
        step.rows = step.logitRows = rows;
        step.paddedRows = step.paddedLogitRows = llvm::alignTo(rows, shapeClass.rowMultiple);
        std::vector<float> x = numbers(step.paddedRows * in), logits = numbers(step.paddedRows * groups);
        std::fill(x.begin() + rows * in, x.end(), std::numeric_limits<float>::quiet_NaN());
        std::fill(logits.begin() + rows * groups, logits.end(), std::numeric_limits<float>::quiet_NaN());
        auto got = runner.run("f", {runner.table(x), runner.table(logits)}, step);
        ASSERT_TRUE(got);
        for (int64_t row = 0; row < rows; ++row) {
          std::vector<int> order(groups);
          std::iota(order.begin(), order.end(), 0);
          llvm::sort(order, [&](int a, int b) { return logits[row * groups + a] > logits[row * groups + b]; });
          for (int64_t o = 0; o < out; ++o) {
            double want = 0;
            for (int choice : {order[0], order[1]})
              for (int64_t e = 0; e < in; ++e)
                want += static_cast<double>(x[row * in + e]) * weight[(choice * out + o) * in + e];
            // The contract's 1e-5 of the largest results: 128 products of numbers in [-1, 1] give up to about 10.
            EXPECT_NEAR(got->as<float>()[row * out + o], want, 1e-4)
                << rows << " rows, class " << shapeClass.name.str();
          }
        }
      }
    }
}
