// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A parallel loop as a host of the runtime would write it.
#pragma once

#include <atomic>
#include <utility>

namespace tilewright::testing {

/// Calls body(data, i) for 0 <= i < count in a TBB loop in the caller's arena.
void runHostLoop(int count, void (*body)(void *, int), void *data);

inline std::atomic<int> hostLoopHandOver{0};

template <typename Body> void hostLoop(int count, Body &&body) {
  hostLoopHandOver.fetch_add(1, std::memory_order_release);
  runHostLoop(
      count,
      [](void *data, int i) {
        hostLoopHandOver.load(std::memory_order_acquire);
        (*static_cast<std::remove_reference_t<Body> *>(data))(i);
        hostLoopHandOver.fetch_add(1, std::memory_order_release);
      },
      &body);
  hostLoopHandOver.load(std::memory_order_acquire);
}

} // namespace tilewright::testing
