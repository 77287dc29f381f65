// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory limit of a model's caches and arenas.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace tilewright {

class MemoryBudget {
public:
  explicit MemoryBudget(uint64_t limit) : limit(limit) {} ///< bytes; 0: none

  /// Throws Error(EXHAUSTED) with the planned and the allowed bytes when `bytes` more are beyond the limit; nothing is
  /// reserved then. `what` begins the message.
  void reserve(uint64_t bytes, const std::string &what);
  void release(uint64_t bytes);

  uint64_t allowed() const { return limit; }
  uint64_t used() const;
  uint64_t peak() const;

private:
  const uint64_t limit;
  mutable std::mutex mutex;
  uint64_t inUse = 0;
  uint64_t most = 0;
};

} // namespace tilewright
