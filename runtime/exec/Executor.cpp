// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/Executor.h"

#include "runtime/api/Error.h"
#include "runtime/exec/Phases.h"

#include <algorithm>
#include <exception>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace tilewright {
namespace {

class CallingThread : public Executor {
public:
  int concurrency() const override { return 1; }

private:
  void runOnAll(const std::function<void()> &participant) override { participant(); }
};

class OwnArena : public Executor {
public:
  explicit OwnArena(int threads) : threads(threads), arena(threads) {}
  int concurrency() const override { return threads; }

private:
  void runOnAll(const std::function<void()> &participant) override {
    arena.execute([&] {
      // Isolated: while the leader waits at the end, it must not pick up another step's helper and stay with it.
      tbb::this_task_arena::isolate([&] {
        tbb::task_group helpers;
        for (int i = 1; i < threads; ++i)
          helpers.run(participant);
        participant();
        helpers.wait();
      });
    });
  }

  const int threads;
  tbb::task_arena arena;
};

class HostThreads : public Executor {
public:
  explicit HostThreads(const tw_executor &host) : host(host) {}
  int concurrency() const override { return host.concurrency; }

private:
  void runOnAll(const std::function<void()> &participant) override {
    host.run(
        host.user, [](void *body) { (*static_cast<const std::function<void()> *>(body))(); },
        const_cast<std::function<void()> *>(&participant));
  }

  const tw_executor host;
};

} // namespace

void Executor::run(std::span<std::atomic<bool> *const> cancels, const std::function<void(Phases &)> &lead) {
  Phases phases(concurrency() == 1, cancels);
  std::atomic<bool> led{false};
  std::exception_ptr failure;
  // Nothing may leave a participant: a host's threads are not ours to throw through.
  const std::function<void()> participant = [&]() noexcept {
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
  };
  runOnAll(participant);
  if (!led)
    throw Error(TW_INVALID, "the host's executor returned without having run anything");
  if (failure)
    std::rethrow_exception(failure);
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
  return std::make_unique<OwnArena>(threads);
}

} // namespace tilewright
