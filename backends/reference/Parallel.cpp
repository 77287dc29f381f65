// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Tensor.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace tilewright::reference {

void parallelFor(int64_t n, llvm::function_ref<void(int64_t)> body) {
  constexpr unsigned kMaxThreads = 16;
  std::atomic<int64_t> next = 0;
  auto work = [&] {
    for (int64_t i = next++; i < n; i = next++)
      body(i);
  };
  int64_t threads = std::min<int64_t>(n, std::clamp(std::thread::hardware_concurrency(), 1u, kMaxThreads));
  std::vector<std::thread> helpers;
  for (int64_t t = 1; t < threads; ++t)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
}

} // namespace tilewright::reference
