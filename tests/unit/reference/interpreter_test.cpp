// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights, taps and precision of the interpreter; what each op computes is in tests/backends/reference.
#include "backends/reference/Interpreter.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::reference;

namespace {

/// The same bytes for every weight.
struct Bytes : WeightProvider {
  explicit Bytes(std::vector<float> numbers) : numbers(std::move(numbers)) {}
  llvm::Expected<ArrayRef<uint8_t>> bytes(ml_program::GlobalOp) override {
    ++asked;
    return ArrayRef(reinterpret_cast<const uint8_t *>(numbers.data()), numbers.size() * sizeof(float));
  }
  std::vector<float> numbers;
  int asked = 0;
};

struct InterpreterTest : testing::Test {
  InterpreterTest() {
    DialectRegistry registry;
    registry.insert<tw::TwDialect, func::FuncDialect, ml_program::MLProgramDialect>();
    context.appendDialectRegistry(registry);
  }
  std::unique_ptr<Interpreter> open(StringRef text, WeightProvider &weights, Precision precision = Precision::F64) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return nullptr;
    auto made = Interpreter::create(*module, weights, precision);
    return succeeded(made) ? std::move(*made) : nullptr;
  }
  static Tensor floats(ArrayRef<int64_t> shape, std::vector<double> values) {
    Tensor t = Tensor::floats(shape);
    t.reals = std::move(values);
    return t;
  }

  MLIRContext context;
};

constexpr StringRef kLinear = R"(
ml_program.global private @w(#ml_program.extern : tensor<4x2xf32>) : tensor<4x2xf32> {tw.row_dims = array<i64: 2, 2>, tw.row_perm = array<i64: 1, 0>}
func.func @main(%x: tensor<?x2xf32>) -> (tensor<?x4xf32>, tensor<4x2xf32>) {
  %w = ml_program.global_load_const @w : tensor<4x2xf32>
  %y = tw.linear %x, %w : tensor<?x2xf32>, tensor<4x2xf32> -> tensor<?x4xf32>
  %n = tw.neg %w : tensor<4x2xf32>
  return %y, %n : tensor<?x4xf32>, tensor<4x2xf32>
})";

/// Stored rows 0 1 2 3, seen as [2, 2] and transposed: 0 2 1 3.
TEST_F(InterpreterTest, WeightsWithPermutedRows) {
  Bytes weights({1, 2, 3, 4, 5, 6, 7, 8});
  std::unique_ptr<Interpreter> interpreter = open(kLinear, weights);
  ASSERT_TRUE(interpreter);
  for (int run = 0; run < 2; ++run) {
    auto outputs = interpreter->run("main", {floats({1, 2}, {1, 10})});
    ASSERT_TRUE(succeeded(outputs));
    EXPECT_EQ(std::get<Tensor>((*outputs)[0]).reals, (std::vector<double>{21, 65, 43, 87}));
    EXPECT_EQ(std::get<Tensor>((*outputs)[1]).reals, (std::vector<double>{-1, -2, -5, -6, -3, -4, -7, -8}));
  }
  EXPECT_EQ(weights.asked, 1);
}

TEST_F(InterpreterTest, BadWeights) {
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { error = diagnostic.str(); });
  auto errorOf = [&](StringRef type, StringRef attributes, std::vector<float> numbers) {
    Bytes weights(std::move(numbers));
    std::string text = ("ml_program.global private @w(#ml_program.extern : " + type + ") : " + type + " " + attributes +
                        "\nfunc.func @main() { %w = ml_program.global_load_const @w : " + type + " return }")
                           .str();
    std::unique_ptr<Interpreter> interpreter = open(text, weights);
    error.clear();
    EXPECT_TRUE(interpreter && failed(interpreter->run("main", {}))) << text;
    return error;
  };
  EXPECT_EQ(errorOf("tensor<2x2xf32>", "", {1, 2, 3}),
            "'ml_program.global_load_const' op weight 'w': has 12 bytes, wanted 16");
  EXPECT_EQ(
      errorOf("tensor<2x2xi32>", "", {1, 2, 3, 4}),
      "'ml_program.global_load_const' op weight 'w': element type i32 is no storage type (its plugin is not loaded?)");
  EXPECT_EQ(errorOf("tensor<2x2xf32>", "{tw.row_dims = array<i64: 3>, tw.row_perm = array<i64: 0>}", {1, 2, 3, 4}),
            "'ml_program.global_load_const' op weight 'w': tw.row_dims has 3 rows, wanted 2");
  EXPECT_EQ(errorOf("tensor<2x2xf32>", "{tw.row_dims = array<i64: 2>, tw.row_perm = array<i64: 1>}", {1, 2, 3, 4}),
            "'ml_program.global_load_const' op weight 'w': tw.row_perm is no permutation");
  EXPECT_EQ(errorOf("tensor<2x2xf32>", "{tw.row_dims = array<i64: -2>, tw.row_perm = array<i64: 0>}", {1, 2, 3, 4}),
            "'ml_program.global_load_const' op weight 'w': tw.row_dims has -2, wanted positive sizes");
  EXPECT_EQ(errorOf("tensor<2x2xf32>", "{tw.row_dims = array<i64: 2>}", {1, 2, 3, 4}),
            "'ml_program.global_load_const' op weight 'w': wanted tw.row_dims and tw.row_perm of one length");
}

