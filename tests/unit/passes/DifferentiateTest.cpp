// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of core ops against central differences of the interpreter in f64, and what cannot be differentiated.
#include "passes/differentiate/Differentiate.h"

#include "backends/reference/Interpreter.h"
#include "ir/tw/Tw.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::reference;

namespace {

struct Differentiate : testing::Test {
  Differentiate() {
    DialectRegistry registry;
    registry.insert<tw::TwDialect, func::FuncDialect>();
    context.appendDialectRegistry(registry);
  }

  /// @f of the module, differentiated by all its float arguments, against differences at `inputs`.
  void expectGradients(StringRef text, std::vector<Tensor> inputs) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text.str();
    auto f = module->lookupSymbol<func::FuncOp>("f");
    std::vector<int64_t> wrt;
    for (auto [i, input] : llvm::enumerate(inputs))
      if (input.isFloat)
        wrt.push_back(i);
    ASSERT_TRUE(succeeded(differentiate(f, wrt)));
    ASSERT_TRUE(succeeded(verify(*module)));
    auto made = Interpreter::create(*module, none, Precision::F64);
    ASSERT_TRUE(succeeded(made));
    Interpreter &interpreter = **made;

    std::vector<RunValue> all(inputs.begin(), inputs.end()), cotangents;
    for (RunValue &output : run(interpreter, "f", inputs)) {
      Tensor cotangent = std::get<Tensor>(output);
      if (!cotangent.isFloat)
        continue;
      for (double &value : cotangent.reals)
        value = uniform();
      cotangents.push_back(cotangent);
      all.push_back(cotangent);
    }
    auto loss = [&](const std::vector<Tensor> &at) {
      double sum = 0;
      unsigned next = 0;
      for (RunValue &output : run(interpreter, "f", at)) {
        const Tensor &y = std::get<Tensor>(output);
        if (!y.isFloat)
          continue;
        const Tensor &cotangent = std::get<Tensor>(cotangents[next++]);
        for (int64_t i = 0; i < y.size(); ++i)
          sum += y.reals[i] * cotangent.reals[i];
      }
      return sum;
    };
    FailureOr<std::vector<RunValue>> gradients = interpreter.run("f.gradient", all);
    ASSERT_TRUE(succeeded(gradients));
    ASSERT_EQ(gradients->size(), wrt.size());
    constexpr double h = 1e-5; // the differences' error is about h^2 and 1e-16 / h
    for (auto [argument, value] : llvm::zip(wrt, *gradients)) {
      const Tensor &gradient = std::get<Tensor>(value);
      ASSERT_EQ(gradient.shape, inputs[argument].shape);
      for (int64_t i = 0; i < gradient.size(); ++i) {
        std::vector<Tensor> above = inputs, below = inputs;
        above[argument].reals[i] += h;
        below[argument].reals[i] -= h;
        double wanted = (loss(above) - loss(below)) / (2 * h);
        EXPECT_NEAR(gradient.reals[i], wanted, 1e-7 * (1 + std::abs(wanted)))
            << "argument " << argument << ", element " << i << " of\n"
            << text.str();
      }
    }
  }

  std::vector<RunValue> run(Interpreter &interpreter, StringRef name, const std::vector<Tensor> &inputs) {
    auto outputs = interpreter.run(name, std::vector<RunValue>(inputs.begin(), inputs.end()));
    EXPECT_TRUE(succeeded(outputs));
    return succeeded(outputs) ? *outputs : std::vector<RunValue>();
  }

  double uniform() { return std::uniform_real_distribution(-1.0, 1.0)(random); }
  Tensor tensor(ArrayRef<int64_t> shape, double low = -1.0, double high = 1.0) {
    Tensor t = Tensor::floats(shape);
    for (double &value : t.reals)
      value = std::uniform_real_distribution(low, high)(random);
    return t;
  }

  /// The first error of differentiating @f by `wrt`; the module must be as it was.
  std::string error(StringRef text, ArrayRef<int64_t> wrt) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "cannot parse";
    auto print = [&] {
      std::string printed;
      llvm::raw_string_ostream(printed) << *module;
      return printed;
    };
    std::string first, before = print();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (first.empty())
        first = diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(differentiate(module->lookupSymbol<func::FuncOp>("f"), wrt)));
    EXPECT_EQ(print(), before);
    return first;
  }

  MLIRContext context;
  NoWeights none;
  std::mt19937 random{7};
};

