// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When which thread did what, for people who look at it in Perfetto or chrome://tracing. A model without a trace pays
// one test of a pointer for each phase.
#pragma once

#include "runtime/api/abi.h"
#include "runtime/exec/Log.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace tilewright {

/// What one thread did from `begin` to `end`: a piece of host work with a name, or chunks of a phase.
struct TraceEvent {
  using Clock = std::chrono::steady_clock;

  const char *name = nullptr;     ///< null: that of `kernel`
  tw_abi_kernel kernel = nullptr; ///< the first of the phase
  const char *unit = nullptr;     ///< what `count` counts; null: nothing
  int64_t count = 0;
  Clock::time_point begin = {}, end = {};
};

/// The events of one thread, while it works.
class ThreadTrace {
public:
  /// What there is no memory for is left out.
  void add(const TraceEvent &event) noexcept;

private:
  friend class Trace;
  std::vector<TraceEvent> events;
};

/// A file in the array form of Chrome's trace event format: complete events, times in microseconds since the trace
/// began. Everything may be called from several threads.
class Trace {
public:
  /// Opens the file. `title` names the process. Throws Error(IO). The log gets what goes wrong later, and outlives
  /// this.
  Trace(const std::string &path, const std::string &title, const Log &log);
  /// Writes what is left. Kernels and names that events refer to are still there.
  ~Trace();
  Trace(const Trace &) = delete;

  /// Takes what the calling thread did.
  void take(ThreadTrace &done) noexcept;

private:
  struct Entry {
    TraceEvent event;
    int thread;
  };
  void write(const Entry &entry);
  void writeAll();
  void flush();
  const std::string &nameOf(tw_abi_kernel kernel);

  const std::string path;
  const Log &log;
  const TraceEvent::Clock::time_point start = TraceEvent::Clock::now();
  std::mutex mutex;
  std::FILE *file;
  int failure = 0;            ///< errno of the first write that failed
  std::vector<Entry> entries; ///< not written yet: writing between phases would show in what is measured
  std::map<tw_abi_kernel, std::string> names;
};

/// One event from here to the end of the block, with what the block's phases are to be nested in. Null: nothing.
class TraceSpan {
public:
  /// `name` and `unit` live as long as the trace.
  explicit TraceSpan(Trace *trace, const char *name, const char *unit = nullptr, int64_t count = 0);
  ~TraceSpan();
  TraceSpan(const TraceSpan &) = delete;

private:
  Trace *const trace;
  TraceEvent event;
};

} // namespace tilewright
