// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a piece of code on a small stack, where recursion over hostile or very deep input would overflow.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

namespace tilewright::test {

inline void onStack(size_t bytes, const std::function<void()> &body) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0) << bytes;
  auto run = [](void *argument) -> void * {
    (*static_cast<const std::function<void()> *>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()> *>(&body)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// A stack of 256 KiB.
inline void onSmallStack(const std::function<void()> &body) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TILEWRIGHT_INSTRUMENTED
#endif
#endif
#ifdef TILEWRIGHT_INSTRUMENTED
  onStack(2 << 20, body); // instrumented frames are several times larger
#else
  onStack(256 << 10, body);
#endif
}

} // namespace tilewright::test
