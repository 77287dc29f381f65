// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phases of one step. Compiled code runs on one thread, the leader; at each phase its chunks are handed to whoever
// is there. Nobody is counted in or waited for by name: a phase is over when its claimed chunks are finished, so one
// thread alone completes everything, and a helper that comes late or never costs nothing but time.
#pragma once

#include "runtime/api/abi.h"
#include "runtime/exec/Trace.h"

#include <atomic>
#include <span>

namespace tilewright {

class Phases {
public:
  /// `alone`: no helper will come. `cancels`: flags that end the step at its next phase; they outlive this object, as
  /// does the trace, if there is one.
  Phases(bool alone, std::span<std::atomic<bool> *const> cancels, Trace *trace = nullptr)
      : alone(alone), cancels(cancels), trace(trace) {}

  /// For the leader: runs all works and returns 0 when they are finished; else the step must end (a tw_status).
  int32_t run(const tw_abi_work *works, int64_t count) noexcept;

  /// For any other thread: works on phases until stop(). Never throws, never waits for a thread that is not running.
  void help() noexcept;

  /// For the leader, when the step is over: sends the helpers home.
  void stop() noexcept;

  /// Why run() ended the step: TW_OK, TW_CANCELLED, or TW_INTERNAL with a message.
  int32_t status() const { return state; }
  const char *message() const { return text; }

  /// A tw_abi_phase whose step's context is a Phases.
  static int32_t phase(tw_abi_step *step, const tw_abi_work *works, int64_t count) noexcept {
    return static_cast<Phases *>(step->context)->run(works, count);
  }

private:
  /// A claim that was taken, and the number of its phase.
  struct Claim {
    uint32_t phase;
    uint32_t index;
  };
  bool claim(Claim &taken) noexcept;
  /// Works on what can be claimed; into `traced`, if it is there, one event for each phase.
  void work(ThreadTrace *traced) noexcept;
  /// Returns the number of chunks.
  int64_t runClaim(uint32_t index) noexcept;
  /// For the leader without helpers.
  void runAlone(const tw_abi_work *all, int64_t count) noexcept;
  void awaitFinished() noexcept;

  const bool alone;
  const std::span<std::atomic<bool> *const> cancels;
  Trace *const trace;
  ThreadTrace leaders; ///< what the leader did
  int32_t state = 0;
  const char *text = "";

  // The running phase; written by the leader while no claim is open.
  const tw_abi_work *works = nullptr;
  int64_t workCount = 0;
  int64_t chunks = 0; ///< of all works together
  int64_t grain = 1;  ///< chunks of one claim
  uint32_t claims = 0;

  /// High half: number of the phase. Low half: claims still to be taken, from the last to the first. One word, so that
  /// a helper left over from an earlier phase can neither take a claim it does not understand nor one too many.
  alignas(64) std::atomic<uint64_t> ticket{0};
  alignas(64) std::atomic<uint32_t> unfinished{0};
  alignas(64) std::atomic<uint32_t> signal{0}; ///< changes with each phase and at the end: sleepers wait on it
  std::atomic<bool> over{false};
};

} // namespace tilewright