/// A weight of rank 1 whose length is no multiple of a block.
TEST_F(InterpreterTest, ShortWeights) {
  std::vector<float> numbers(37);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = 0.5f * i;
  Bytes weights(numbers);
  std::unique_ptr<Interpreter> interpreter = open(R"(
ml_program.global private @b(#ml_program.extern : tensor<37xf32>) : tensor<37xf32>
func.func @main() -> tensor<37xf32> {
  %b = ml_program.global_load_const @b : tensor<37xf32>
  return %b : tensor<37xf32>
})",
                                                  weights);
  ASSERT_TRUE(interpreter);
  auto outputs = interpreter->run("main", {});
  ASSERT_TRUE(succeeded(outputs));
  EXPECT_EQ(std::get<Tensor>((*outputs)[0]).reals, std::vector<double>(numbers.begin(), numbers.end()));
}

TEST_F(InterpreterTest, TapsSeeDecomposedOps) {
  NoWeights none;
  std::unique_ptr<Interpreter> interpreter = open(R"(
func.func private @inner(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %y = tw.softmax %x dim 1 : tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %y = func.call @inner(%x) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
})",
                                                  none);
  ASSERT_TRUE(interpreter);
  std::vector<std::string> seen;
  interpreter->setTap([&](Operation *op, ArrayRef<RunValue> results) {
    auto origin = op->getAttrOfType<StringAttr>("tw.origin");
    seen.push_back(op->getName().getStringRef().str() + (origin ? " for " + origin.str() : "") + " " +
                   std::to_string(std::get<Tensor>(results[0]).reals[0]));
  });
  ASSERT_TRUE(succeeded(interpreter->run("main", {floats({1, 2}, {3, 3})})));
  std::vector<std::string> wanted = {"tw.reduce 3.000000",
                                     "tw.broadcast 3.000000",
                                     "tw.sub 0.000000",
                                     "tw.exp 1.000000",
                                     "tw.reduce 2.000000",
                                     "tw.broadcast 2.000000",
                                     "tw.div for tw.softmax 0.500000",
                                     "func.call 0.500000"};
  EXPECT_EQ(seen, wanted);
}

/// f64 is not f32 with more digits printed: 1 + 2^-40 is 1 in f32.
TEST_F(InterpreterTest, Precision) {
  NoWeights none;
  constexpr StringRef text = "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n"
                             "  %y = tw.add %x, %x : tensor<1xf32>\n  return %y : tensor<1xf32>\n}";
  for (Precision precision : {Precision::F32, Precision::F64}) {
    std::unique_ptr<Interpreter> interpreter = open(text, none, precision);
    ASSERT_TRUE(interpreter);
    auto outputs = interpreter->run("main", {floats({1}, {1 + std::ldexp(1.0, -40)})});
    ASSERT_TRUE(succeeded(outputs));
    double wanted = precision == Precision::F32 ? 2.0 : 2 + std::ldexp(1.0, -39);
    EXPECT_EQ(std::get<Tensor>((*outputs)[0]).reals[0], wanted);
  }
}

/// 1 + 2^-20 is 1 in bf16: as an argument, and as a result.
TEST_F(InterpreterTest, Unrounded) {
  NoWeights none;
  constexpr StringRef text =
      "func.func @main(%x: tensor<1xf32>, %y: tensor<1xbf16>) -> (tensor<1xbf16>, tensor<1xbf16>) {\n"
      "  %z = tw.cast %x : tensor<1xf32> -> tensor<1xbf16>\n"
      "  return %z, %y : tensor<1xbf16>, tensor<1xbf16>\n}";
  const double fine = 1 + std::ldexp(1.0, -20);
  for (Precision precision : {Precision::F64, Precision::Unrounded}) {
    std::unique_ptr<Interpreter> interpreter = open(text, none, precision);
    ASSERT_TRUE(interpreter);
    auto outputs = interpreter->run("main", {floats({1}, {fine}), floats({1}, {fine})});
    ASSERT_TRUE(succeeded(outputs));
    for (const RunValue &output : *outputs)
      EXPECT_EQ(std::get<Tensor>(output).reals[0], precision == Precision::Unrounded ? fine : 1.0);
  }
}

TEST_F(InterpreterTest, WrongInputs) {
  NoWeights none;
  std::unique_ptr<Interpreter> interpreter =
      open("func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> { return %x : tensor<?x2xf32> }", none);
  ASSERT_TRUE(interpreter);
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { error = diagnostic.str(); });
  EXPECT_TRUE(failed(interpreter->run("main", {floats({1, 3}, {1, 2, 3})})));
  EXPECT_EQ(error, "'func.func' op argument 0 of type 'tensor<?x2xf32>' was given floats of shape 1x3");
  EXPECT_TRUE(failed(interpreter->run("main", {Tensor::ints({1, 2})})));
  EXPECT_EQ(error, "'func.func' op argument 0 of type 'tensor<?x2xf32>' was given integers of shape 1x2");
  EXPECT_TRUE(failed(interpreter->run("main", {StateHandle()})));
  EXPECT_EQ(error, "'func.func' op argument 0 of type 'tensor<?x2xf32>' was given a state");
}

} // namespace
