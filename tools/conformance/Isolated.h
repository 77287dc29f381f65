// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks run in a child process, so that a crash, an endless loop or a wild read of a plugin is one failed check.
#pragma once

#include "tools/conformance/Findings.h"

#include <functional>
#include <string>
#include <vector>

namespace tilewright::conformance {

/// One check. `run` is called in the child; its finding takes subject and check from here.
struct Job {
  std::string subject;
  std::string check;
  std::function<Finding()> run;
  /// Another check of the subject, before this one: when it failed, this one is absent.
  std::string needs = "";
};

/// In the child: what is being done now, while jobs are prepared ("load") or in a job; a death is told with it, and the
/// budget begins anew.
void announce(const std::string &what);

/// Runs in the child before the jobs: loads the plugin and lists them. The list is the same each time.
using Prepare = std::function<std::vector<Job>()>;

/// Runs all jobs, each within `budget` seconds of processor time, and returns their findings in order. When the child
/// dies in a job, the job has failed, and a new child goes on behind it. A death while preparing is a finding of
/// subject "plugin", check "load".
std::vector<Finding> runIsolated(const Prepare &prepare, double budget);

/// Memory of a kernel's argument between two pages that nobody may touch. Only in the child: a touch ends it, and the
/// check's reason says which argument and which end.
class GuardedBytes {
public:
  enum class Flush { Start, End };
  /// `bytes` of memory for `name`, against the page before (Start) or the one behind (End; aligned to `alignment`, a
  /// power of two; the bytes up to the page are filled with 0xFF, the pattern of a NaN).
  GuardedBytes(std::string name, size_t bytes, Flush flush, size_t alignment);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes &) = delete;
  GuardedBytes &operator=(const GuardedBytes &) = delete;

  uint8_t *data() const { return begin; }
  size_t size() const { return bytes; }
  /// Whether the filling behind and before the bytes is as it was.
  bool isIntact() const;

private:
  uint8_t *mapping, *begin;
  size_t bytes, mappingBytes;
  unsigned slot;
};

} // namespace tilewright::conformance
