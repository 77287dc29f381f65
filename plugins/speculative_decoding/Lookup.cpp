// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/speculative_decoding/Lookup.h"

#include <algorithm>

namespace tilewright::speculative_decoding {

std::span<const int32_t> lookUp(std::span<const int32_t> history, size_t capacity, size_t longest) {
  const size_t length = history.size();
  size_t best = 0, follows = length;
  for (size_t end = length; end-- > 1 && best < longest;) { // history[end] would be the first token drafted
    size_t same = 0;
    while (same < std::min(longest, end) && history[end - 1 - same] == history[length - 1 - same])
      ++same;
    if (same > best) {
      best = same;
      follows = end;
    }
  }
  return history.subspan(follows, std::min(capacity, length - follows));
}

} // namespace tilewright::speculative_decoding
