// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cache/MemoryBudget.h"

#include "runtime/api/Error.h"

#include <algorithm>

namespace tilewright {

void MemoryBudget::reserve(uint64_t bytes, const std::string &what) {
  std::lock_guard lock(mutex);
  uint64_t planned;
  const bool overflows = __builtin_add_overflow(inUse, bytes, &planned);
  if (overflows)
    planned = UINT64_MAX;
  if (overflows || (limit && planned > limit))
    throw Error(TW_EXHAUSTED, what + " needs " + std::to_string(bytes) + " bytes: planned in all " +
                                  std::to_string(planned) + ", allowed " + std::to_string(limit));
  inUse = planned;
  most = std::max(most, inUse);
}

void MemoryBudget::release(uint64_t bytes) {
  std::lock_guard lock(mutex);
  inUse -= bytes;
}

uint64_t MemoryBudget::used() const {
  std::lock_guard lock(mutex);
  return inUse;
}

uint64_t MemoryBudget::peak() const {
  std::lock_guard lock(mutex);
  return most;
}

} // namespace tilewright
