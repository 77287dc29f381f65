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
