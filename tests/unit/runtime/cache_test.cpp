// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cache/ArenaPool.h"
#include "runtime/cache/PagePool.h"

#include "runtime/api/Error.h"
#include "runtime/api/abi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>

using namespace tilewright;

namespace {

// Keys [2][64][3] in f32 and values [2][5][64] in f32.
const std::vector<StateGeometry> kBuffers = {{2, 3, false, KvElement::F32}, {2, 5, true, KvElement::F32}};
constexpr uint64_t kKeyPage = 2 * 64 * 3 * 4, kValuePage = 2 * 5 * 64 * 4;

uint8_t *page(const PagePool &pool, size_t buffer, int32_t number) {
  return static_cast<uint8_t *>(pool.buffers()[buffer]) +
         static_cast<uint64_t>(number) * (buffer ? kValuePage : kKeyPage);
}

bool allZero(const uint8_t *bytes, uint64_t count) {
  return std::all_of(bytes, bytes + count, [](uint8_t b) { return b == 0; });
}

std::string exhausted(const std::function<void()> &body) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), TW_EXHAUSTED);
    return error.message();
  }
  return "no error";
}

} // namespace

TEST(PagePool, GivesZeroedPagesAndReusesTheLowestFirst) {
  MemoryBudget budget(0);
  PagePool pool(kBuffers, 4, budget);
  EXPECT_EQ(pool.pageBytes(), kKeyPage + kValuePage);
  std::vector<int32_t> a, b;
  pool.allocate(40, a); // more than one step of committing
  pool.allocate(2, b);
  EXPECT_EQ(a.front(), 0);
  EXPECT_EQ(a.back(), 39);
  EXPECT_EQ(b, (std::vector<int32_t>{40, 41}));
  EXPECT_EQ(pool.pagesInUse(), 42u);
  EXPECT_EQ(budget.used(), 42 * pool.pageBytes());
  for (int32_t number : a)
    for (size_t buffer : {0, 1}) {
      ASSERT_TRUE(allZero(page(pool, buffer, number), buffer ? kValuePage : kKeyPage));
      std::memset(page(pool, buffer, number), 0xee, buffer ? kValuePage : kKeyPage);
    }
  pool.release(std::vector<int32_t>{7, 3, 30});
  std::vector<int32_t> c;
  pool.allocate(4, c);
  EXPECT_EQ(c, (std::vector<int32_t>{3, 7, 30, 42}));
  for (int32_t number : c)
    for (size_t buffer : {0, 1})
      EXPECT_TRUE(allZero(page(pool, buffer, number), buffer ? kValuePage : kKeyPage));
  EXPECT_EQ(page(pool, 0, 8)[0], 0xee); // the neighbour is untouched
}

TEST(PagePool, StartsAfreshWhenNobodyUsesIt) {
  MemoryBudget budget(0);
  PagePool pool(kBuffers, 4, budget);
  std::vector<int32_t> a;
  pool.allocate(20, a);
  std::memset(page(pool, 0, 5), 1, kKeyPage);
  pool.release(a);
  EXPECT_EQ(pool.pagesInUse(), 0u);
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_EQ(budget.peak(), 20 * pool.pageBytes());
  a.clear();
  pool.allocate(20, a);
  EXPECT_EQ(a[5], 5);
  EXPECT_TRUE(allZero(page(pool, 0, 5), kKeyPage));
}

TEST(PagePool, ClearsTheTailInBothOrders) {
  MemoryBudget budget(0);
  PagePool pool(kBuffers, 1, budget);
  std::vector<int32_t> table;
  pool.allocate(2, table);
  for (int32_t number : table) {
    std::memset(page(pool, 0, number), 0xff, kKeyPage);
    std::memset(page(pool, 1, number), 0xff, kValuePage);
  }
  pool.clearTail(1, 62);
  for (uint64_t head = 0; head < 2; ++head)
    for (uint64_t token = 0; token < 64; ++token) {
      for (uint64_t d = 0; d < 3; ++d)
        EXPECT_EQ(allZero(page(pool, 0, 1) + ((head * 64 + token) * 3 + d) * 4, 4), token >= 62);
      for (uint64_t d = 0; d < 5; ++d)
        EXPECT_EQ(allZero(page(pool, 1, 1) + ((head * 5 + d) * 64 + token) * 4, 4), token >= 62);
    }
  EXPECT_EQ(page(pool, 0, 0)[kKeyPage - 1], 0xff);
  EXPECT_EQ(page(pool, 1, 0)[kValuePage - 1], 0xff);
}

