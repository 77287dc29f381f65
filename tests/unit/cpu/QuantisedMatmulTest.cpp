// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of int8 rows with packed quantised weights, against the same sums in double precision.
#include "tests/unit/cpu/KernelRunner.h"

#include "llvm/ADT/APFloat.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

class QuantisedMatmul : public OnEachLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, QuantisedMatmul, testing::ValuesIn(hostCpuLevels()), levelName);

uint16_t toHalf(float value) {
  llvm::APFloat half(value);
  bool lost;
  half.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return static_cast<uint16_t>(half.bitcastToAPInt().getZExtValue());
}

float fromHalf(uint16_t bits) {
  llvm::APFloat half(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
  bool lost;
  half.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return half.convertToFloat();
}

/// int8 rows in blocks of 32 with their scales.
struct Rows {
  size_t rows, blocks;
  std::vector<int8_t> q;         // [rows][blocks][32]
  std::vector<float> scale, sum; // [rows][blocks]; sum = scale * sum of q

  Rows(size_t rows, size_t blocks, unsigned seed) : rows(rows), blocks(blocks), q(rows * blocks * 32) {
    std::mt19937 generator(seed);
    scale = randomFloats(rows * blocks, seed + 1, 0.02f);
    for (size_t i = 0; i < q.size(); ++i)
      q[i] = static_cast<int8_t>(generator() >> 24);
    q[0] = -128;
    for (size_t b = 0; b < rows * blocks; ++b) {
      int total = 0;
      for (size_t i = 0; i < 32; ++i)
        total += q[b * 32 + i];
      sum.push_back(scale[b] * total);
    }
  }
};

/// Weights as numbers and packed; `offset` undoes the packing's shift of q8_0.
struct Weights {
  std::vector<uint8_t> packed;
  std::vector<double> values; // [n][k]
};

Weights packQ41(size_t groups, size_t blocks, unsigned seed) {
  std::mt19937 generator(seed);
  Weights w{std::vector<uint8_t>(groups * blocks * 320), std::vector<double>(groups * 16 * blocks * 32)};
  for (size_t g = 0; g < groups; ++g)
    for (size_t b = 0; b < blocks; ++b)
      for (size_t r = 0; r < 16; ++r) {
        uint8_t *block = &w.packed[(g * blocks + b) * 320];
        uint16_t scale = toHalf((generator() % 1000) * 1e-4f), min = toHalf((generator() % 1000) * -1e-3f);
        memcpy(block + 256 + 2 * r, &scale, 2);
        memcpy(block + 288 + 2 * r, &min, 2);
        for (size_t k = 0; k < 32; ++k) {
          unsigned nibble = generator() % 16;
          size_t quad = k % 16 / 4;
          block[quad * 64 + r * 4 + k % 4] |= nibble << (k < 16 ? 0 : 4);
          w.values[(g * 16 + r) * blocks * 32 + b * 32 + k] = double(nibble) * fromHalf(scale) + fromHalf(min);
        }
      }
  return w;
}

Weights packQ80(size_t groups, size_t blocks, unsigned seed) {
  std::mt19937 generator(seed);
  Weights w{std::vector<uint8_t>(groups * blocks * 544), std::vector<double>(groups * 16 * blocks * 32)};
  for (size_t g = 0; g < groups; ++g)
    for (size_t b = 0; b < blocks; ++b)
      for (size_t r = 0; r < 16; ++r) {
        uint8_t *block = &w.packed[(g * blocks + b) * 544];
        uint16_t scale = toHalf((generator() % 1000) * 1e-4f);
        memcpy(block + 512 + 2 * r, &scale, 2);
        for (size_t k = 0; k < 32; ++k) {
          int8_t q = static_cast<int8_t>(generator() >> 24);
          block[k / 4 * 64 + r * 4 + k % 4] = static_cast<uint8_t>(q) ^ 0x80;
          w.values[(g * 16 + r) * blocks * 32 + b * 32 + k] = double(q) * fromHalf(scale);
        }
      }
  return w;
}

/// Runs kernel `name` and returns its error against the product in double precision.
double errorOf(LoadedKernels &kernels, const char *name, const Rows &x, const Weights &w, size_t rowsPerChunk) {
  size_t k = x.blocks * 32, n = w.values.size() / k;
  std::vector<double> want(x.rows * n);
  for (size_t r = 0; r < x.rows; ++r)
    for (size_t j = 0; j < n; ++j)
      for (size_t i = 0; i < k; ++i)
        want[r * n + j] += double(x.q[r * k + i]) * x.scale[r * x.blocks + i / 32] * w.values[j * k + i];
  std::vector<float> y(x.rows * n, NAN);
  bool ran = kernels.run(name,
                         {x.q.data(), x.scale.data(), x.sum.data(), w.packed.data(), y.data(), slot(x.rows),
                          slot(x.blocks), slot(n / 16), slot(n)},
                         0, x.rows / rowsPerChunk * (n / 16));
  return ran ? relativeError(y, want) : HUGE_VAL;
}

} // namespace

