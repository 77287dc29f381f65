// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waiting for another running thread: a bounded spin, then sleep.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tilewright {

/// Longer than a phase change, shorter than what a sleeping core would save.
constexpr std::chrono::microseconds kSpinTime{20};

inline void pauseCpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Returns when `word` differs from `old`, with its value: spins for kSpinTime, then sleeps in the kernel. Whoever
/// changes the word must notify it.
inline uint32_t awaitChange(const std::atomic<uint32_t> &word, uint32_t old) noexcept {
  const auto until = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      const uint32_t now = word.load(std::memory_order_acquire);
      if (now != old)
        return now;
      pauseCpu();
    }
  } while (std::chrono::steady_clock::now() < until);
  word.wait(old, std::memory_order_acquire);
  return word.load(std::memory_order_acquire);
}

} // namespace tilewright
