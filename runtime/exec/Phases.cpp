// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/Phases.h"

#include "runtime/api/tilewright_status.h"
#include "runtime/exec/Spin.h"

#include <algorithm>

namespace tilewright {
namespace {

/// Beyond this many claims a phase gains nothing from finer ones.
constexpr int64_t kMaxClaims = int64_t{1} << 16;

/// An event of a phase, named by the first kernel that has something to do.
TraceEvent phaseEvent(const tw_abi_work *works) {
  while (works->chunks == 0)
    ++works;
  return {.kernel = works->kernel, .unit = "chunks", .begin = TraceEvent::Clock::now()};
}

} // namespace

int32_t Phases::run(const tw_abi_work *newWorks, int64_t count) noexcept {
  if (state)
    return state;
  for (const std::atomic<bool> *cancel : cancels)
    if (cancel->load(std::memory_order_relaxed))
      return state = TW_CANCELLED;

  int64_t total = 0;
  bool bad = count < 0 || (count > 0 && !newWorks);
  for (int64_t i = 0; i < count && !bad; ++i)
    bad = newWorks[i].chunks < 0 || (newWorks[i].chunks > 0 && !newWorks[i].kernel) ||
          __builtin_add_overflow(total, newWorks[i].chunks, &total);
  if (bad) {
    text = "compiled code asked for a phase with a negative or overflowing number of chunks, or without a kernel";
    return state = TW_INTERNAL;
  }
  if (total == 0)
    return 0;
  if (alone) {
    runAlone(newWorks, count);
    return 0;
  }

  works = newWorks;
  workCount = count;
  chunks = total;
  grain = (total - 1) / kMaxClaims + 1;
  claims = static_cast<uint32_t>((total - 1) / grain + 1);
  unfinished.store(claims, std::memory_order_relaxed);
  const uint64_t number = (ticket.load(std::memory_order_relaxed) >> 32) + 1;
  ticket.store(number << 32 | claims, std::memory_order_release);
  if (claims > 1) { // a single claim is the leader's own: waking others for it would only cost
    signal.fetch_add(1, std::memory_order_release);
    signal.notify_all();
  }
  work(trace ? &leaders : nullptr);
  awaitFinished();
  return 0;
}

void Phases::runAlone(const tw_abi_work *all, int64_t count) noexcept {
  TraceEvent event;
  if (trace)
    event = phaseEvent(all);
  for (int64_t i = 0; i < count; ++i)
    if (all[i].chunks) {
      all[i].kernel(all[i].args, 0, all[i].chunks);
      event.count += all[i].chunks;
    }
  if (!trace)
    return;
  event.end = TraceEvent::Clock::now();
  leaders.add(event);
}

bool Phases::claim(Claim &taken) noexcept {
  uint64_t now = ticket.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(now) != 0)
    if (ticket.compare_exchange_weak(now, now - 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      // The phase stays as it is while this claim is open.
      taken = {static_cast<uint32_t>(now >> 32), claims - static_cast<uint32_t>(now)};
      return true;
    }
  return false;
}

void Phases::work(ThreadTrace *traced) noexcept {
  Claim taken;
  TraceEvent event;
  uint32_t phase = 0; // of the event; 0: none is open
  while (claim(taken)) {
    if (traced && taken.phase != phase) { // the last claim of one phase may be followed by the first of the next
      if (phase)
        traced->add(event);
      event = phaseEvent(works);
      phase = taken.phase;
    }
    event.count += runClaim(taken.index);
    if (traced)
      event.end = TraceEvent::Clock::now();
    if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1)
      unfinished.notify_one();
  }
  if (phase)
    traced->add(event);
}

int64_t Phases::runClaim(uint32_t index) noexcept {
  int64_t begin = static_cast<int64_t>(index) * grain;
  int64_t end = std::min(chunks, begin + grain);
  const int64_t count = end - begin;
  for (int64_t i = 0; i < workCount && end > 0; ++i) {
    const tw_abi_work &piece = works[i];
    if (begin < piece.chunks)
      piece.kernel(piece.args, begin, std::min(end, piece.chunks));
    begin = std::max<int64_t>(0, begin - piece.chunks);
    end -= piece.chunks;
  }
  return count;
}

void Phases::awaitFinished() noexcept {
  // What is left is being worked on by threads that run; none of it has yet to be started.
  uint32_t left = unfinished.load(std::memory_order_acquire);
  while (left != 0)
    left = awaitChange(unfinished, left);
}

void Phases::help() noexcept {
  ThreadTrace own;
  uint32_t seen = signal.load(std::memory_order_acquire);
  while (!over.load(std::memory_order_acquire)) {
    work(trace ? &own : nullptr);
    seen = awaitChange(signal, seen);
  }
  if (trace)
    trace->take(own);
}

void Phases::stop() noexcept {
  if (trace)
    trace->take(leaders);
  over.store(true, std::memory_order_release);
  signal.fetch_add(1, std::memory_order_release);
  signal.notify_all();
}

} // namespace tilewright
