// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/bufferize/InterferencePlan.h"

#include <boost/graph/adjacency_list.hpp>

#include <algorithm>
#include <numeric>

namespace tilewright {

using InterferenceGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

static InterferenceGraph buildGraph(const std::vector<LiveBuffer> &buffers) {
  InterferenceGraph graph(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = i + 1; j < buffers.size(); ++j)
      if (buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last)
        boost::add_edge(i, j, graph);
  return graph;
}

static uint64_t largestLiveSum(const std::vector<LiveBuffer> &buffers) {
  uint64_t best = 0;
  // The live sum only rises where a buffer begins.
  for (const LiveBuffer &at : buffers) {
    uint64_t sum = 0;
    for (const LiveBuffer &b : buffers)
      if (b.first <= at.first && at.first <= b.last)
        sum += b.size;
    best = std::max(best, sum);
  }
  return best;
}

InterferencePlan planByInterference(const std::vector<LiveBuffer> &buffers) {
  InterferencePlan plan;
  plan.offsets.assign(buffers.size(), 0);
  plan.lowerBound = largestLiveSum(buffers);
  InterferenceGraph graph = buildGraph(buffers);

  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].size != buffers[b].size ? buffers[a].size > buffers[b].size : a < b;
  });

  std::vector<bool> placed(buffers.size(), false);
  std::vector<std::pair<uint64_t, uint64_t>> taken; // [begin, end) of placed neighbours
  for (size_t index : order) {
    taken.clear();
    auto [it, end] = boost::adjacent_vertices(index, graph);
    for (; it != end; ++it)
      if (placed[*it])
        taken.emplace_back(plan.offsets[*it], plan.offsets[*it] + buffers[*it].size);
    std::sort(taken.begin(), taken.end());

    uint64_t size = buffers[index].size;
    uint64_t bestOffset = 0, bestGap = UINT64_MAX, cursor = 0;
    for (auto [from, to] : taken) {
      if (from > cursor && from - cursor >= size && from - cursor < bestGap) {
        bestGap = from - cursor;
        bestOffset = cursor;
      }
      cursor = std::max(cursor, to);
    }
    plan.offsets[index] = bestGap == UINT64_MAX ? cursor : bestOffset;
    placed[index] = true;
    plan.size = std::max(plan.size, plan.offsets[index] + size);
    plan.withoutReuse += size;
  }
  return plan;
}

} // namespace tilewright
