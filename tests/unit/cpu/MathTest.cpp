// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of `math` against the C library in double precision, with the errors that ExpandMath.cpp states.
#include "tests/unit/cpu/KernelRunner.h"

#include <cmath>

using namespace tilewright;
using namespace tilewright::test;

namespace {

class Math : public OnEachLevel {
protected:
  /// f(x) by kernel `name`; x is padded to whole chunks.
  std::vector<float> apply(const char *name, std::vector<float> x) {
    LoadedKernels kernels("math.mlir", *GetParam());
    size_t count = x.size();
    x.resize((count + 63) / 64 * 64);
    std::vector<float> y(x.size());
    EXPECT_TRUE(kernels.run(name, {x.data(), y.data()}, 0, x.size() / 64));
    y.resize(count);
    return y;
  }

  /// Largest error on [low, high], relative or absolute.
  double error(const char *name, double (*exact)(double), double low, double high, bool relative) {
    std::vector<float> x;
    for (int i = 0; i <= 20000; ++i)
      x.push_back(static_cast<float>(low + (high - low) * i / 20000));
    std::vector<float> y = apply(name, x);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      double want = exact(x[i]), each = std::abs(y[i] - want) / (relative ? std::abs(want) : 1.0);
      worst = std::isnan(each) ? HUGE_VAL : std::max(worst, each);
    }
    return worst;
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, Math, testing::ValuesIn(hostCpuLevels()), levelName);

} // namespace

TEST_P(Math, Exp2) { EXPECT_LT(error("exp2", std::exp2, -126.0, 127.4, true), 3e-7); }
TEST_P(Math, Exp) { EXPECT_LT(error("exp", std::exp, -87.0, 88.0, true), 4e-7); }
TEST_P(Math, Tanh) { EXPECT_LT(error("tanh", std::tanh, -10.0, 10.0, false), 5e-7); }
TEST_P(Math, Erf) { EXPECT_LT(error("erf", std::erf, -5.0, 5.0, false), 5e-7); }
TEST_P(Math, Sin) { EXPECT_LT(error("sin", std::sin, -30.0, 30.0, false), 1e-5); }
TEST_P(Math, Cos) { EXPECT_LT(error("cos", std::cos, -30.0, 30.0, false), 1e-5); }
TEST_P(Math, Log2) { EXPECT_LT(error("log2", std::log2, 2.0, 1e6, true), 1e-6); }
TEST_P(Math, Log) { EXPECT_LT(error("log", std::log, 2.0, 1e6, true), 1e-6); }

TEST_P(Math, ExponentialsAtTheirEnds) {
  std::vector<float> y = apply("exp2", {-INFINITY, -1e30f, -127.0f, -126.0f, 0.0f, 1.0f, 128.0f, INFINITY, NAN});
  EXPECT_EQ(y[0], 0.0f);
  EXPECT_EQ(y[1], 0.0f);
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_EQ(y[3], std::exp2(-126.0f));
  EXPECT_EQ(y[4], 1.0f);
  EXPECT_EQ(y[5], 2.0f);
  EXPECT_EQ(y[6], INFINITY);
  EXPECT_EQ(y[7], INFINITY);
  EXPECT_TRUE(std::isnan(y[8]));
  y = apply("exp", {-INFINITY, -200.0f, 0.0f, 100.0f, INFINITY, NAN});
  EXPECT_EQ(y[0], 0.0f);
  EXPECT_EQ(y[1], 0.0f);
  EXPECT_EQ(y[2], 1.0f);
  EXPECT_EQ(y[3], INFINITY);
  EXPECT_EQ(y[4], INFINITY);
  EXPECT_TRUE(std::isnan(y[5]));
}

TEST_P(Math, EveryNaNStaysNaN) {
  std::vector<float> x;
  for (uint32_t bits : {0x7fc00000u, 0x7fc00001u, 0x7fffffffu, 0x7f800001u, 0xffc00000u, 0xffc001ffu}) {
    float value;
    memcpy(&value, &bits, 4);
    x.push_back(value);
  }
  for (const char *name : {"exp2", "exp", "tanh", "erf", "sin", "cos", "log2", "log"})
    for (float y : apply(name, x))
      EXPECT_TRUE(std::isnan(y)) << name;
}
