// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/position_encoding/SyntaxTree.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace tilewright::position_encoding {

namespace {

/// Edges from each token up to its root.
llvm::Expected<std::vector<int64_t>> depths(llvm::ArrayRef<int64_t> heads) {
  enum { Unknown = -1, OnTheWay = -2 };
  std::vector<int64_t> depth(heads.size(), Unknown);
  for (int64_t t = 0, count = heads.size(); t < count; ++t) {
    llvm::SmallVector<int64_t> way; // from t up to a token whose depth is known
    int64_t at = t;
    while (at != -1 && depth[at] == Unknown) {
      if (heads[at] < -1 || heads[at] >= count)
        return llvm::createStringError(llvm::formatv(
            "token {0} has the head {1}, wanted -1 (root) or a token from 0 to {2}", at, heads[at], count - 1));
      depth[at] = OnTheWay;
      way.push_back(at);
      at = heads[at];
    }
    if (at != -1 && depth[at] == OnTheWay)
      return llvm::createStringError(
          llvm::formatv("token {0} is its own ancestor: its heads lead back to it without a root", at));
    int64_t above = at == -1 ? -1 : depth[at];
    for (int64_t token : llvm::reverse(way))
      depth[token] = ++above;
  }
  return depth;
}

} // namespace

llvm::Expected<std::vector<int32_t>> treeDistances(llvm::ArrayRef<int64_t> heads, int32_t clip) {
  if (clip < 0)
    return llvm::createStringError(llvm::formatv("distances are clipped to {0}, wanted 0 or more", clip));
  llvm::Expected<std::vector<int64_t>> depth = depths(heads);
  if (!depth)
    return depth.takeError();
  int64_t count = heads.size();
  std::vector<int32_t> distances(count * count, clip);
  // A token is as far from another as its head is, and one more, unless the other is below it: the deeper one goes up.
  for (int64_t a = 0; a < count; ++a)
    for (int64_t b = 0; b < count; ++b) {
      int64_t x = a, y = b, steps = 0;
      while (x != y && x != -1 && y != -1 && steps < clip) {
        int64_t &deeper = (*depth)[x] >= (*depth)[y] ? x : y;
        deeper = heads[deeper];
        ++steps;
      }
      if (x == y)
        distances[a * count + b] = std::min<int64_t>(steps, clip);
    }
  return distances;
}

} // namespace tilewright::position_encoding
