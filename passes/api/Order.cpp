// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/api/Order.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/depth_first_search.hpp>

#include <algorithm>

#ifdef BOOST_NO_EXCEPTIONS
#include <cstdlib>
// Boost asks for these when it is compiled without exceptions. Nothing in a depth-first search throws.
namespace boost {
BOOST_NORETURN void throw_exception(const std::exception &) { std::abort(); }
BOOST_NORETURN void throw_exception(const std::exception &, const source_location &) { std::abort(); }
} // namespace boost
#endif

namespace tilewright {

namespace {
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;
using Edge = boost::graph_traits<Graph>::edge_descriptor;

/// What boost::topological_sort does, but it keeps the path, so that a cycle can be named instead of thrown.
struct SortVisitor : boost::dfs_visitor<> {
  explicit SortVisitor(OrderResult &result, std::vector<size_t> &path) : result(result), path(path) {}

  void discover_vertex(Vertex vertex, const Graph &) { path.push_back(vertex); }
  void back_edge(Edge edge, const Graph &graph) {
    if (!result.cycle.empty())
      return;
    auto start = std::find(path.begin(), path.end(), boost::target(edge, graph));
    result.cycle.assign(start, path.end());
  }
  void finish_vertex(Vertex vertex, const Graph &) {
    path.pop_back();
    result.order.push_back(vertex);
  }

  OrderResult &result;
  std::vector<size_t> &path;
};
} // namespace

OrderResult topologicalOrder(size_t count, const std::vector<std::pair<size_t, size_t>> &edges) {
  // A depth-first search finishes a vertex after all it points to. On the reversed graph that is "after all it needs",
  // so finishing order is the wanted one, and starting from low numbers keeps the numeric order.
  std::vector<std::pair<size_t, size_t>> reversed;
  reversed.reserve(edges.size());
  for (auto [before, after] : edges)
    reversed.emplace_back(after, before);
  std::sort(reversed.begin(), reversed.end());
  reversed.erase(std::unique(reversed.begin(), reversed.end()), reversed.end());

  Graph graph(count);
  for (auto [from, to] : reversed)
    boost::add_edge(from, to, graph);

  OrderResult result;
  std::vector<size_t> path;
  boost::depth_first_search(graph, boost::visitor(SortVisitor(result, path)));
  if (!result.cycle.empty()) {
    result.order.clear();
    std::reverse(result.cycle.begin(), result.cycle.end());
  }
  return result;
}

} // namespace tilewright
