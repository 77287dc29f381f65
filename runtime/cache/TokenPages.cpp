// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cache/TokenPages.h"

#include "runtime/api/abi.h"

#include <algorithm>
#include <utility>

namespace tilewright {

TokenPages &TokenPages::operator=(TokenPages &&other) noexcept {
  std::swap(pool, other.pool);
  std::swap(pages, other.pages);
  std::swap(given, other.given);
  std::swap(stale, other.stale);
  return *this;
}

int64_t TokenPages::firstToken() const { return static_cast<int64_t>(given) * TW_PAGE_TOKENS; }

void TokenPages::grow(int64_t length, int64_t end) {
  if (const auto partial = static_cast<uint64_t>(length % TW_PAGE_TOKENS)) { // whole pages are not written
    int32_t &last = pages[static_cast<size_t>(length / TW_PAGE_TOKENS)];
    if (pool->isShared(last)) {
      std::vector<int32_t> copy;
      pool->allocate(1, copy);
      pool->copyHead(last, copy[0], partial);
      std::swap(last, copy[0]);
      pool->release(copy);
    } else if (stale) {
      pool->clearTail(last, partial);
    }
  }
  stale = false;
  const auto wanted = static_cast<size_t>((end + TW_PAGE_TOKENS - 1) / TW_PAGE_TOKENS);
  if (wanted > pages.size())
    pool->allocate(wanted - pages.size(), pages);
}

void TokenPages::dropBehind(int64_t length) noexcept {
  const auto kept = static_cast<size_t>((length + TW_PAGE_TOKENS - 1) / TW_PAGE_TOKENS);
  if (kept < pages.size()) {
    pool->release(std::span(pages).subspan(kept));
    pages.resize(kept);
    given = std::min(given, kept);
  }
  if (length % TW_PAGE_TOKENS == 0 || pages.empty()) // of a whole sequence nothing is kept
    return;
  if (pool->isShared(pages[kept - 1]))
    stale = true;
  else
    pool->clearTail(pages[kept - 1], static_cast<uint64_t>(length % TW_PAGE_TOKENS));
}

void TokenPages::giveUp(int64_t begin, int64_t end) noexcept {
  const int64_t first = std::max<int64_t>((begin + TW_PAGE_TOKENS - 1) / TW_PAGE_TOKENS, static_cast<int64_t>(given));
  const int64_t last = std::min<int64_t>(end / TW_PAGE_TOKENS, static_cast<int64_t>(pages.size()));
  if (first >= last)
    return;
  const auto dropped = std::span(pages).subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
  pool->release(dropped);
  std::fill(dropped.begin(), dropped.end(), -1);
  while (given < pages.size() && pages[given] < 0)
    ++given;
}

} // namespace tilewright
