// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is left of a command that SIGINT, SIGTERM or SIGHUP ends: nothing, and the exit code of
// docs/status-and-exit-codes.md.
#pragma once

#include <string>
#include <utility>

namespace tilewright::driver {

/// A folder without subfolders that goes when this process is interrupted while the object lives; not when one that was
/// forked from it is.
class RemovedOnInterrupt {
public:
  explicit RemovedOnInterrupt(const std::string &folder);
  RemovedOnInterrupt(RemovedOnInterrupt &&other) noexcept : place(std::exchange(other.place, -1)) {}
  RemovedOnInterrupt &operator=(RemovedOnInterrupt &&) = delete;
  ~RemovedOnInterrupt();

private:
  int place; ///< where the signal handler finds it; negative: nowhere
};

} // namespace tilewright::driver
