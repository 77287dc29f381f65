// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads: every construct completes with any number of them, and its result does not depend on it.
#include "runtime/exec/Executor.h"
#include "runtime/exec/Phases.h"

#include "runtime/api/Error.h"
#include "tests/unit/runtime/Watchdog.h"
#include "tests/unit/runtime/fake/HostLoop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <tbb/global_control.h>
#include <thread>
#include <vector>

using namespace tilewright;
using namespace tilewright::testing;

namespace {

constexpr int64_t kCells = 96;

/// Repeated sums over neighbours: each phase reads all of what the phase before wrote, so a chunk run twice, late or
/// not at all shows in the bits of the result.
struct Stencil {
  std::vector<double> from = std::vector<double>(kCells), to = std::vector<double>(kCells), squares = from;
  std::atomic<int64_t> chunksRun{0};

  explicit Stencil(int seed) {
    for (int64_t i = 0; i < kCells; ++i)
      from[static_cast<size_t>(i)] = std::sin(static_cast<double>(i * 7 + seed));
  }

  static thread_local bool inKernel;

  static void smooth(void *const *args, int64_t begin, int64_t end) {
    auto *self = static_cast<Stencil *>(args[0]);
    EXPECT_FALSE(inKernel) << "a thread re-entered a kernel";
    inKernel = true;
    for (int64_t i = begin; i < end; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < kCells; ++k)
        sum += self->from[static_cast<size_t>(k)] / static_cast<double>(1 + std::abs(i - k));
      self->to[static_cast<size_t>(i)] = sum;
    }
    self->chunksRun += end - begin;
    inKernel = false;
  }
  static void square(void *const *args, int64_t begin, int64_t end) {
    auto *self = static_cast<Stencil *>(args[0]);
    for (int64_t i = begin; i < end; ++i)
      self->squares[static_cast<size_t>(i)] = self->from[static_cast<size_t>(i)] * self->from[static_cast<size_t>(i)];
    self->chunksRun += end - begin;
  }

  /// Phases with two works that share one counter; `gap` lets the helpers fall asleep in between.
  void lead(Phases &phases, int count, std::chrono::microseconds gap = {}) {
    void *args[1] = {this};
    for (int i = 0; i < count; ++i) {
      const tw_abi_work works[3] = {{smooth, args, kCells}, {square, nullptr, 0}, {square, args, kCells}};
      ASSERT_EQ(phases.run(works, 3), 0);
      std::swap(from, to);
      if (gap.count())
        std::this_thread::sleep_for(gap);
    }
  }

  void run(Executor &executor, int count, std::chrono::microseconds gap = {}) {
    executor.run({}, [&](Phases &phases) { lead(phases, count, gap); });
    EXPECT_EQ(chunksRun, 2 * kCells * count);
  }
};
thread_local bool Stencil::inKernel = false;

std::vector<double> alone(int seed, int count) {
  Stencil stencil(seed);
  stencil.run(*Executor::create(1, nullptr), count);
  return stencil.from;
}

} // namespace

TEST(Executor, CompletesWithAnyThreadLimit) {
  Watchdog watchdog("CompletesWithAnyThreadLimit");
  const std::vector<double> wanted = alone(1, 20);
  const auto before = Executor::create(2, nullptr); // made under another limit than it runs under
  for (int limit : {0, 1, 2, 3, 64}) {
    std::optional<tbb::global_control> control;
    if (limit)
      control.emplace(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(limit));
    Stencil first(1);
    first.run(*before, 20);
    EXPECT_EQ(first.from, wanted) << "limit " << limit;
    for (int threads : {1, 2, 3, 64}) {
      auto executor = Executor::create(threads, nullptr);
      if (limit) // TBB's own limit without one: this machine's CPUs
        EXPECT_EQ(executor->concurrency(), std::min(threads, limit));
      for (auto gap : {std::chrono::microseconds(0), std::chrono::microseconds(300)}) {
        Stencil stencil(1);
        stencil.run(*executor, 20, gap);
        EXPECT_EQ(stencil.from, wanted) << "limit " << limit << ", threads " << threads;
      }
    }
  }
}

