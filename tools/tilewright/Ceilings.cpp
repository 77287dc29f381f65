// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/tilewright/Ceilings.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include <immintrin.h>

#include <sys/mman.h>

namespace tilewright::cli {

using Clock = std::chrono::steady_clock;

/// Runs `work` on every thread at once and returns the seconds until the last has ended; the best of `rounds`.
static double bestSeconds(int threads, int rounds, const std::function<void(int)> &work) {
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> pool;
    for (int t = 0; t < threads; ++t)
      pool.emplace_back([&, t] {
        ready.fetch_add(1);
        while (!go.load(std::memory_order_acquire)) {
        }
        work(t);
      });
    while (ready.load() < threads)
      std::this_thread::yield();
    auto start = Clock::now();
    go.store(true, std::memory_order_release);
    for (std::thread &thread : pool)
      thread.join();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

/// Keeps a result alive without storing it anywhere the compiler could see through.
template <typename T> static void keep(T &value) { asm volatile("" : "+m"(value) : : "memory"); }

static constexpr int64_t steps = 4'000'000;

__attribute__((target("avx2,fma"))) static void fma256() {
  __m256 a[10], x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-6f);
  for (auto &v : a)
    v = x;
  for (int64_t i = 0; i < steps; ++i)
    for (auto &v : a)
      v = _mm256_fmadd_ps(v, x, y);
  keep(a);
}

__attribute__((target("avx512f"))) static void fma512() {
  __m512 a[10], x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-6f);
  for (auto &v : a)
    v = x;
  for (int64_t i = 0; i < steps; ++i)
    for (auto &v : a)
      v = _mm512_fmadd_ps(v, x, y);
  keep(a);
}

__attribute__((target("avx512f,avx512bf16"))) static void bf16Dot() {
  __m512 a[10];
  __m512i bits = _mm512_set1_epi32(0x3f803f80);
  __m512bh x;
  std::memcpy(&x, &bits, sizeof x);
  for (auto &v : a)
    v = _mm512_setzero_ps();
  for (int64_t i = 0; i < steps; ++i)
    for (auto &v : a)
      v = _mm512_dpbf16_ps(v, x, x);
  keep(a);
}

__attribute__((target("avx512f,avx512vnni"))) static void int8Dot() {
  __m512i a[10], x = _mm512_set1_epi8(1);
  for (auto &v : a)
    v = _mm512_setzero_si512();
  for (int64_t i = 0; i < steps; ++i)
    for (auto &v : a) {
      v = _mm512_dpbusd_epi32(v, x, x);
      asm volatile("" : "+v"(v)); // the sum of constants must not be folded
    }
  keep(a);
}

static uint64_t readSum(const uint8_t *from, uint64_t bytes) {
  uint64_t sums[8] = {};
  for (uint64_t at = 0; at + 64 <= bytes; at += 64)
    for (int lane = 0; lane < 8; ++lane) {
      uint64_t word;
      std::memcpy(&word, from + at + lane * 8, 8);
      sums[lane] += word;
    }
  uint64_t sum = 0;
  for (uint64_t lane : sums)
    sum += lane;
  return sum;
}

Ceilings measureCeilings(int threads, uint64_t bytes) {
  Ceilings result;
  const double operations = static_cast<double>(steps) * 10 * threads;

  bool wide = __builtin_cpu_supports("avx512f");
  result.fmaPerSecond =
      operations * (wide ? 16 : 8) * 2 / bestSeconds(threads, 5, [&](int) { wide ? fma512() : fma256(); });
  if (__builtin_cpu_supports("avx512bf16"))
    result.bf16DotPerSecond = operations * 32 * 2 / bestSeconds(threads, 5, [](int) { bf16Dot(); });
  if (__builtin_cpu_supports("avx512vnni"))
    result.int8DotPerSecond = operations * 64 * 2 / bestSeconds(threads, 5, [](int) { int8Dot(); });

  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return result;
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 1, bytes);
  const uint64_t share = bytes / static_cast<uint64_t>(threads) / 64 * 64;
  double seconds = bestSeconds(threads, 5, [&](int t) {
    uint64_t sum = readSum(static_cast<const uint8_t *>(memory) + share * static_cast<uint64_t>(t), share);
    keep(sum);
  });
  result.readBytesPerSecond = static_cast<double>(share) * threads / seconds;
  munmap(memory, bytes);
  return result;
}

} // namespace tilewright::cli
