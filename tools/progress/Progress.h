// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What long work says on stderr while it goes on: its steps, how far they are, and how long they took.
//
// On a terminal the step that runs has a line of its own, which is drawn anew as parts of it are done:
//   "  packing weights [##########..........]  50 %  0.4 s"
// and which ends as it is written elsewhere, where a step is a line and nothing else:
//   "  packing weights ... 0.8 s"
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tilewright {

class Progress {
public:
  /// Says nothing if `quiet`.
  explicit Progress(bool quiet);
  /// A step that is not over has failed: its line has no time.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Ends the step before and begins one of `total` parts; 0: they are not counted.
  void step(const std::string &what, uint64_t total = 0);
  /// So many parts more are done. May be called by any thread.
  void advance(uint64_t parts = 1);
  /// Ends the last step.
  void done();

  /// To be called before anything else is written to the terminal, or to stderr: it then begins a line of its own, and
  /// the step's line comes again behind it. May be called by any thread, and where there is no progress.
  static void interrupt();

private:
  using Clock = std::chrono::steady_clock;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun).count(); }
  void draw();

  const bool quiet, terminal;
  bool running = false;
  std::string name;
  uint64_t total = 0, parts = 0;
  Clock::time_point begun, drawn;
};

} // namespace tilewright
