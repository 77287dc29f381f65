// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_GRAPH_REQUIREDPLUGINS_H
#define TILEWRIGHT_FRONTEND_GRAPH_REQUIREDPLUGINS_H

#include "frontend/graph/graph_generated.h"

#include <string>
#include <vector>

namespace tilewright {

/// The dialects, sorted, of all ops and element types of `graph` except those that are always there: `tw`, the graph's
/// own words `call` and `weight`, and the scalar `arith` and `math` ops that regions hold. The graph has passed the
/// generated FlatBuffers verifier.
std::vector<std::string> computeRequiredPlugins(const graph::Graph &graph);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_REQUIREDPLUGINS_H
