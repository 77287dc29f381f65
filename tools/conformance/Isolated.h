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

} // namespace tilewright::conformance
