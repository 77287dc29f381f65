// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends the program with a message when a test hangs: a wait for a thread that never comes must not block the suite.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace tilewright::testing {

class Watchdog {
public:
  explicit Watchdog(std::string name, std::chrono::seconds limit = std::chrono::seconds(60))
      : thread([this, name = std::move(name), limit] {
          std::unique_lock lock(mutex);
          if (!changed.wait_for(lock, limit, [this] { return done; })) {
            std::fprintf(stderr, "%s did not finish within %lld s\n", name.c_str(),
                         static_cast<long long>(limit.count()));
            std::abort();
          }
        }) {}
  ~Watchdog() {
    {
      std::lock_guard lock(mutex);
      done = true;
    }
    changed.notify_all();
    thread.join();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread thread;
};

} // namespace tilewright::testing
