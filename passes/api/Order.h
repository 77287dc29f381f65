// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Topological order of things that say what they come before and after (passes of a stage, plugins that require
// plugins).
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tilewright {

/// Either an order of all vertices, or one cycle that makes an order impossible.
struct OrderResult {
  std::vector<size_t> order; ///< vertices, each edge's source before its target; empty when there is a cycle
  std::vector<size_t> cycle; ///< vertices of one cycle in edge order, the first not repeated; empty when there is none
};

/// Orders the vertices 0 .. count-1 so that for each edge (a, b) a stands before b. Vertices that no edge forces apart
/// keep their numeric order as far as possible; the result depends on nothing but the arguments.
OrderResult topologicalOrder(size_t count, const std::vector<std::pair<size_t, size_t>> &edges);

} // namespace tilewright
