// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cache/ArenaPool.h"

#include "runtime/api/Error.h"

#include <algorithm>
#include <sys/mman.h>

namespace tilewright {
namespace {

constexpr uint64_t kSmallPage = 4096;
constexpr uint64_t kHugePage = 2u << 20;

/// What a wanted size takes: whole pages, whole huge pages for blocks that fill some.
uint64_t blockSize(uint64_t bytes) {
  const uint64_t unit = bytes >= 2 * kHugePage ? kHugePage : kSmallPage;
  return (std::max<uint64_t>(bytes, 1) + unit - 1) / unit * unit;
}

} // namespace

ArenaPool::~ArenaPool() {
  for (const Block &block : idle)
    giveUp(block);
}

void ArenaPool::giveUp(const Block &block) noexcept {
  ::munmap(block.data, block.size);
  budget.release(block.size);
  held -= block.size;
}

ArenaPool::Lease ArenaPool::acquire(uint64_t bytes) {
  if (bytes > INT64_MAX / 2)
    throw Error(TW_EXHAUSTED, "arena of " + std::to_string(bytes) + " bytes");
  const uint64_t size = blockSize(bytes);
  std::lock_guard lock(mutex);
  const auto fitting =
      std::find_if(idle.begin(), idle.end(), [size](const Block &block) { return block.size >= size; });
  if (fitting != idle.end()) {
    const Block block = *fitting;
    idle.erase(fitting);
    return Lease(*this, block.data, block.size);
  }
  for (const Block &block : idle)
    giveUp(block);
  idle.clear();
  budget.reserve(size, "arena");
  void *at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    budget.release(size);
    throw Error(TW_EXHAUSTED, "arena: no memory for " + std::to_string(size) + " bytes");
  }
  if (size >= 2 * kHugePage)
    ::madvise(at, size, MADV_HUGEPAGE);
  held += size;
  return Lease(*this, static_cast<uint8_t *>(at), size);
}

ArenaPool::Lease::~Lease() {
  if (!data)
    return;
  std::lock_guard lock(pool->mutex);
  try {
    pool->idle.push_back({data, size});
  } catch (const std::bad_alloc &) {
    pool->giveUp({data, size});
  }
}

uint64_t ArenaPool::bytesHeld() const {
  std::lock_guard lock(mutex);
  return held;
}

} // namespace tilewright
