// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a piece of code on a stack of 256 KiB, where recursion over hostile input would overflow.
#pragma once

#include <pthread.h>

#include <functional>
#include <stdexcept>

namespace tilewright::test {

inline void onSmallStack(const std::function<void()> &body) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TILEWRIGHT_INSTRUMENTED
#endif
#endif
#ifdef TILEWRIGHT_INSTRUMENTED
  constexpr size_t stackBytes = 2 << 20; // instrumented frames are several times larger
#else
  constexpr size_t stackBytes = 256 << 10;
#endif
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, stackBytes) != 0)
    throw std::runtime_error("cannot set a stack of 256 KiB");
  auto run = [](void *argument) -> void * {
    (*static_cast<const std::function<void()> *>(argument))();
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, run, const_cast<std::function<void()> *>(&body)) != 0)
    throw std::runtime_error("cannot start a thread");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

} // namespace tilewright::test