TEST_F(Differentiate, UnaryOps) {
  for (StringRef op : {"neg", "abs", "exp", "tanh", "erf", "sin", "cos", "sigmoid", "log", "sqrt", "rsqrt"})
    for (const std::vector<int64_t> &shape : std::vector<std::vector<int64_t>>{{3, 5}, {1, 5}, {0, 5}}) {
      bool positive = op == "log" || op == "sqrt" || op == "rsqrt";
      expectGradients("func.func @f(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {\n  %y = tw." + op.str() +
                          " %x : tensor<?x5xf32>\n  return %y : tensor<?x5xf32>\n}",
                      {positive ? tensor(shape, 0.5, 2.0) : tensor(shape, -2.0, 2.0)});
    }
}

TEST_F(Differentiate, BinaryOps) {
  for (StringRef op : {"add", "sub", "mul", "div", "maximum", "minimum"})
    expectGradients("func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {\n  %z = tw." +
                        op.str() + " %x, %y : tensor<4x3xf32>\n  return %z : tensor<4x3xf32>\n}",
                    {tensor({4, 3}), tensor({4, 3}, 0.5, 2.0)});
}

TEST_F(Differentiate, OneOperandTwice) {
  expectGradients(R"(func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = tw.mul %x, %x : tensor<4xf32>
    %z = tw.mul %y, %x : tensor<4xf32>
    return %z : tensor<4xf32>
  })",
                  {tensor({4})});
}

TEST_F(Differentiate, TiesShare) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<1xf32>, %y: tensor<1xf32>, %z: tensor<4xf32>) -> (tensor<1xf32>, tensor<f32>) {
      %m = tw.maximum %x, %y : tensor<1xf32>
      %r = tw.reduce "max" %z dims [0] : tensor<4xf32> -> tensor<f32>
      return %m, %r : tensor<1xf32>, tensor<f32>
    })",
                                                             &context);
  ASSERT_TRUE(succeeded(differentiate(module->lookupSymbol<func::FuncOp>("f"), {0, 1, 2})));
  auto interpreter = *Interpreter::create(*module, none, Precision::F64);
  auto values = [](ArrayRef<int64_t> shape, std::vector<double> v) {
    Tensor t = Tensor::floats(shape);
    t.reals = std::move(v);
    return t;
  };
  auto gradients =
      run(*interpreter, "f.gradient",
          {values({1}, {2}), values({1}, {2}), values({4}, {3, 1, 3, 2}), values({1}, {1}), values({}, {1})});
  ASSERT_EQ(gradients.size(), 3u);
  EXPECT_EQ(std::get<Tensor>(gradients[0]).reals, std::vector<double>{0.5});
  EXPECT_EQ(std::get<Tensor>(gradients[1]).reals, std::vector<double>{0.5});
  EXPECT_EQ(std::get<Tensor>(gradients[2]).reals, (std::vector<double>{0.5, 0, 0.5, 0}));
}

TEST_F(Differentiate, SelectAndCast) {
  expectGradients(R"(func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x6xf32>) -> tensor<2x6xf32> {
    %i = tw.iota %x dim 1 : tensor<2x6xf32> -> tensor<2x6xi32>
    %three = tw.constant dense<3> : tensor<2x6xi32>
    %c = tw.compare "lt", %i, %three : tensor<2x6xi32> -> tensor<2x6xi1>
    %s = tw.select %c, %x, %y : tensor<2x6xi1>, tensor<2x6xf32>
    %wide = tw.cast %s : tensor<2x6xf32> -> tensor<2x6xf64>
    %z = tw.mul %wide, %wide : tensor<2x6xf64>
    %back = tw.cast %z : tensor<2x6xf64> -> tensor<2x6xf32>
    %scale = tw.cast %i : tensor<2x6xi32> -> tensor<2x6xf32>
    %r = tw.mul %back, %scale : tensor<2x6xf32>
    return %r : tensor<2x6xf32>
  })",
                  {tensor({2, 6}), tensor({2, 6})});
}

TEST_F(Differentiate, Reductions) {
  for (StringRef kind : {"sum", "mean", "max", "min"})
    for (int64_t n : {1, 3})
      expectGradients("func.func @f(%x: tensor<?x4x5xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {\n  %y = tw.reduce \"" +
                          kind.str() + "\" %x dims [0, 2] : tensor<?x4x5xf32> -> tensor<4xf32>\n  %z = tw.reduce \"" +
                          kind.str() + "\" %x dims [2] : tensor<?x4x5xf32> -> tensor<?x4xf32>\n" +
                          "  return %y, %z : tensor<4xf32>, tensor<?x4xf32>\n}",
                      {tensor({n, 4, 5})});
}

