// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch memory of steps: one block per step that runs, kept for the next one.
#pragma once

#include "runtime/cache/MemoryBudget.h"

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace tilewright {

/// Safe to use from several threads. Outlives its leases.
class ArenaPool {
public:
  explicit ArenaPool(MemoryBudget &budget) : budget(budget) {}
  ~ArenaPool();
  ArenaPool(const ArenaPool &) = delete;
  ArenaPool &operator=(const ArenaPool &) = delete;

  /// A block in use; goes back to the pool with its lease.
  class Lease {
  public:
    Lease(ArenaPool &pool, uint8_t *data, uint64_t size) : pool(&pool), data(data), size(size) {}
    Lease(Lease &&other) noexcept : pool(other.pool), data(std::exchange(other.data, nullptr)), size(other.size) {}
    Lease &operator=(Lease &&) = delete;
    ~Lease();
    uint8_t *get() const { return data; }

  private:
    ArenaPool *pool;
    uint8_t *data;
    uint64_t size;
  };

  /// At least `bytes` bytes, aligned to 64. Blocks that are free and too small are given up first. Throws
  /// Error(EXHAUSTED) beyond the budget or without memory.
  Lease acquire(uint64_t bytes);

  uint64_t bytesHeld() const;

private:
  struct Block {
    uint8_t *data;
    uint64_t size;
  };
  void giveUp(const Block &block) noexcept;

  MemoryBudget &budget;
  mutable std::mutex mutex;
  std::vector<Block> idle;
  uint64_t held = 0;
};

} // namespace tilewright
