// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations, compiled, against their formulas in f64, over -6 to 6 in steps of a thousandth. The two forms of GELU
// differ by at most 4.7e-4, so that a tolerance of a thousandth would take one for the other.
#include "tests/unit/kernels/FunctionCase.h"

#include "ir/tw/Layers.h"

#include <numbers>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }
double geluTanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

struct Form {
  const char *name;
  double (*formula)(double);
};

class Activations : public testing::TestWithParam<Form> {};

TEST_P(Activations, WithinAMillionthOfItsFormula) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(UnknownLoc::get(&context())));
  ImplicitLocOpBuilder b(UnknownLoc::get(&context()), OpBuilder::atBlockEnd(module->getBody()));
  Type type = RankedTensorType::get({ShapedType::kDynamic}, b.getF32Type());
  auto f = func::FuncOp::create(b, "f", b.getFunctionType(type, type));
  b.setInsertionPointToStart(f.addEntryBlock());
  func::ReturnOp::create(b, tw::activation(b, GetParam().name, f.getArgument(0)));

  auto x = reference::Tensor::floats({12001});
  for (int i = 0; i <= 12000; ++i)
    x.reals[i] = static_cast<float>((i - 6000) / 1000.0);
  reference::NoWeights none;
  auto compiled = CompiledFunction::create(*module, "f", host().stages, none, {});
  ASSERT_TRUE(succeeded(compiled));
  auto y = (*compiled)->run(x);
  ASSERT_TRUE(succeeded(y));
  double worst = 0;
  for (int i = 0; i <= 12000; ++i) {
    const double want = GetParam().formula(x.reals[i]);
    worst = std::max(worst, std::fabs(y->front().reals[i] - want) / std::max(1.0, std::fabs(want)));
  }
  EXPECT_LE(worst, 1e-6); // 16 roundings of 2^-24, and a tenth of the contract of elementwise ops
}

INSTANTIATE_TEST_SUITE_P(Forms, Activations,
                         testing::Values(Form{"relu", [](double x) { return std::max(x, 0.0); }},
                                         Form{"relu2", [](double x) { return x > 0 ? x * x : 0.0; }},
                                         Form{"gelu", gelu}, Form{"gelu_tanh", geluTanh},
                                         Form{"silu", [](double x) { return x * sigmoid(x); }},
                                         Form{"sigmoid", sigmoid}, Form{"tanh", [](double x) { return std::tanh(x); }}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(ActivationForms, TheFormsOfGeluAreFurtherApartThanThat) {
  double apart = 0;
  for (int i = -6000; i <= 6000; ++i)
    apart = std::max(apart, std::fabs(gelu(i / 1000.0) - geluTanh(i / 1000.0)));
  EXPECT_NEAR(apart, 4.7e-4, 1e-5);
}

} // namespace