TEST_F(Differentiate, ShapeOps) {
  expectGradients(R"(func.func @f(%x: tensor<?x6xf32>, %g: tensor<6xf32>) -> tensor<3x?x2xf32> {
    %b = tw.broadcast %g like %x dims [1] : tensor<6xf32>, tensor<?x6xf32> -> tensor<?x6xf32>
    %m = tw.mul %x, %b : tensor<?x6xf32>
    %r = tw.reshape %m : tensor<?x6xf32> -> tensor<?x3x2xf32>
    %t = tw.transpose %r perm [1, 0, 2] : tensor<?x3x2xf32> -> tensor<3x?x2xf32>
    %e = tw.exp %t : tensor<3x?x2xf32>
    return %e : tensor<3x?x2xf32>
  })",
                  {tensor({4, 6}), tensor({6})});
}

TEST_F(Differentiate, SliceAndConcat) {
  expectGradients(
      R"(func.func @f(%x: tensor<2x7xf32>, %y: tensor<?x7xf32>) -> (tensor<2x7xf32>, tensor<?x7xf32>, tensor<?x7xf32>) {
    %a = tw.slice %x dim 1 start 0 size 3 : tensor<2x7xf32> -> tensor<2x3xf32>
    %b = tw.slice %x dim 1 start 2 size 4 : tensor<2x7xf32> -> tensor<2x4xf32>
    %bb = tw.mul %b, %b : tensor<2x4xf32>
    %c = tw.concat dim 1 %bb, %a : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x7xf32>
    %d = tw.concat dim 0 %x, %y : tensor<2x7xf32>, tensor<?x7xf32> -> tensor<?x7xf32>
    %e = tw.exp %d : tensor<?x7xf32>
    %s = tw.slice %y dim 0 start 1 size 2 : tensor<?x7xf32> -> tensor<2x7xf32>
    %u = tw.sin %s : tensor<2x7xf32>
    %v = tw.mul %u, %c : tensor<2x7xf32>
    %w = tw.slice %y dim 0 start 1 size -1 : tensor<?x7xf32> -> tensor<?x7xf32>
    %ww = tw.cos %w : tensor<?x7xf32>
    return %v, %e, %ww : tensor<2x7xf32>, tensor<?x7xf32>, tensor<?x7xf32>
  })",
      {tensor({2, 7}), tensor({5, 7})});
}

TEST_F(Differentiate, Linear) {
  for (int64_t n : {0, 1, 3}) {
    expectGradients(R"(func.func @f(%x: tensor<?x5xf32>, %w: tensor<4x5xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
      %y = tw.linear %x, %w bias %b : tensor<?x5xf32>, tensor<4x5xf32>, tensor<4xf32> -> tensor<?x4xf32>
      %z = tw.tanh %y : tensor<?x4xf32>
      return %z : tensor<?x4xf32>
    })",
                    {tensor({n, 5}), tensor({4, 5}), tensor({4})});
    expectGradients(R"(func.func @f(%x: tensor<?x2x5xf32>, %w: tensor<4x5xf32>) -> tensor<?x2x4xf32> {
      %y = tw.linear %x, %w : tensor<?x2x5xf32>, tensor<4x5xf32> -> tensor<?x2x4xf32>
      return %y : tensor<?x2x4xf32>
    })",
                    {tensor({n, 2, 5}), tensor({4, 5})});
  }
}

TEST_F(Differentiate, BatchMatmulAndSoftmax) {
  expectGradients(
      R"(func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>) -> tensor<2x3x6xf32> {
    %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<2x3x4xf32>, tensor<2x5x4xf32> -> tensor<2x3x5xf32>
    %p = tw.softmax %s dim 2 : tensor<2x3x5xf32>
    %y = tw.batch_matmul %p, %v : tensor<2x3x5xf32>, tensor<2x5x6xf32> -> tensor<2x3x6xf32>
    return %y : tensor<2x3x6xf32>
  })",
      {tensor({2, 3, 4}), tensor({2, 5, 4}), tensor({2, 5, 6})});
}