// bf16: pairs along what a product sums over, half the memory, and a tail that begins inside a pair.
TEST(PagePool, ClearsTheTailOfPairs) {
  MemoryBudget budget(0);
  PagePool pool({{2, 3, false, KvElement::Bf16}, {2, 5, true, KvElement::Bf16}}, 1, budget);
  constexpr uint64_t plain = 2 * 64 * 3 * 2, transposed = 2 * 3 * 64 * 2 * 2; // 5 numbers are 3 pairs
  EXPECT_EQ(pool.pageBytes(), plain + transposed);
  for (uint64_t from : {0, 1, 2, 31, 62, 63}) {
    std::vector<int32_t> table;
    pool.allocate(2, table);
    auto *first = static_cast<uint8_t *>(pool.buffers()[0]), *second = static_cast<uint8_t *>(pool.buffers()[1]);
    std::memset(first, 0xff, 2 * plain);
    std::memset(second, 0xff, 2 * transposed);
    pool.clearTail(table[0], from);
    for (uint64_t head = 0; head < 2; ++head)
      for (uint64_t token = 0; token < 64; ++token) {
        for (uint64_t d = 0; d < 3; ++d) // [heads][32][3][2]
          EXPECT_EQ(allZero(first + (((head * 32 + token / 2) * 3 + d) * 2 + token % 2) * 2, 2), token >= from);
        for (uint64_t d = 0; d < 6; ++d) // [heads][3][64][2]
          EXPECT_EQ(allZero(second + (((head * 3 + d / 2) * 64 + token) * 2 + d % 2) * 2, 2), token >= from);
      }
    EXPECT_EQ(first[plain], 0xff);
    EXPECT_EQ(second[transposed], 0xff);
    pool.release(table);
  }
}

TEST(PagePool, RefusesBeyondTheLimitAndChangesNothing) {
  const uint64_t pageBytes = kKeyPage + kValuePage;
  MemoryBudget budget(10 * pageBytes);
  PagePool pool(kBuffers, 4, budget);
  EXPECT_EQ(pool.maxPages(), 10u);
  std::vector<int32_t> table;
  pool.allocate(8, table);
  EXPECT_EQ(exhausted([&] { pool.allocate(3, table); }), "caches: 3 more pages of " + std::to_string(pageBytes) +
                                                             " bytes, planned " + std::to_string(11 * pageBytes) +
                                                             " bytes, allowed " + std::to_string(10 * pageBytes));
  budget.reserve(pageBytes, "something else");
  EXPECT_EQ(exhausted([&] { pool.allocate(2, table); }),
            "caches: 2 more pages needs " + std::to_string(2 * pageBytes) + " bytes: planned in all " +
                std::to_string(11 * pageBytes) + ", allowed " + std::to_string(10 * pageBytes));
  EXPECT_EQ(table.size(), 8u);
  EXPECT_EQ(pool.pagesInUse(), 8u);
  pool.allocate(1, table);
  EXPECT_EQ(table.back(), 8);
}

TEST(PagePool, RefusesPagesBeyondTheAddressSpace) {
  MemoryBudget budget(0);
  EXPECT_EQ(exhausted([&] { PagePool({{1u << 20, 1u << 10, false, KvElement::F32}}, 4096, budget); }),
            "caches: no address space for 4096 pages of 274877906944 bytes");
}

TEST(PagePool, WorksWithoutAnyState) {
  MemoryBudget budget(1);
  PagePool pool({}, 3, budget);
  std::vector<int32_t> table;
  pool.allocate(5, table);
  EXPECT_EQ(table.size(), 5u);
  pool.clearTail(4, 0);
  pool.release(table);
}

TEST(PagePool, ServesThreadsAtOnce) {
  MemoryBudget budget(0);
  PagePool pool(kBuffers, 64, budget);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 200; ++i) {
        std::vector<int32_t> table;
        pool.allocate(3, table);
        for (int32_t number : table) {
          EXPECT_TRUE(allZero(page(pool, 0, number), kKeyPage));
          std::memset(page(pool, 0, number), t + 1, kKeyPage);
        }
        for (int32_t number : table)
          EXPECT_EQ(page(pool, 0, number)[5], t + 1);
        pool.release(table);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(pool.pagesInUse(), 0u);
}

TEST(ArenaPool, KeepsBlocksAndGivesUpSmallOnes) {
  MemoryBudget budget(1 << 20);
  ArenaPool pool(budget);
  uint8_t *first;
  {
    ArenaPool::Lease lease = pool.acquire(5000);
    first = lease.get();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    std::memset(first, 1, 5000);
    EXPECT_EQ(budget.used(), 8192u);
    ArenaPool::Lease second = pool.acquire(100);
    EXPECT_NE(second.get(), first);
    EXPECT_EQ(pool.bytesHeld(), 8192u + 4096u);
  }
  EXPECT_EQ(pool.acquire(8000).get(), first);
  pool.acquire(100000);
  EXPECT_EQ(budget.used(), 102400u) << "the smaller blocks are gone";
  EXPECT_EQ(exhausted([&] { pool.acquire(2 << 20); }),
            "arena needs 2097152 bytes: planned in all 2097152, allowed 1048576");
  EXPECT_NE(exhausted([&] { pool.acquire(UINT64_MAX); }).find("arena of"), std::string::npos);
}
