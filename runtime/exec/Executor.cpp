// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/Executor.h"

#include "runtime/api/Error.h"
#include "runtime/exec/OwnArena.h"
#include "runtime/exec/Phases.h"

#include <algorithm>
#include <exception>
#include <tbb/global_control.h>
#include <tbb/info.h>

namespace tilewright {
namespace {

class CallingThread : public Executor {
public:
  int concurrency() const override { return 1; }

private:
  void runOnAll(void (*body)(void *), void *data) override { body(data); }
};

class ArenaThreads : public Executor {
public:
  explicit ArenaThreads(int threads) : threads(threads), arena(threads) {}
  int concurrency() const override { return threads; }

private:
  void runOnAll(void (*body)(void *), void *data) override { arena.run(body, data); }

  const int threads;
  OwnArena arena;
};

class HostThreads : public Executor {
public:
  explicit HostThreads(const tw_executor &host) : host(host) {}
  int concurrency() const override { return host.concurrency; }

private:
  void runOnAll(void (*body)(void *), void *data) override { host.run(host.user, body, data); }

  const tw_executor host;
};

/// Orders what a step's starter wrote before what its participants read, and what they wrote before its end. Schedulers
/// do that themselves; said here, it holds for any host, and a race detector that cannot look into a scheduler sees it.
constinit std::atomic<uint32_t> handOver{0};

struct Step {
  Phases phases;
  const std::function<void(Phases &)> &lead;
  std::atomic<bool> led{false};
  std::exception_ptr failure;

  /// Nothing may leave a participant: a host's threads are not ours to throw through.
  void participate() noexcept {
    if (led.exchange(true, std::memory_order_acq_rel)) {
      phases.help();
      return;
    }
    try {
      lead(phases);
    } catch (...) {
      failure = std::current_exception();
    }
    phases.stop();
  }
};

} // namespace

void Executor::run(std::span<std::atomic<bool> *const> cancels, const std::function<void(Phases &)> &lead,
                   Trace *trace) {
  Step step{Phases(concurrency() == 1, cancels, trace), lead, false, nullptr};
  handOver.fetch_add(1, std::memory_order_release);
  runOnAll(
      [](void *data) {
        handOver.load(std::memory_order_acquire);
        static_cast<Step *>(data)->participate();
        handOver.fetch_add(1, std::memory_order_release);
      },
      &step);
  handOver.load(std::memory_order_acquire);
  if (!step.led)
    throw Error(TW_INVALID, "the host's executor returned without having run anything");
  if (step.failure)
    std::rethrow_exception(step.failure);
}

std::unique_ptr<Executor> Executor::create(int threads, const tw_executor *host) {
  if (host) {
    if (host->size < sizeof(tw_executor) || !host->run || host->concurrency < 1)
      throw Error(TW_INVALID, "executor of " + std::to_string(host->size) + " bytes with concurrency " +
                                  std::to_string(host->concurrency) + (host->run ? "" : " and no run function") +
                                  ", wanted at least " + std::to_string(sizeof(tw_executor)) +
                                  " bytes, a concurrency of 1 or more and a run function");
    return std::make_unique<HostThreads>(*host);
  }
  constexpr int kMaxThreads = 4096;
  if (threads < 0 || threads > kMaxThreads)
    throw Error(TW_INVALID, "threads " + std::to_string(threads) + ", wanted 0 to " + std::to_string(kMaxThreads));
  // More threads than TBB gives this process would only bring a warning from it.
  const auto allowed = static_cast<int>(
      std::min<size_t>(kMaxThreads, tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)));
  threads = std::max(1, std::min(threads ? threads : tbb::info::default_concurrency(), allowed));
  if (threads == 1)
    return std::make_unique<CallingThread>();
  return std::make_unique<ArenaThreads>(threads);
}

} // namespace tilewright
