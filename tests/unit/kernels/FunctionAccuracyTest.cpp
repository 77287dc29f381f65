// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of one number, compiled, against f64: each result within a share of its own size, near the functions' roots
// too, where an error that is small beside 1 would be all there is.
#include "tests/unit/kernels/FunctionCase.h"

#include <cmath>
#include <numbers>

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct Function {
  const char *name;
  double (*formula)(double);
  float largest; ///< argument
};

/// Both signs of powers of two up to `largest` with some numbers between, and what lies beside multiples of pi/2.
std::vector<double> argumentsUpTo(float largest) {
  std::vector<double> arguments = {0};
  for (float x = 0x1p-40f; x <= largest; x *= 2)
    for (float factor : {1.0f, 1.2345f, 1.5f, 1.99999f})
      if (x * factor <= largest)
        arguments.insert(arguments.end(), {x * factor, -x * factor});
  for (int turn = 1; turn * std::numbers::pi / 2 < std::min(largest, 2000.0f); ++turn) {
    auto near = static_cast<float>(turn * std::numbers::pi / 2);
    for (float x : {std::nextafterf(near, 0), near, std::nextafterf(near, largest)})
      arguments.insert(arguments.end(), {x, -x});
  }
  return arguments;
}

class Functions : public testing::TestWithParam<Function> {};

TEST_P(Functions, WithinAMillionthOfEachResult) {
  const Function &function = GetParam();
  const std::string text = std::string("func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n  %y = tw.") +
                           function.name + " %x : tensor<?xf32>\n  return %y : tensor<?xf32>\n}\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  ASSERT_TRUE(module);
  const std::vector<double> arguments = argumentsUpTo(function.largest);
  auto x = reference::Tensor::floats({static_cast<int64_t>(arguments.size())});
  x.reals = arguments;
  reference::NoWeights none;
  auto compiled = CompiledFunction::create(*module, "f", host().stages, none, {});
  ASSERT_TRUE(succeeded(compiled));
  auto y = (*compiled)->run(x);
  ASSERT_TRUE(succeeded(y));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const double want = function.formula(arguments[i]);
    EXPECT_LE(std::fabs(y->front().reals[i] - want), 1e-6 * std::fabs(want)) << "of " << arguments[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Names, Functions,
                         testing::Values(Function{"sin", [](double x) { return std::sin(x); }, 0x1p17f},
                                         Function{"cos", [](double x) { return std::cos(x); }, 0x1p17f},
                                         Function{"tanh", [](double x) { return std::tanh(x); }, 100},
                                         Function{"erf", [](double x) { return std::erf(x); }, 100},
                                         Function{"exp", [](double x) { return std::exp(x); }, 80}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
