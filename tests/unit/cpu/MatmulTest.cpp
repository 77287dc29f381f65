// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products on packed weights.
#include "tests/unit/cpu/KernelRunner.h"

using namespace tilewright;
using namespace tilewright::test;

class Matmul : public OnEachLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, Matmul, testing::ValuesIn(hostCpuLevels()), levelName);

TEST_P(Matmul, F32) {
  LoadedKernels kernels("matmul_f32.mlir", *GetParam());
  constexpr size_t rows = 24, k = 576, n = 96;
  std::vector<float> x = randomFloats(rows * k, 1), w = randomFloats(n * k, 2), packed(n * k), y(rows * n, NAN);
  std::vector<double> want(rows * n);
  for (size_t j = 0; j < n; ++j)
    for (size_t i = 0; i < k; ++i)
      packed[(j / 16 * k + i) * 16 + j % 16] = w[j * k + i];
  for (size_t r = 0; r < rows; ++r)
    for (size_t j = 0; j < n; ++j)
      for (size_t i = 0; i < k; ++i)
        want[r * n + j] += double(x[r * k + i]) * w[j * k + i];
  ASSERT_TRUE(kernels.run("matmul_f32", {x.data(), packed.data(), y.data(), slot(rows)}, 0, rows / 8 * 6));
  EXPECT_LT(relativeError(y, want), 1e-6);
}

static uint16_t toBf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float fromBf16(uint16_t half) {
  uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

TEST_P(Matmul, Bf16AndItsRounding) {
  LoadedKernels kernels("matmul_bf16.mlir", *GetParam());
  constexpr size_t rows = 16, k = 64, n = 32;
  std::vector<uint16_t> x, packed(n * k), rounded(rows * n);
  for (float value : randomFloats(rows * k, 3))
    x.push_back(toBf16(value));
  std::vector<uint16_t> w;
  for (float value : randomFloats(n * k, 4))
    w.push_back(toBf16(value));
  x[5 * k + 7] = 0x7fc1; // NaN
  for (size_t j = 0; j < n; ++j)
    for (size_t i = 0; i < k; ++i)
      packed[((j / 16 * (k / 2) + i / 2) * 16 + j % 16) * 2 + i % 2] = w[j * k + i];
  std::vector<float> y(rows * n, 0.0f);
  ASSERT_TRUE(kernels.run("matmul_bf16", {x.data(), packed.data(), y.data(), rounded.data()}, 0, rows / 8 * 2));
  for (size_t r = 0; r < rows; ++r)
    for (size_t j = 0; j < n; ++j) {
      if (r == 5) {
        ASSERT_TRUE(std::isnan(y[r * n + j]));
        ASSERT_TRUE(std::isnan(fromBf16(rounded[r * n + j])));
        continue;
      }
      double want = 0;
      for (size_t i = 0; i < k; ++i)
        want += double(fromBf16(x[r * k + i])) * fromBf16(w[j * k + i]);
      ASSERT_NEAR(y[r * n + j], want, 1e-5);
      ASSERT_EQ(rounded[r * n + j], toBf16(y[r * n + j]));
    }
}