TEST(Executor, RepeatsBitEqual) {
  Watchdog watchdog("RepeatsBitEqual");
  const std::vector<double> wanted = alone(2, 3);
  auto executor = Executor::create(2, nullptr);
  for (int i = 0; i < 1000; ++i) {
    Stencil stencil(2);
    stencil.run(*executor, 3);
    ASSERT_EQ(stencil.from, wanted) << "repeat " << i;
  }
}

TEST(Executor, TakesStepsOfSeveralThreadsAtOnce) {
  Watchdog watchdog("TakesStepsOfSeveralThreadsAtOnce");
  for (int threads : {1, 2, 64}) {
    auto executor = Executor::create(threads, nullptr);
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c)
      callers.emplace_back([&executor, c] {
        const std::vector<double> wanted = alone(c, 5);
        for (int i = 0; i < 50; ++i) {
          Stencil stencil(c);
          stencil.run(*executor, 5);
          ASSERT_EQ(stencil.from, wanted);
        }
      });
    for (std::thread &caller : callers)
      caller.join();
  }
}

// A host calls from inside its own parallel loops, nested, under any limit.
TEST(Executor, RunsInsideAHostsLoops) {
  Watchdog watchdog("RunsInsideAHostsLoops");
  for (size_t limit : {1, 2, 8}) {
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, limit);
    auto executor = Executor::create(2, nullptr);
    hostLoop(8, [&](int outer) {
      hostLoop(2, [&](int inner) {
        Stencil stencil(outer);
        stencil.run(*executor, 4 + inner);
        EXPECT_EQ(stencil.from, alone(outer, 4 + inner));
      });
    });
  }
}

TEST(Executor, RunsOnAHostsThreads) {
  Watchdog watchdog("RunsOnAHostsThreads");
  // Threads that really come: 1 of 4, 4 of 4, and a thread that is not the caller's.
  struct Host {
    int threads;
    bool callerToo;
  };
  for (Host host : {Host{0, true}, Host{3, true}, Host{1, false}}) {
    const tw_executor description = {sizeof(tw_executor), &host, 4, [](void *user, void (*body)(void *), void *data) {
                                       const auto *self = static_cast<const Host *>(user);
                                       std::vector<std::thread> threads;
                                       for (int i = 0; i < self->threads; ++i)
                                         threads.emplace_back(body, data);
                                       if (self->callerToo)
                                         body(data);
                                       for (std::thread &thread : threads)
                                         thread.join();
                                     }};
    auto executor = Executor::create(0, &description);
    for (int i = 0; i < 20; ++i) {
      Stencil stencil(5);
      stencil.run(*executor, 10);
      EXPECT_EQ(stencil.from, alone(5, 10));
    }
  }
}

TEST(Executor, RefusesAHostThatDoesNothing) {
  const tw_executor idle = {sizeof(tw_executor), nullptr, 4, [](void *, void (*)(void *), void *) {}};
  try {
    Executor::create(0, &idle)->run({}, [](Phases &) {});
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), TW_INVALID);
    EXPECT_EQ(error.message(), "the host's executor returned without having run anything");
  }
  tw_executor bad = idle;
  bad.concurrency = 0;
  EXPECT_THROW(Executor::create(0, &bad), Error);
  bad = idle;
  bad.run = nullptr;
  EXPECT_THROW(Executor::create(0, &bad), Error);
  bad = idle;
  bad.size = 8;
  EXPECT_THROW(Executor::create(0, &bad), Error);
  EXPECT_THROW(Executor::create(-1, nullptr), Error);
}

