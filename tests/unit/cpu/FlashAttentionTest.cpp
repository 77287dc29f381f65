// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Causal flash attention on paged keys and values, against attention in double precision.
#include "tests/unit/cpu/KernelRunner.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr size_t D = 64, page = 64, heads = 6, kvHeads = 2;

class FlashAttention : public OnEachLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, FlashAttention, testing::ValuesIn(hostCpuLevels()), levelName);

/// One sequence: `queries` new tokens behind `past` old ones, its pages in a scattered order.
struct Problem {
  size_t queries, past, keys, pages;
  std::vector<float> q, k, v;      // [queries][heads][D], [keys][kvHeads][D]
  std::vector<float> kPool, vPool; // [pages + 1][kvHeads][D][64], [pages + 1][kvHeads][64][D]; page 0 is not ours
  std::vector<int32_t> table, tiles;
  static constexpr float scale = 0.125f * 1.44269504f;

  Problem(size_t queries, size_t past, size_t tileRows, unsigned seed)
      : queries(queries), past(past), keys(past + queries), pages((keys + page - 1) / page),
        q(randomFloats(queries * heads * D, seed, 3.0f)), k(randomFloats(keys * kvHeads * D, seed + 1)),
        v(randomFloats(keys * kvHeads * D, seed + 2)), kPool((pages + 1) * kvHeads * D * page, 1e30f),
        vPool((pages + 1) * kvHeads * D * page, 0.0f) {
    for (size_t p = 0; p < pages; ++p)
      table.push_back(static_cast<int32_t>(pages - p));
    for (size_t s = 0; s < keys; ++s)
      for (size_t h = 0; h < kvHeads; ++h)
        for (size_t d = 0; d < D; ++d) {
          size_t base = (table[s / page] * kvHeads + h) * D * page;
          kPool[base + d * page + s % page] = k[(s * kvHeads + h) * D + d];
          vPool[base + s % page * D + d] = v[(s * kvHeads + h) * D + d];
        }
    for (size_t row = 0; row < queries; row += tileRows) {
      int32_t rows = static_cast<int32_t>(std::min(tileRows, queries - row));
      tiles.insert(tiles.end(), {static_cast<int32_t>(row), rows, static_cast<int32_t>(past + row),
                                 static_cast<int32_t>(keys), 0, static_cast<int32_t>(pages), 0, 0});
    }
  }

  std::vector<double> reference() const {
    std::vector<double> out(queries * heads * D);
    for (size_t t = 0; t < queries; ++t)
      for (size_t h = 0; h < heads; ++h) {
        size_t kv = h / (heads / kvHeads), seen = past + t + 1;
        std::vector<double> p(seen);
        double largest = -HUGE_VAL, total = 0;
        for (size_t s = 0; s < seen; ++s) {
          for (size_t d = 0; d < D; ++d)
            p[s] += double(q[(t * heads + h) * D + d]) * k[(s * kvHeads + kv) * D + d];
          p[s] *= 0.125;
          largest = std::max(largest, p[s]);
        }
        for (double &each : p)
          total += each = std::exp(each - largest);
        for (size_t s = 0; s < seen; ++s)
          for (size_t d = 0; d < D; ++d)
            out[(t * heads + h) * D + d] += p[s] / total * v[(s * kvHeads + kv) * D + d];
      }
    return out;
  }

  std::vector<float> run(LoadedKernels &kernels, const char *name) const {
    std::vector<float> out(queries * heads * D, NAN);
    float scaleSlot[2] = {scale, 0};
    const void *bits;
    memcpy(&bits, scaleSlot, sizeof bits);
    size_t count = tiles.size() / 8;
    EXPECT_TRUE(
        kernels.run(name,
                    {q.data(), kPool.data(), vPool.data(), tiles.data(), table.data(), out.data(), bits, slot(queries),
                     slot(heads), slot(kvHeads), slot(pages + 1), slot(table.size()), slot(count)},
                    0, count * heads));
    return out;
  }
};

} // namespace

TEST_P(FlashAttention, ManyRowsAtOddLengths) {
  LoadedKernels kernels("flash_attention.mlir", *GetParam());
  for (auto [queries, past] :
       {std::pair<size_t, size_t>{1, 0}, {16, 0}, {5, 123}, {33, 97}, {100, 0}, {64, 64}, {17, 63}}) {
    Problem problem(queries, past, 16, queries);
    EXPECT_LT(relativeError(problem.run(kernels, "flash_16x64"), problem.reference()), 3e-6)
        << queries << " queries behind " << past;
  }
}

TEST_P(FlashAttention, OneRow) {
  LoadedKernels kernels("flash_attention.mlir", *GetParam());
  for (size_t past : {0, 1, 62, 63, 64, 200}) {
    Problem problem(1, past, 1, past + 1);
    EXPECT_LT(relativeError(problem.run(kernels, "flash_1x64"), problem.reference()), 3e-6) << "behind " << past;
  }
}

TEST_P(FlashAttention, NaNInAQueryStaysInItsRow) {
  LoadedKernels kernels("flash_attention.mlir", *GetParam());
  Problem problem(20, 70, 16, 9);
  problem.q[(7 * heads + 2) * D + 5] = NAN;
  std::vector<float> out = problem.run(kernels, "flash_16x64");
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(std::isnan(out[i]), i / D == 7 * heads + 2) << "row " << i / D / heads << " head " << i / D % heads;
}

TEST_P(FlashAttention, NaNInAKeyReachesTheRowsThatSeeIt) {
  LoadedKernels kernels("flash_attention.mlir", *GetParam());
  Problem problem(20, 70, 16, 10);
  size_t key = 75;
  problem.kPool[(problem.table[key / page] * kvHeads + 0) * D * page + 3 * page + key % page] = NAN;
  std::vector<float> out = problem.run(kernels, "flash_16x64");
  for (size_t i = 0; i < out.size(); ++i) {
    size_t row = i / D / heads, head = i / D % heads;
    ASSERT_EQ(std::isnan(out[i]), head < heads / kvHeads && 70 + row >= key) << "row " << row << " head " << head;
  }
}
