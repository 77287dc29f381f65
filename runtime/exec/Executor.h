// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where steps run: on the calling thread, in a TBB arena of our own, or on threads a host supplies.
#pragma once

#include "runtime/api/tilewright.h"

#include <atomic>
#include <functional>
#include <memory>
#include <span>

namespace tilewright {

class Phases;
class Trace;

class Executor {
public:
  virtual ~Executor() = default;

  /// Threads that may work on one step.
  virtual int concurrency() const = 0;

  /// Calls `lead` once, with the Phases it may use; other threads help until it returns. Rethrows what `lead` throws.
  /// Several threads may call run() at once. When all of the arena's threads are busy with another step, the call
  /// waits. The phases are traced when there is something to trace them into.
  void run(std::span<std::atomic<bool> *const> cancels, const std::function<void(Phases &)> &lead,
           Trace *trace = nullptr);

  /// `threads`: 0 means all CPUs of this process; no more are used than TBB allows it (its global_control) at this
  /// time. A host's executor is copied. Throws Error(INVALID) for numbers out of range and an unusable host.
  static std::unique_ptr<Executor> create(int threads, const tw_executor *host);

private:
  /// Calls body(data) on up to concurrency() threads and returns when all calls have returned. The first call leads.
  virtual void runOnAll(void (*body)(void *), void *data) = 0;
};

} // namespace tilewright
