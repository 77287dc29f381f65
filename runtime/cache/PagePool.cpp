// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cache/PagePool.h"

#include "runtime/api/Error.h"
#include "runtime/api/abi.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <sys/mman.h>
#include <unistd.h>

namespace tilewright {
namespace {

constexpr uint64_t kMaxPageNumber = INT32_MAX;
constexpr uint64_t kPagesWithoutState = 1u << 24;

uint64_t roundUp(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

uint64_t machineMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t systemPage() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

} // namespace

uint64_t StateGeometry::pageBytes() const {
  if (element == KvElement::F32)
    return heads * dim * TW_PAGE_TOKENS * 4;
  return heads * (transposed ? roundUp(dim, 2) : dim) * TW_PAGE_TOKENS * 2;
}

PagePool::PagePool(std::vector<StateGeometry> buffers, uint64_t minPages, MemoryBudget &budget)
    : geometry(std::move(buffers)), budget(budget) {
  for (const StateGeometry &buffer : geometry)
    bytesPerPage += buffer.pageBytes();
  minPages = std::max<uint64_t>(1, minPages);
  const uint64_t memory = budget.allowed() ? budget.allowed() : machineMemory();
  most = bytesPerPage ? std::max(minPages, memory / bytesPerPage) : std::max(minPages, kPagesWithoutState);
  most = std::min(most, kMaxPageNumber);
  reserveAddresses(minPages);
}

void PagePool::reserveAddresses(uint64_t minPages) {
  for (;;) {
    for (const StateGeometry &buffer : geometry) {
      void *at = ::mmap(nullptr, roundUp(most * buffer.pageBytes(), systemPage()), PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED)
        break;
      pools.push_back(at);
    }
    if (pools.size() == geometry.size())
      return;
    unmapAll();
    if (most <= minPages)
      throw Error(TW_EXHAUSTED, "caches: no address space for " + std::to_string(most) + " pages of " +
                                    std::to_string(bytesPerPage) + " bytes");
    most = std::max(minPages, most / 2); // a limit on address space is in force
  }
}

void PagePool::unmapAll() noexcept {
  for (size_t i = 0; i < pools.size(); ++i)
    ::munmap(pools[i], roundUp(most * geometry[i].pageBytes(), systemPage()));
  pools.clear();
}

PagePool::~PagePool() { unmapAll(); }

void PagePool::commit(uint64_t pages) {
  constexpr uint64_t kStep = 16; // fewer system calls
  const uint64_t wanted = std::min(most, roundUp(pages, kStep));
  for (size_t i = 0; i < pools.size(); ++i) {
    const uint64_t begin = committed * geometry[i].pageBytes() / systemPage() * systemPage();
    const uint64_t end = roundUp(wanted * geometry[i].pageBytes(), systemPage());
    if (::mprotect(static_cast<uint8_t *>(pools[i]) + begin, end - begin, PROT_READ | PROT_WRITE) != 0)
      throw Error(TW_EXHAUSTED, "caches: the system refused memory for " + std::to_string(wanted) + " pages of " +
                                    std::to_string(bytesPerPage) + " bytes: " + std::strerror(errno));
  }
  committed = wanted;
}

void PagePool::allocate(uint64_t count, std::vector<int32_t> &table) {
  if (count == 0)
    return;
  table.reserve(table.size() + count);
  const size_t before = table.size();
  {
    std::lock_guard lock(mutex);
    const uint64_t available = freed.size() + (most - fresh);
    if (count > available)
      throw Error(TW_EXHAUSTED, "caches: " + std::to_string(count) + " more pages of " + std::to_string(bytesPerPage) +
                                    " bytes, planned " + std::to_string((most - available + count) * bytesPerPage) +
                                    " bytes, allowed " + std::to_string(most * bytesPerPage));
    const uint64_t reused = std::min<uint64_t>(count, freed.size());
    budget.reserve(count * bytesPerPage, "caches: " + std::to_string(count) + " more pages");
    if (fresh + count - reused > committed) {
      try {
        commit(fresh + count - reused);
      } catch (...) {
        budget.release(count * bytesPerPage);
        throw;
      }
    }
    try {
      owners.resize(fresh + count - reused, 0);
    } catch (...) {
      budget.release(count * bytesPerPage);
      throw;
    }
    for (uint64_t i = 0; i < reused; ++i) {
      std::pop_heap(freed.begin(), freed.end(), std::greater<>());
      table.push_back(freed.back());
      freed.pop_back();
    }
    for (uint64_t i = reused; i < count; ++i)
      table.push_back(static_cast<int32_t>(fresh++));
    freed.reserve(fresh); // so that release() cannot fail
    for (size_t i = before; i < table.size(); ++i)
      owners[static_cast<size_t>(table[i])] = 1;
  }
  // Fresh pages are zero already, but not there: kernels load keys past a sequence's end under a mask, and a masked
  // load that meets memory without a page costs hundreds of cycles each time (a third of decode on Zen 4).
  for (size_t i = before; i < table.size(); ++i)
    clearTail(table[i], 0);
}

void PagePool::release(std::span<const int32_t> pages) noexcept {
  if (pages.empty())
    return;
  std::lock_guard lock(mutex);
  uint64_t given = 0;
  for (int32_t page : pages) {
    if (page < 0 || --owners[static_cast<size_t>(page)] > 0)
      continue;
    freed.push_back(page);
    std::push_heap(freed.begin(), freed.end(), std::greater<>());
    ++given;
  }
  budget.release(given * bytesPerPage);
  if (freed.size() == fresh) { // nobody uses a page: give the memory back, which zeroes it as well
    for (size_t i = 0; i < pools.size(); ++i)
      ::madvise(pools[i], roundUp(fresh * geometry[i].pageBytes(), systemPage()), MADV_DONTNEED);
    freed.clear();
    fresh = 0;
  }
}

void PagePool::share(std::span<const int32_t> pages) noexcept {
  std::lock_guard lock(mutex);
  for (int32_t page : pages)
    if (page >= 0)
      ++owners[static_cast<size_t>(page)];
}

bool PagePool::isShared(int32_t page) const {
  std::lock_guard lock(mutex);
  return owners[static_cast<size_t>(page)] > 1;
}

void PagePool::copyHead(int32_t from, int32_t to, uint64_t count) noexcept {
  for (size_t i = 0; i < pools.size(); ++i) {
    const uint64_t bytes = geometry[i].pageBytes();
    auto *pool = static_cast<uint8_t *>(pools[i]);
    std::memcpy(pool + static_cast<uint64_t>(to) * bytes, pool + static_cast<uint64_t>(from) * bytes, bytes);
  }
  clearTail(to, count);
}

void PagePool::clearTail(int32_t page, uint64_t from) noexcept {
  for (size_t i = 0; i < pools.size(); ++i) {
    const StateGeometry &g = geometry[i];
    uint8_t *at = static_cast<uint8_t *>(pools[i]) + static_cast<uint64_t>(page) * g.pageBytes();
    // Rows of tokens inside the page, and bytes of one token in a row. A pair of numbers is four bytes either way.
    const bool paired = g.element == KvElement::Bf16;
    const uint64_t rows = !g.transposed ? g.heads : g.heads * (paired ? (g.dim + 1) / 2 : g.dim);
    const uint64_t tokenBytes = g.transposed ? 4 : g.dim * (paired ? 2 : 4);
    // Where the two tokens of a pair alternate, an odd one shares its pair with the token before it.
    const uint64_t whole = paired && !g.transposed ? roundUp(from, 2) : from;
    for (uint64_t row = 0; row < rows; ++row) {
      std::memset(at + (row * TW_PAGE_TOKENS + whole) * tokenBytes, 0, (TW_PAGE_TOKENS - whole) * tokenBytes);
      for (uint64_t d = 0; whole != from && d < g.dim; ++d)
        std::memset(at + (row * TW_PAGE_TOKENS + from - 1) * tokenBytes + 4 * d + 2, 0, 2);
    }
  }
}

uint64_t PagePool::pagesInUse() const {
  std::lock_guard lock(mutex);
  return fresh - freed.size();
}

} // namespace tilewright