TEST(Executor, CancelsAtThePhaseFromAnotherThread) {
  Watchdog watchdog("CancelsAtThePhaseFromAnotherThread");
  for (int threads : {1, 2, 64}) {
    auto executor = Executor::create(threads, nullptr);
    std::atomic<bool> cancel{false}, never{false};
    std::atomic<bool> *flags[] = {&never, &cancel};
    std::thread canceller;
    int phasesRun = 0, status = 0;
    executor->run(flags, [&](Phases &phases) {
      Stencil stencil(1);
      void *args[1] = {&stencil};
      const tw_abi_work work = {Stencil::smooth, args, kCells};
      while ((status = phases.run(&work, 1)) == 0)
        if (++phasesRun == 3)
          canceller = std::thread([&] { cancel = true; });
      EXPECT_EQ(phases.run(&work, 1), TW_CANCELLED) << "a cancelled step stays cancelled";
      EXPECT_EQ(phases.status(), TW_CANCELLED);
    });
    canceller.join();
    EXPECT_EQ(status, TW_CANCELLED);
    EXPECT_GE(phasesRun, 3);
  }
}

TEST(Executor, RethrowsWhatTheLeaderThrows) {
  for (int threads : {1, 3}) {
    auto executor = Executor::create(threads, nullptr);
    EXPECT_THROW(executor->run({}, [](Phases &) { throw Error(TW_IO, "disk"); }), Error);
    Stencil stencil(1);
    stencil.run(*executor, 2); // and goes on
  }
}

TEST(Phases, RefusesImpossibleWorks) {
  const auto kernel = [](void *const *, int64_t, int64_t) {};
  const std::vector<std::vector<tw_abi_work>> bad = {
      {{kernel, nullptr, -1}}, {{nullptr, nullptr, 1}}, {{kernel, nullptr, INT64_MAX}, {kernel, nullptr, 1}}};
  for (const auto &works : bad)
    for (bool single : {false, true}) {
      Phases phases(single, {});
      EXPECT_EQ(phases.run(works.data(), static_cast<int64_t>(works.size())), TW_INTERNAL);
      EXPECT_NE(std::string(phases.message()).find("number of chunks"), std::string::npos);
    }
}

// Very many chunks are claimed several at a time, across the border between two works.
TEST(Phases, JoinsChunksWhenThereAreTooMany) {
  constexpr int64_t kFirst = 100'001, kSecond = 150'002;
  struct Seen {
    std::vector<int> times;
    int64_t calls = 0;
  } first{std::vector<int>(kFirst), 0}, second{std::vector<int>(kSecond), 0};
  void *firstArgs[1] = {&first}, *secondArgs[1] = {&second};
  const auto kernel = [](void *const *args, int64_t begin, int64_t end) {
    auto *seen = static_cast<Seen *>(args[0]);
    for (int64_t i = begin; i < end; ++i)
      ++seen->times[static_cast<size_t>(i)];
    ++seen->calls;
  };
  Phases phases(false, {});
  const tw_abi_work works[2] = {{kernel, firstArgs, kFirst}, {kernel, secondArgs, kSecond}};
  EXPECT_EQ(phases.run(works, 2), 0);
  EXPECT_EQ(first.times, std::vector<int>(kFirst, 1));
  EXPECT_EQ(second.times, std::vector<int>(kSecond, 1));
  EXPECT_LT(first.calls + second.calls, (kFirst + kSecond) / 2);
}

// A wait inside a task for another task hangs where threads are few, so every wait of the runtime is known: for threads
// that run (Spin.h), and for the calls of one function to return (OwnArena.cpp).
TEST(Executor, WaitsNowhereElse) {
  const std::filesystem::path root = std::filesystem::path(TILEWRIGHT_TEST_DATA).parent_path() / "runtime";
  const std::regex waits(
      R"((\.|->)(wait|wait_for|wait_until|join|arrive_and_wait)\(|condition_variable|std::(barrier|latch|future|async)\b)");
  std::set<std::string> found;
  size_t files = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h")
      continue;
    ++files;
    std::ifstream stream(entry.path());
    for (std::string line; std::getline(stream, line);)
      if (std::regex_search(line, waits))
        found.insert(entry.path().filename().string() + ":" + line.substr(line.find_first_not_of(' ')));
  }
  EXPECT_GT(files, 20u);
  EXPECT_EQ(found, (std::set<std::string>{"Spin.h:word.wait(old, std::memory_order_acquire);",
                                          "OwnArena.cpp:others.wait();"}));
}
