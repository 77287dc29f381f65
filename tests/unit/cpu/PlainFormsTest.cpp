// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no instruction fits still compiles, and is right.
#include "tests/unit/cpu/KernelRunner.h"

using namespace tilewright;
using namespace tilewright::test;

class PlainForms : public OnEachLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, PlainForms, testing::ValuesIn(hostCpuLevels()), levelName);

TEST_P(PlainForms, RowsByRows) {
  LoadedKernels kernels("plain_forms.mlir", *GetParam());
  constexpr size_t m = 32, n = 24, k = 200;
  std::vector<float> x = randomFloats(m * k, 1), w = randomFloats(n * k, 2), y(2 * m * n, NAN);
  std::vector<double> want(2 * m * n);
  for (size_t i = 0; i < 2 * m; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t l = 0; l < k; ++l)
        want[i * n + j] += double(x[i % m * k + l]) * w[j * k + l];
  ASSERT_TRUE(kernels.run("nt", {x.data(), w.data(), y.data()}, 0, 2));
  EXPECT_LT(relativeError(y, want), 1e-6);
}

TEST_P(PlainForms, SumsOfColumnsAndOfAll) {
  LoadedKernels kernels("plain_forms.mlir", *GetParam());
  constexpr size_t m = 37, n = 100;
  std::vector<float> x = randomFloats(3 * m * n, 3), columns(3 * n, NAN), all(3, NAN);
  std::vector<double> wantColumns(3 * n), wantAll(3);
  for (size_t i = 0; i < 3 * m; ++i)
    for (size_t j = 0; j < n; ++j) {
      wantColumns[i / m * n + j] += x[i * n + j];
      wantAll[i / m] += x[i * n + j];
    }
  ASSERT_TRUE(kernels.run("cols", {x.data(), columns.data(), all.data()}, 0, 3));
  EXPECT_LT(relativeError(columns, wantColumns), 1e-6);
  EXPECT_LT(relativeError(all, wantAll), 1e-6);
}

TEST_P(PlainForms, SignedBytes) {
  LoadedKernels kernels("plain_forms.mlir", *GetParam());
  std::mt19937 generator(4);
  std::vector<int8_t> x(2 * 4 * 32), w(8 * 16 * 4);
  for (int8_t &value : x)
    value = static_cast<int8_t>(generator() >> 24);
  for (int8_t &value : w)
    value = static_cast<int8_t>(generator() >> 24);
  std::vector<int32_t> y(2 * 4 * 16, -1);
  ASSERT_TRUE(kernels.run("both_signed", {x.data(), w.data(), y.data()}, 0, 2));
  for (size_t m = 0; m < 8; ++m)
    for (size_t n = 0; n < 16; ++n) {
      int32_t want = 0;
      for (size_t k = 0; k < 32; ++k)
        want += x[m * 32 + k] * w[(k / 4 * 16 + n) * 4 + k % 4];
      ASSERT_EQ(y[m * 16 + n], want) << m << " " << n;
    }
}