TEST_F(Differentiate, Topk) {
  expectGradients(R"(func.func @f(%x: tensor<?x5xf32>) -> tensor<?x2xf32> {
    %v, %i = tw.topk %x k 2 : tensor<?x5xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
    return %v : tensor<?x2xf32>
  })",
                  {tensor({3, 5})});
  // What only chooses has no gradient.
  expectGradients(R"(func.func @f(%x: tensor<2x2x5xf32>, %y: tensor<2x2x5xf32>) -> tensor<2x2x3xf32> {
    %v, %i = tw.topk %x take %y k 3 : tensor<2x2x5xf32>, tensor<2x2x5xf32> -> tensor<2x2x3xf32>, tensor<2x2x3xi32>
    return %v : tensor<2x2x3xf32>
  })",
                  {tensor({2, 2, 5}), tensor({2, 2, 5})});
}

TEST_F(Differentiate, CallsOfOneLayerTwice) {
  expectGradients(R"(
    func.func private @layer(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
      %y = tw.linear %x, %w : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
      %z = tw.tanh %y : tensor<?x4xf32>
      return %z, %y : tensor<?x4xf32>, tensor<?x4xf32>
    }
    func.func @f(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<?x4xf32> {
      %a:2 = call @layer(%x, %w) : (tensor<?x4xf32>, tensor<4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
      %b:2 = call @layer(%a#0, %v) : (tensor<?x4xf32>, tensor<4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
      %y = tw.add %b#0, %a#1 : tensor<?x4xf32>
      return %y : tensor<?x4xf32>
    })",
                  {tensor({3, 4}), tensor({4, 4}), tensor({4, 4})});
}

TEST_F(Differentiate, ArgumentWithoutInfluenceHasGradientZero) {
  expectGradients("func.func @f(%x: tensor<3xf32>, %y: tensor<2xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }",
                  {tensor({3}), tensor({2})});
}

TEST_F(Differentiate, WhatHasNoGradientIsNamed) {
  EXPECT_EQ(error(R"(func.func @f(%x: tensor<4x3xf32>, %i: tensor<2xi32>) -> tensor<2x3xf32> {
    %y = tw.gather %x, %i : tensor<4x3xf32>, tensor<2xi32> -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  })",
                  {0}),
            "'tw.gather' op has no gradient: it implements neither Gradient nor ReferenceLowering");
  EXPECT_EQ(error(R"(
    func.func private @outside(%x: tensor<4xf32>) -> tensor<4xf32>
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    })",
                  {0}),
            "'func.call' op has no gradient: the body of @outside is not here");
  EXPECT_EQ(
      error(R"(func.func @f(%x: tensor<?x?x3xf32>) -> tensor<?x3xf32> {
    %y = tw.reshape %x : tensor<?x?x3xf32> -> tensor<?x3xf32>
    return %y : tensor<?x3xf32>
  })",
            {0}),
      "'tw.reshape' op has no gradient: its input 'tensor<?x?x3xf32>' has more than one dynamic dimension, which a "
      "reshape of the gradient cannot restore");
  EXPECT_EQ(
      error(R"(func.func @f(%x: tensor<?x3xf32>, %y: tensor<2x3xf32>) -> tensor<?x3xf32> {
    %z = tw.concat dim 0 %x, %y : tensor<?x3xf32>, tensor<2x3xf32> -> tensor<?x3xf32>
    return %z : tensor<?x3xf32>
  })",
            {0}),
      "'tw.concat' op has no gradient: operand #0 has a dynamic dimension 0 and is not the last, so the start of the "
      "next is unknown");
}

TEST_F(Differentiate, WrongArgumentsAreNamed) {
  StringRef f = "func.func @f(%x: tensor<3xf32>, %i: tensor<2xi32>) -> tensor<3xf32> { return %x : tensor<3xf32> }";
  EXPECT_EQ(error(f, {2}), "'func.func' op cannot be differentiated by argument 2: it has 2");
  EXPECT_EQ(error(f, {-1}), "'func.func' op cannot be differentiated by argument -1: it has 2");
  EXPECT_EQ(error(f, {1}),
            "'func.func' op cannot be differentiated by argument 1 of type 'tensor<2xi32>', wanted a tensor of floats");
  EXPECT_EQ(error(f, {0, 0}),
            "'func.func' op wants the arguments to differentiate by in increasing order, found 0 before 0");
  EXPECT_EQ(error("func.func private @f(tensor<3xf32>) -> tensor<3xf32>", {0}),
            "'func.func' op cannot be differentiated: it has no body");
}

} // namespace
