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

TEST_P(RowKernels, QuantizeRows) {
  LoadedKernels kernels("quantize_rows.mlir", *GetParam());
  constexpr size_t rows = 3, blocks = 18;
  std::vector<float> x = randomFloats(rows * blocks * 32, 8, 5.0f), scale(rows * blocks), sum(rows * blocks);
  std::vector<int8_t> q(x.size());
  std::fill_n(x.begin(), 32, 0.0f);        // a block of zeros
  std::fill_n(x.begin() + 32, 32, 1e-40f); // one whose inverse would overflow
  x[64] = NAN;
  x[96 + 5] = -INFINITY;
  for (size_t i = 0; i < 32; ++i) // 0.5 of a step: to even
    x[128 + i] = i == 0 ? 127.0f : i - 15.5f;
  ASSERT_TRUE(kernels.run("quantize_rows", {x.data(), q.data(), scale.data(), sum.data()}, 0, rows));
  EXPECT_EQ(scale[0], 0.0f);
  EXPECT_TRUE(std::isnan(scale[2]));
  EXPECT_TRUE(std::isnan(sum[2]));
  EXPECT_EQ(scale[3], INFINITY);
  for (size_t b = 0; b < rows * blocks; ++b) {
    if (b == 2 || b == 3)
      continue;
    float largest = 0;
    for (size_t i = 0; i < 32; ++i)
      largest = std::max(largest, std::abs(x[b * 32 + i]));
    ASSERT_NEAR(scale[b], largest / 127, 1e-6 * largest);
    int total = 0;
    for (size_t i = 0; i < 32; ++i) {
      float inverse = largest > 1e-36f ? 127.0f / largest : 0.0f;
      ASSERT_EQ(q[b * 32 + i], static_cast<int>(std::nearbyint(x[b * 32 + i] * inverse))) << b << " " << i;
      total += q[b * 32 + i];
    }
    ASSERT_NEAR(sum[b], total * scale[b], 1e-6 * std::abs(total * scale[b]));
  }
}

TEST_P(RowKernels, RotaryOfGatheredRows) {
  LoadedKernels kernels("rotary.mlir", *GetParam());
  constexpr size_t rows = 5, table = 9;
  std::vector<float> x = randomFloats(table * 3 * 64, 9), c = randomFloats(rows * 32, 10),
                     s = randomFloats(rows * 32, 11);
  std::vector<float> y(rows * 3 * 64, NAN);
  std::vector<int32_t> ids{8, 0, 3, 3, 7};
  ASSERT_TRUE(kernels.run("rotary", {x.data(), ids.data(), c.data(), s.data(), y.data()}, 0, rows));
  for (size_t r = 0; r < rows; ++r)
    for (size_t h = 0; h < 3; ++h)
      for (size_t d = 0; d < 32; ++d) {
        double a = x[(ids[r] * 3 + h) * 64 + d], b = x[(ids[r] * 3 + h) * 64 + 32 + d];
        ASSERT_NEAR(y[(r * 3 + h) * 64 + d], a * c[r * 32 + d] - b * s[r * 32 + d], 1e-6);
        ASSERT_NEAR(y[(r * 3 + h) * 64 + 32 + d], b * c[r * 32 + d] + a * s[r * 32 + d], 1e-6);
      }
}
