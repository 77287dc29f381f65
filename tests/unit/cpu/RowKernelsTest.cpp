// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that work on rows: norms, activations, quantisation.
#include "tests/unit/cpu/KernelRunner.h"

#include <cmath>

using namespace tilewright;
using namespace tilewright::test;

class RowKernels : public OnEachLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, RowKernels, testing::ValuesIn(hostCpuLevels()), levelName);

static std::vector<double> rmsNorm(const std::vector<float> &x, const std::vector<float> &w, size_t rows) {
  size_t k = w.size();
  std::vector<double> y(rows * k);
  for (size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (size_t i = 0; i < k; ++i)
      sum += double(x[r * k + i]) * x[r * k + i];
    double scale = 1.0 / std::sqrt(sum / k + 1e-5);
    for (size_t i = 0; i < k; ++i)
      y[r * k + i] = x[r * k + i] * scale * w[i];
  }
  return y;
}

TEST_P(RowKernels, RmsNorm) {
  LoadedKernels kernels("rms_norm.mlir", *GetParam());
  constexpr size_t rows = 24, k = 576;
  std::vector<float> x = randomFloats(rows * k, 1, 3.0f), w = randomFloats(k, 2);
  std::vector<float> y(rows * k, NAN);
  ASSERT_TRUE(kernels.run("rms_norm", {x.data(), w.data(), y.data(), slot(rows)}, 0, rows / 8));
  EXPECT_LT(relativeError(y, rmsNorm(x, w, rows)), 1e-6);
}

TEST_P(RowKernels, RmsNormWritesItsChunksOnly) {
  LoadedKernels kernels("rms_norm.mlir", *GetParam());
  constexpr size_t rows = 32, k = 576;
  std::vector<float> x = randomFloats(rows * k, 3), w = randomFloats(k, 4), y(rows * k, 7.0f);
  ASSERT_TRUE(kernels.run("rms_norm", {x.data(), w.data(), y.data(), slot(rows)}, 1, 3));
  std::vector<double> want = rmsNorm(x, w, rows);
  for (size_t i = 0; i < rows * k; ++i) {
    bool inside = i >= 8 * k && i < 24 * k;
    ASSERT_NEAR(y[i], inside ? want[i] : 7.0, 1e-5) << "row " << i / k;
  }
}

TEST_P(RowKernels, RmsNormKeepsNaNInItsRow) {
  LoadedKernels kernels("rms_norm.mlir", *GetParam());
  constexpr size_t rows = 8, k = 576;
  std::vector<float> x = randomFloats(rows * k, 5), w(k, 1.0f), y(rows * k, 0.0f);
  x[3 * k + 100] = NAN;
  ASSERT_TRUE(kernels.run("rms_norm", {x.data(), w.data(), y.data(), slot(rows)}, 0, 1));
  for (size_t i = 0; i < rows * k; ++i)
    ASSERT_EQ(std::isnan(y[i]), i / k == 3) << "row " << i / k;
}

TEST_P(RowKernels, SwiGLU) {
  LoadedKernels kernels("swiglu.mlir", *GetParam());
  constexpr size_t rows = 8, k = 1536;
  std::vector<float> g = randomFloats(rows * k, 6, 20.0f), u = randomFloats(rows * k, 7), y(rows * k, NAN);
  g[0] = INFINITY;
  g[1] = -INFINITY;
  g[2] = -200.0f;
  ASSERT_TRUE(kernels.run("swiglu", {g.data(), u.data(), y.data(), slot(rows)}, 0, rows / 4));
  EXPECT_EQ(y[0], INFINITY * u[0]);
  EXPECT_TRUE(std::isnan(y[1])); // -inf / (1 + inf), as in plain C
  for (size_t i = 2; i < rows * k; ++i) {
    double want = g[i] / (1.0 + std::exp(-double(g[i]))) * u[i];
    ASSERT_NEAR(y[i], want, 1e-6 * std::abs(want) + 1e-30) << g[i];
  }
}
