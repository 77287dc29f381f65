// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pages that one sequence's tokens have in a pool, in order: its page table.
#pragma once

#include "runtime/cache/PagePool.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tilewright {

/// A copy shares its pages until one of the two goes on.
class TokenPages {
public:
  explicit TokenPages(PagePool &pool) : pool(&pool) {}
  TokenPages(const TokenPages &other) : pool(other.pool), pages(other.pages), given(other.given), stale(other.stale) {
    pool->share(pages);
  }
  TokenPages(TokenPages &&other) noexcept = default;
  TokenPages &operator=(TokenPages &&other) noexcept;
  ~TokenPages() { pool->release(pages); }

  /// Page i has tokens [i * TW_PAGE_TOKENS, ...); -1: it was given up.
  std::span<const int32_t> table() const { return pages; }
  /// Tokens in front of this one were given up.
  int64_t firstToken() const;

  /// Room for tokens [length, end), of which those before `length` are there: no page that they go to has other owners.
  /// Throws Error(EXHAUSTED); what the first `length` tokens hold is as before then.
  void grow(int64_t length, int64_t end);
  /// Frees pages and zeroes what lies behind `length` tokens.
  void dropBehind(int64_t length) noexcept;
  /// Gives up the pages whose tokens are all among [begin, end).
  void giveUp(int64_t begin, int64_t end) noexcept;

private:
  PagePool *pool;
  std::vector<int32_t> pages;
  size_t given = 0;   ///< pages given up before the first that is there
  bool stale = false; ///< the last page, shared when tokens were dropped, may hold some of them
};

} // namespace tilewright
