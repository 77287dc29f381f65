// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phases of one step. Compiled code runs on one thread, the leader; at each phase its chunks are handed to whoever
// is there. Nobody is counted in or waited for by name: a phase is over when its claimed chunks are finished, so one
// thread alone completes everything, and a helper that comes late or never costs nothing but time.
#pragma once

#include "runtime/api/abi.h"

#include <atomic>
#include <span>

namespace tilewright {

class Phases {
public:
  /// `alone`: no helper will come. `cancels`: flags that end the step at its next phase; they outlive this object.
  Phases(bool alone, std::span<std::atomic<bool> *const> cancels) : alone(alone), cancels(cancels) {}

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
  bool claim(uint32_t &index) noexcept;
  void work() noexcept;
  void runClaim(uint32_t index) noexcept;
  void awaitFinished() noexcept;

  const bool alone;
  const std::span<std::atomic<bool> *const> cancels;
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