TEST_P(QuantisedMatmul, Q41OneRow) {
  LoadedKernels kernels("matmul_q4_1.mlir", *GetParam());
  EXPECT_LT(errorOf(kernels, "matmul_q4_1_m1", Rows(3, 18, 1), packQ41(5, 18, 2), 1), 1e-6);
}

TEST_P(QuantisedMatmul, Q41EightRows) {
  LoadedKernels kernels("matmul_q4_1.mlir", *GetParam());
  EXPECT_LT(errorOf(kernels, "matmul_q4_1_m8", Rows(16, 18, 3), packQ41(3, 18, 4), 8), 1e-6);
  EXPECT_LT(errorOf(kernels, "matmul_q4_1_m8", Rows(8, 1, 5), packQ41(1, 1, 6), 8), 1e-6);
}

TEST_P(QuantisedMatmul, Q41MoreRowsThanRegistersHold) {
  LoadedKernels kernels("matmul_q4_1.mlir", *GetParam());
  EXPECT_LT(errorOf(kernels, "matmul_q4_1_m16", Rows(32, 18, 15), packQ41(3, 18, 16), 16), 1e-6);
}

TEST_P(QuantisedMatmul, Q80OneRow) {
  LoadedKernels kernels("matmul_q8_0.mlir", *GetParam());
  EXPECT_LT(errorOf(kernels, "matmul_q8_0_m1", Rows(3, 18, 7), packQ80(5, 18, 8), 1), 1e-6);
}

TEST_P(QuantisedMatmul, Q80EightRows) {
  LoadedKernels kernels("matmul_q8_0.mlir", *GetParam());
  EXPECT_LT(errorOf(kernels, "matmul_q8_0_m8", Rows(16, 18, 9), packQ80(3, 18, 10), 8), 1e-6);
}

TEST_P(QuantisedMatmul, NaNScaleComesOut) {
  LoadedKernels kernels("matmul_q4_1.mlir", *GetParam());
  Rows x(1, 4, 11);
  x.scale[2] = NAN;
  EXPECT_EQ(errorOf(kernels, "matmul_q4_1_m1", x, packQ41(1, 4, 12), 1), HUGE_VAL);
}

TEST_P(QuantisedMatmul, LargestBytesDoNotSaturate) {
  // 2 * 255 * 127 is beyond 16 bits: on AVX2 these products must go through 16-bit operands.
  LoadedKernels kernels("matmul_q8_0.mlir", *GetParam());
  Rows x(8, 2, 13);
  std::fill(x.q.begin(), x.q.end(), int8_t(-128));
  for (size_t b = 0; b < 16; ++b)
    x.sum[b] = x.scale[b] * -128 * 32;
  Weights w = packQ80(1, 2, 14);
  for (size_t b = 0; b < 2; ++b)
    std::fill(&w.packed[b * 544], &w.packed[b * 544] + 512, uint8_t(255));
  for (size_t r = 0; r < 16; ++r)
    for (size_t k = 0; k < 64; ++k) {
      uint16_t scale;
      memcpy(&scale, &w.packed[k / 32 * 544 + 512 + 2 * r], 2);
      w.values[r * 64 + k] = 127.0 * fromHalf(scale);
    }
  EXPECT_LT(errorOf(kernels, "matmul_q8_0_m8", x, w, 8), 1e-6);
}

TEST_P(QuantisedMatmul, LargestNibblesDoNotSaturate) {
  // A block of 15s against -128s: 8 * 2 * 15 * -128 is the most that 16 bits are asked to hold on AVX2.
  LoadedKernels kernels("matmul_q4_1.mlir", *GetParam());
  Rows x(1, 2, 17);
  Weights w = packQ41(1, 2, 18);
  std::fill(x.q.begin(), x.q.end(), int8_t(-128));
  for (size_t b = 0; b < 2; ++b) {
    x.sum[b] = x.scale[b] * -128 * 32;
    std::fill(&w.packed[b * 320], &w.packed[b * 320] + 256, uint8_t(255));
  }
  for (size_t r = 0; r < 16; ++r)
    for (size_t k = 0; k < 64; ++k) {
      uint16_t scale, min;
      memcpy(&scale, &w.packed[k / 32 * 320 + 256 + 2 * r], 2);
      memcpy(&min, &w.packed[k / 32 * 320 + 288 + 2 * r], 2);
      w.values[r * 64 + k] = 15.0 * fromHalf(scale) + fromHalf(min);
    }
  EXPECT_LT(errorOf(kernels, "matmul_q4_1_m1", x, w, 1), 1e-6);
}
