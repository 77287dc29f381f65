// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The K/V pages of states that are kept alike: one pool per state buffer, all pools paged alike, so that a sequence has
// one page table for all of them. A page holds TW_PAGE_TOKENS tokens; bytes nobody has written are zero.
#pragma once

#include "runtime/cache/MemoryBudget.h"

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace tilewright {

/// What K/V caches hold, as manifests and options spell it.
enum class KvElement { F32, Bf16 };

/// A page of one state buffer. f32: [heads][TW_PAGE_TOKENS][dim], or [heads][dim][TW_PAGE_TOKENS] when transposed.
/// bf16: [heads][TW_PAGE_TOKENS / 2][dim][2], or [heads][ceil(dim / 2)][TW_PAGE_TOKENS][2].
struct StateGeometry {
  uint64_t heads;
  uint64_t dim;
  bool transposed;
  KvElement element;

  uint64_t pageBytes() const;
};

/// Safe to use from several threads.
class PagePool {
public:
  /// Reserves address space, not memory, for as many pages as could ever be used (the budget's limit or this machine's
  /// memory), and at least `minPages`. Throws Error(EXHAUSTED) when even those find no address space.
  PagePool(std::vector<StateGeometry> buffers, uint64_t minPages, MemoryBudget &budget);
  ~PagePool();
  PagePool(const PagePool &) = delete;
  PagePool &operator=(const PagePool &) = delete;

  /// Appends `count` zeroed pages to `table`. Throws Error(EXHAUSTED) and changes nothing when there are not as many.
  void allocate(uint64_t count, std::vector<int32_t> &table);
  /// Takes one owner from each; a page without owners is free. Numbers below 0 are no pages, here and in share().
  void release(std::span<const int32_t> pages) noexcept;
  /// Gives one more owner to each.
  void share(std::span<const int32_t> pages) noexcept;
  /// Whether it has several owners: then it may not be written.
  bool isShared(int32_t page) const;
  /// `to`, fresh from allocate(), gets tokens [0, count) of `from` in every buffer.
  void copyHead(int32_t from, int32_t to, uint64_t count) noexcept;
  /// Zeroes tokens [from, TW_PAGE_TOKENS) of a page in every buffer.
  void clearTail(int32_t page, uint64_t from) noexcept;

  /// Start of each buffer's pool: page p of buffer b lies at p * its page's bytes. Never moves.
  void *const *buffers() const { return pools.data(); }
  /// Bytes of one page in all buffers together.
  uint64_t pageBytes() const { return bytesPerPage; }
  uint64_t pagesInUse() const;
  uint64_t maxPages() const { return most; }

private:
  void reserveAddresses(uint64_t minPages);
  void unmapAll() noexcept;
  void commit(uint64_t pages);

  const std::vector<StateGeometry> geometry;
  MemoryBudget &budget;
  uint64_t bytesPerPage = 0;
  uint64_t most = 0; ///< pages the reserved addresses have room for
  std::vector<void *> pools;

  mutable std::mutex mutex;
  uint64_t committed = 0;       ///< pages that may be read and written
  std::vector<uint32_t> owners; ///< of each page that was ever given out
  uint64_t fresh = 0;           ///< pages from here on are zero and were never given out
  std::vector<int32_t> freed;   ///< heap, smallest first; their bytes are old
};

} // namespace tilewright
